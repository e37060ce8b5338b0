"""A project's memory as a file: JSON, or a ZIP of JSON members. Pure: bytes in, values out; it knows no store.

Reading trusts nothing. A file that is damaged, too large, of another format or version, or made to harm (members that
are there twice, that lead elsewhere, that unpack to far more than they are) is refused whole, with `InvalidParam` or
`LimitExceeded`, before anything of it is used. Refusals say where, and never repeat a value.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam, LimitExceeded
from scaffale.indexer.portable import MAX_BYTES, Table, encode, lines, value
from scaffale.model import CONCEPT, RELATIONS, SOURCE_TYPES, STATUSES, TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scaffale.settings import Settings

FORMAT, VERSION = "memory-node.project-export", 1
MEMBERS = ("manifest.json", "entries.json", "tags.json", "links.json", "audit-summary.json")
NEEDED = MEMBERS[:4]
MAX_RATIO = 200  # of what a member unpacks to and what it is; JSON of any kind stays far below
_DATE = (1980, 1, 1, 0, 0, 0)  # of members: the same content makes the same bytes


class Incoming(NamedTuple):
    """An entry of a file, as the store takes it."""

    id: str
    scope: str
    topic: str
    title: str | None
    content: str
    summary: str | None
    source_type: str
    source_ref: str | None
    source_path: str | None
    source_uri: str | None
    content_sha256: str
    status: str
    confidence: float | None
    importance: int
    created_by: str | None
    created_at: str
    updated_at: str
    invalidated_at: str | None
    invalidation_reason: str | None
    tags: tuple[str, ...]
    display_id: str | None  # of a concept, as is the next: what it was clarified for, as JSON
    metadata: str | None


class IncomingLink(NamedTuple):
    """A link of a file, as the store takes it. Its ends that are entries are entries of the file."""

    id: str
    source_entry_id: str
    target_entry_id: str | None
    target_uri: str | None
    target_type: str
    relation: str
    label: str | None
    confidence: float | None
    origin: str
    rationale: str | None
    section: str | None
    section_sha256: str | None
    created_at: str
    updated_at: str


class Archive(NamedTuple):
    """What a file holds, checked. `tags` says of each tag what is known of it: description and time of making."""

    project_id: str
    display_name: str | None
    entries: list[Incoming]
    tags: dict[str, tuple[str | None, str]]
    links: list[IncomingLink]


# --- writing -----------------------------------------------------------------------------------------------------------


def as_zip(
    head: Mapping[str, Any], parts: Mapping[str, Iterable[Mapping[str, Any]]], audit: Mapping[str, Any]
) -> bytes:
    """The file: a manifest with the checksums of the others, and a member for each part."""
    from io import BytesIO
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    members = {f"{name}.json": b"".join(lines(items)) for name, items in parts.items()}
    members["audit-summary.json"] = (encode(audit) + "\n").encode()
    sums = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in members.items()}
    members = {"manifest.json": (json.dumps({**head, "members": sums}, ensure_ascii=False, indent=1) + "\n").encode(), **members}
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name in MEMBERS:
            info = ZipInfo(name, _DATE)
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            archive.writestr(info, members[name])
    return out.getvalue()


# --- reading -----------------------------------------------------------------------------------------------------------


def read(data: bytes, settings: Settings) -> Archive:
    """What the file holds. Raises for anything that is wrong with it."""
    whole = _unzipped(data) if data[:2] == b"PK" else value(data, "the file")
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise InvalidParam(f"import_path: the file is no export of a project's memory (format {FORMAT})")
    if whole.get("version") != VERSION or type(whole["version"]) is not int:
        raise InvalidParam(f"import_path: the file has another version than {VERSION}, which this program reads")
    project = Table("project", [whole.get("project")])
    (project_id,) = project.texts("id", settings.max_project_id_chars, needed=True)
    (name,) = project.texts("display_name", 1000)
    entries = _entries(Table("entries", whole.get("entries")), settings)
    links = _links(Table("links", whole.get("links")), settings, {entry.id for entry in entries})
    return Archive(str(project_id), name, entries, _tags(Table("tags", whole.get("tags")), settings), links)


def _entries(table: Table, s: Settings) -> list[Incoming]:
    contents = table.texts("content", s.max_entry_bytes, needed=True)
    data = [content.encode() for content in contents]
    table.refuse_longer("content", data, s.max_entry_bytes, "bytes")
    digests = [hashlib.sha256(each).hexdigest() for each in data]
    said = table.column("content_sha256")
    if said != digests:
        wrong = [each not in (None, digest) for each, digest in zip(said, digests, strict=True)]
        table.refuse("content_sha256", wrong, "is not that of the content")
    columns = {
        "id": table.ids("id"),
        "scope": table.names("scope", s.max_scope_chars),
        "topic": table.names("topic", s.max_topic_chars),
        "title": table.texts("title", s.max_title_chars),
        "content": contents,
        "summary": table.texts("summary", s.max_summary_chars),
        "source_type": table.words("source_type", (*SOURCE_TYPES, CONCEPT)),
        "source_ref": table.texts("source_ref", s.max_source_ref_chars),
        "source_path": table.texts("source_path", 4096),
        "source_uri": table.texts("source_uri", s.max_source_uri_chars),
        "content_sha256": digests,
        "status": table.words("status", STATUSES, "active"),
        "confidence": [None if value is None else float(value) for value in table.numbers("confidence", 0.0, 1.0)],
        "importance": [3 if value is None else int(value) for value in table.numbers("importance", 1, 5, whole=True)],
        "created_by": table.texts("created_by", 1000),
        "created_at": table.times("created_at"),
        "updated_at": table.times("updated_at"),
        "invalidated_at": table.times("invalidated_at", needed=False),
        "invalidation_reason": table.texts("invalidation_reason", max(1000, s.max_summary_chars)),
        "tags": table.name_lists("tags", s.max_tags, s.max_tag_chars),
        "display_id": table.texts("display_id", 20),
        "metadata": _metadata(table, 3 * s.max_entry_bytes),
    }
    table.refuse_twice("id", columns["id"])
    return [Incoming._make(row) for row in zip(*(columns[name] for name in Incoming._fields), strict=True)]


def _metadata(table: Table, most: int) -> list[str | None]:
    """What concepts were clarified for, as JSON; `None` of all other entries."""
    from scaffale.memory import concepts

    found: list[str | None] = []
    for kind, said in zip(table.column("source_type"), table.column("metadata"), strict=True):
        text = None
        if kind == CONCEPT and said is not None:
            try:
                text = encode(concepts.metadata_of(concepts.sources_from(said)))
                text.encode()
            except (InvalidParam, ValueError):
                table.refuse("metadata", [False] * len(found) + [True], "is not what concepts are clarified for")
        found.append(text)
    table.refuse_longer("metadata", [text or "" for text in found], most)
    return found


def _tags(table: Table, s: Settings) -> dict[str, tuple[str | None, str]]:
    names = table.names("name", s.max_tag_chars)
    table.refuse_twice("name", names)
    return dict(zip(names, zip(table.texts("description", 1000), table.times("created_at"), strict=True), strict=True))


def _links(table: Table, s: Settings, entry_ids: set[str]) -> list[IncomingLink]:
    sources, targets = table.texts("source_entry_id", 200, needed=True), table.texts("target_entry_id", 200)
    uris = table.texts("target_uri", s.max_source_uri_chars)
    for name, ends in (("source_entry_id", sources), ("target_entry_id", targets)):
        table.refuse(name, [end is not None and end not in entry_ids for end in ends], "is no entry of the file")
    table.refuse(
        "target", [(end is None) == (uri is None) for end, uri in zip(targets, uris, strict=True)], "is missing, or two"
    )
    made = table.times("created_at")
    changed = [later or at for later, at in zip(table.times("updated_at", needed=False), made, strict=True)]
    sections = table.column("section")
    table.refuse("section", [
        value is not None and (type(value) is not list or not all(type(each) is str for each in value)) for value in sections
    ], "is no list of headings")  # fmt: skip
    columns = {
        "id": table.ids("id"),
        "source_entry_id": sources,
        "target_entry_id": targets,
        "target_uri": uris,
        "target_type": table.words("target_type", TARGETS, "memory_entry"),
        "relation": table.words("relation", RELATIONS),
        "label": table.texts("label", s.max_title_chars),
        "confidence": [None if value is None else float(value) for value in table.numbers("confidence", 0.0, 1.0)],
        "origin": table.words("origin", ("manual", "mcp", "import"), "import"),
        "rationale": table.texts("rationale", s.max_summary_chars),
        "section": ["\x1f".join(value) if value is not None else None for value in sections],
        "section_sha256": table.texts("section_sha256", 64),
        "created_at": made,
        "updated_at": changed,
    }
    table.refuse_twice("id", columns["id"])
    return [IncomingLink._make(row) for row in zip(*(columns[name] for name in IncomingLink._fields), strict=True)]


def _unzipped(data: bytes) -> dict[str, Any]:
    """The members of a ZIP as the one value that a JSON export is."""
    import zlib
    from io import BytesIO
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(BytesIO(data)) as archive:
            _check_members(archive.infolist())
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise InvalidParam("import_path: the ZIP is damaged, cut off, or of a kind that is not read here") from error
    manifest = value(members["manifest.json"], "manifest.json")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("members"), dict):
        raise InvalidParam("import_path: manifest.json names no members")
    for name, content in members.items():
        if name == "manifest.json":
            continue
        said = manifest["members"].get(name)
        if not isinstance(said, dict) or said.get("sha256") != hashlib.sha256(content).hexdigest():
            raise InvalidParam(f"import_path: {name} is not what the manifest says (checksum)")
    parts = {name.removesuffix(".json"): value(members[name], name) for name in NEEDED[1:]}
    return {**manifest, **parts}


def _check_members(infos: Sequence[Any]) -> None:
    """Refuse, before anything is unpacked, what an export never holds."""
    names = [info.filename for info in infos]
    if len(set(names)) != len(names):
        raise InvalidParam("import_path: the ZIP holds a member twice")
    strange = [name for name in names if name not in MEMBERS]
    if strange:
        raise InvalidParam(f"import_path: the ZIP holds members that no export has ({len(strange)})")
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InvalidParam(f"import_path: the ZIP lacks {', '.join(missing)}")
    if sum(info.file_size for info in infos) > MAX_BYTES:
        raise LimitExceeded(f"import_path: the ZIP unpacks to more than {MAX_BYTES} bytes")
    for info in infos:
        if info.flag_bits & 0x1:
            raise InvalidParam("import_path: the ZIP is encrypted")
        if info.file_size > MAX_RATIO * max(info.compress_size, 100):
            raise LimitExceeded("import_path: the ZIP unpacks to far more than it is; it is taken for a bomb")
