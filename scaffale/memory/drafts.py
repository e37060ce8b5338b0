"""What was said for an entry, checked and normalised before anything is written: limits, secrets, what nobody sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, LimitExceeded, SecretDetected
from scaffale.memory.room import one_of, slugs
from scaffale.model import CONCEPT, SOURCE_TYPES, EntryDraft
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.indexer.projects import Resolved
    from scaffale.model import Entry
    from scaffale.settings import Settings


def checked(resolved: Resolved, said: dict[str, Any], *, reviewed: bool = False) -> tuple[EntryDraft, list[str]]:
    """The entry that the arguments of `add_entry` describe, and warnings. Raises what is wrong with them.

    A concept is taken only where a person's review is about to write it (`reviewed`), or asks whether it could.
    """
    scope = said["scope"] if said["scope"] is not None else resolved.keys.scope_default
    if scope is None or not slug(scope):
        raise InvalidParam("scope: give one, or set MEMORY_SCOPE_DEFAULT in the .env of the project")
    if said["source_type"] == CONCEPT and not reviewed:
        raise InvalidParam(f"source_type: {CONCEPT} is written only by the review of a session's concepts")
    one_of("source_type", said["source_type"], (*SOURCE_TYPES, CONCEPT) if reviewed else SOURCE_TYPES)
    values, warnings = _values(resolved, {**said, "scope": scope})
    source_path = values["source_path"]
    if source_path is not None:
        from scaffale.indexer import paths

        source_path = paths.resolve_inside(
            source_path, resolved.roots, kind="source_path", base=resolved.folder,
            stores=(resolved.settings.memory_db_path, resolved.settings.docs_db_path),
        )  # fmt: skip
    settings = resolved.settings
    draft = EntryDraft(
        scope=values["scope"],
        topic=values["topic"],
        content=values["content"],
        source_type=said["source_type"],
        title=values["title"],
        summary=values["summary"],
        source_ref=text("source_ref", values["source_ref"], settings.max_source_ref_chars),
        source_path=source_path,
        source_uri=text("source_uri", values["source_uri"], settings.max_source_uri_chars),
        tags=values["tags"],
        importance=said["importance"],
        confidence=said["confidence"],
    )
    return draft, warnings


def changed(resolved: Resolved, said: dict[str, Any], entry: Entry) -> tuple[dict[str, Any], list[str]]:
    """The fields of the entry that get another value, with that value, and warnings. An empty title or summary removes it."""
    given = {name: value for name, value in said.items() if value is not None and name in _CHANGEABLE}
    values, warnings = _values(resolved, {**given, "secrets": said.get("secrets")})
    if "tags" in values:
        values["tags"] = tuple(sorted(values["tags"]))  # as an entry names them
    return {name: values[name] for name in given if values[name] != getattr(entry, name)}, warnings


_CHANGEABLE = ("title", "content", "summary", "scope", "topic", "tags", "importance", "confidence")


def _values(resolved: Resolved, said: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What was said of an entry as it is kept: checked, normalised, within the limits of the project. No field has to be
    there; one that is there is not `None` unless it may be absent."""
    settings = resolved.settings
    for name in ("scope", "topic"):
        if name in said and not slug(said[name]):
            raise InvalidParam(f"{name}: must not be empty")
    if "content" in said and not said["content"].strip():
        raise InvalidParam("content: must not be empty")
    if "importance" in said and not 1 <= said["importance"] <= 5:
        raise InvalidParam("importance: must be between 1 (low) and 5 (critical)")
    if said.get("confidence") is not None and not 0.0 <= said["confidence"] <= 1.0:
        raise InvalidParam("confidence: must be between 0.0 and 1.0")
    if "content" in said and len(said["content"].encode()) > settings.max_entry_bytes:
        raise LimitExceeded(f"content: longer than {settings.max_entry_bytes} bytes (MEMORY_MAX_ENTRY_BYTES)")
    values, warnings = without_secrets(said, settings)
    warnings += unseen(values)
    values = dict(values)
    for name, most in (("scope", settings.max_scope_chars), ("topic", settings.max_topic_chars)):
        if name in values:
            values[name] = limited(name, slug(values[name]), most)
    for name, most in (("title", settings.max_title_chars), ("summary", settings.max_summary_chars)):
        if name in values:
            values[name] = text(name, values[name], most)
    if "tags" in values:
        values["tags"] = tags_of(values["tags"], resolved)
    return values, warnings


def tags_of(said: Sequence[str], resolved: Resolved) -> tuple[str, ...]:
    """The tags, normalised, within the limits and among those that the project allows."""
    tags = slugs(said)
    if len(tags) > resolved.settings.max_tags:
        raise LimitExceeded(f"tags: more than {resolved.settings.max_tags} (MEMORY_MAX_TAGS)")
    for tag in tags:
        limited("tags", tag, resolved.settings.max_tag_chars)
    allowed = resolved.keys.allowed_tags
    if allowed is not None:
        unknown = [tag for tag in tags if tag not in slugs(allowed)]
        if unknown:
            raise InvalidParam(
                f"tags: {', '.join(unknown)} not among MEMORY_ALLOWED_TAGS of this project ({', '.join(allowed)})"
            )
    return tags


def without_secrets(said: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What was said, with certain secrets masked where the caller wants that, and warnings about probable ones.
    `SecretDetected` for a certain one otherwise."""
    from scaffale import secrets

    redact = said.get("secrets") is not None and one_of("secrets", said["secrets"], ("redact",)) == "redact"
    given = {field: value for field, value in said.items() if value and isinstance(value, str | list | tuple)}
    texts = {field: [value] if isinstance(value, str) else value for field, value in given.items()}
    if not secrets.find("\n\n".join(text for each in texts.values() for text in each)):  # one look: nearly always none
        return said, []
    warnings: dict[str, None] = {}
    clean = dict(said)
    for field, value in given.items():
        for text in texts[field]:
            for found in secrets.find(text):
                if found.tier == 1 and not redact and found.kind not in settings.allowed_secrets:
                    again = ", or send it again with secrets=\"redact\"" if "secrets" in said else ""
                    raise SecretDetected(
                        f"{field}: looks like a secret ({found.kind}) at characters {found.start}–{found.end}; nothing was"
                        f" written. Remove it{again}."
                    )
                if found.tier > 1:
                    warnings[f"{field}: may hold a secret ({found.kind}) at characters {found.start}–{found.end}"] = None
        if redact:
            clean[field] = secrets.mask(value) if isinstance(value, str) else [secrets.mask(text) for text in value]
    return clean, list(warnings)


def unseen(said: dict[str, Any]) -> list[str]:
    """A warning for each text with characters that no person sees: control characters, zero width, direction marks, tags.
    They are kept as given, and shown as escapes."""
    import re

    warnings = []
    for field in ("title", "content", "summary"):
        text = said.get(field)
        found = re.search(_UNSEEN, text) if text else None
        if found:
            what = f"U+{ord(found[0]):04X} at character {found.start()}"
            warnings.append(f"{field}: holds characters that nobody sees ({what} is the first); kept as given")
    return warnings


_UNSEEN = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "\U000e0000-\U000e01ef]"
)


def text(name: str, text: str | None, limit: int) -> str | None:
    """The text of an optional field; a blank one is none. `LimitExceeded` when it is longer than that many characters."""
    return None if text is None or not text.strip() else limited(name, text, limit)


def limited(name: str, text: str | None, limit: int) -> str:
    """The text of a field, empty when there is none; `LimitExceeded` as for `text`."""
    if text is not None and len(text) > limit:
        raise LimitExceeded(f"{name}: longer than {limit} characters")
    return text or ""
