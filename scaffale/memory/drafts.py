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
    from scaffale.settings import Settings


def checked(resolved: Resolved, said: dict[str, Any]) -> tuple[EntryDraft, list[str]]:
    """The entry that the arguments of `add_entry` describe, and warnings. Raises what is wrong with them."""
    settings, keys = resolved.settings, resolved.keys
    scope = said["scope"] if said["scope"] is not None else keys.scope_default
    if scope is None or not slug(scope):
        raise InvalidParam("scope: give one, or set MEMORY_SCOPE_DEFAULT in the .env of the project")
    if not slug(said["topic"]):
        raise InvalidParam("topic: must not be empty")
    if not said["content"].strip():
        raise InvalidParam("content: must not be empty")
    if said["source_type"] == CONCEPT:
        raise InvalidParam(f"source_type: {CONCEPT} is written only by the review of a session's concepts")
    one_of("source_type", said["source_type"], SOURCE_TYPES)
    if not 1 <= said["importance"] <= 5:
        raise InvalidParam("importance: must be between 1 (low) and 5 (critical)")
    if said["confidence"] is not None and not 0.0 <= said["confidence"] <= 1.0:
        raise InvalidParam("confidence: must be between 0.0 and 1.0")
    if len(said["content"].encode()) > settings.max_entry_bytes:
        raise LimitExceeded(f"content: longer than {settings.max_entry_bytes} bytes (MEMORY_MAX_ENTRY_BYTES)")
    said, warnings = without_secrets(said, settings)
    warnings += unseen(said)
    source_path = said["source_path"]
    if source_path is not None:
        from scaffale.indexer import paths

        source_path = paths.resolve_inside(
            source_path, resolved.roots, kind="source_path", base=resolved.folder,
            stores=(settings.memory_db_path, settings.docs_db_path),
        )  # fmt: skip
    draft = EntryDraft(
        scope=limited("scope", slug(scope), settings.max_scope_chars),
        topic=limited("topic", slug(said["topic"]), settings.max_topic_chars),
        content=said["content"],
        source_type=said["source_type"],
        title=text("title", said["title"], settings.max_title_chars),
        summary=text("summary", said["summary"], settings.max_summary_chars),
        source_ref=text("source_ref", said["source_ref"], settings.max_source_ref_chars),
        source_path=source_path,
        source_uri=text("source_uri", said["source_uri"], settings.max_source_uri_chars),
        tags=tags_of(said["tags"], resolved),
        importance=said["importance"],
        confidence=said["confidence"],
    )
    return draft, warnings


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


_SEARCHED_FOR_SECRETS = (
    "content", "title", "summary", "topic", "scope", "source_ref", "source_path", "source_uri", "reason", "tags",
)  # fmt: skip


def without_secrets(said: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What was said, with certain secrets masked where the caller wants that, and warnings about probable ones.
    `SecretDetected` for a certain one otherwise."""
    from scaffale import secrets

    redact = said.get("secrets") is not None and one_of("secrets", said["secrets"], ("redact",)) == "redact"
    given = {field: said[field] for field in _SEARCHED_FOR_SECRETS if said.get(field)}
    texts = {field: value if isinstance(value, list) else [value] for field, value in given.items()}
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
            clean[field] = [secrets.mask(text) for text in value] if isinstance(value, list) else secrets.mask(value)
    return clean, list(warnings)


def unseen(said: dict[str, Any]) -> list[str]:
    """A warning for each text with characters that no person sees: zero width, direction marks, tags."""
    warnings = []
    for field in ("title", "content", "summary"):
        text = said[field]
        if text and not text.isascii():
            import re

            found = re.search("[\u180e\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e01ef]", text)
            if found:
                what = f"U+{ord(found[0]):04X} at character {found.start()}"
                warnings.append(f"{field}: holds characters that nobody sees ({what} is the first); kept as given")
    return warnings


def text(name: str, text: str | None, limit: int) -> str | None:
    """The text of an optional field; a blank one is none. `LimitExceeded` when it is longer than that many characters."""
    return None if text is None or not text.strip() else limited(name, text, limit)


def limited(name: str, text: str | None, limit: int) -> str:
    """The text of a field, empty when there is none; `LimitExceeded` as for `text`."""
    if text is not None and len(text) > limit:
        raise LimitExceeded(f"{name}: longer than {limit} characters")
    return text or ""
