"""Values that cross rooms. They know nothing of SQL, files, clocks or protocols.

All are `NamedTuple`s: immutable, made at C speed, and nearly free at import time. Frozen dataclasses would cost every
command-line call 5 ms for the machinery and 0.4 ms a class. Annotations are not postponed here: `typing` compiles
postponed ones, three times the price of a class.
Field names are the names of the JSON answers; `None` means absent and is left out there.
"""

from typing import Any, NamedTuple

STATUSES = ("active", "superseded", "archived", "invalidated")
SOURCE_TYPES = (
    "agent_note", "decision", "handoff", "ticket_summary", "commit_context", "doc_observation",
    "file_observation", "bug_pattern", "workaround", "user_preference", "environment_note",
)  # fmt: skip
RELATIONS = ("related_to", "supersedes", "derived_from", "blocks", "explains", "duplicates")
DOCUMENT_RELATIONS = (
    "related_to", "same_topic", "references_standard", "extends_standard", "depends_on", "derived_from", "supersedes",
    "duplicates", "mentions",
)  # fmt: skip
DIRECTIONS = ("outgoing", "incoming", "both")
TARGETS = ("memory_entry", "docs_document", "uri")
CONCEPT = "concept_clarified"  # in memory it is written by the review alone; in a session's ledger agents record it
PROMOTED, DECLINED = "memory_promoted", "memory_promotion_declined"  # the review's marks in a ledger
WITHDRAWN, REOPENED, REJECTED = "decision_withdrawn", "phase_reopened", "memory_rejected"
TABLE_TYPES = ("table_promoted", "table_excluded", "column_promoted", "column_excluded")  # their subjects are never concepts
DECISION_TYPES = (CONCEPT, *TABLE_TYPES, REJECTED, WITHDRAWN, REOPENED)  # what may be recorded
PHASES = ("F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8")
SECRET_RULES = 1  # version of the tier 1 rules of `secrets`: a text checked by these need not be checked again on its way out
VERIFICATION_HINT = "Context, not authority: verify."


# --- what every index sees -----------------------------------------------------------------------------------------


class Passage(NamedTuple):
    """One searchable unit: a memory entry, or a section of a document. Memory and documents travel the same road.

    `owner` is what the journal names (the entry or the document); all passages of one owner change together.
    `facets` are exact-match keys such as `status=active`. `importance`, `confidence` (-1.0 when absent) and `updated`
    (milliseconds since the epoch) break ties.
    """

    id: int
    owner: int
    title: str
    heading: str
    body: str
    labels: str
    facets: tuple[str, ...]
    importance: int = 0
    confidence: float = -1.0
    updated: int = 0


class Watermark(NamedTuple):
    """How far an index has read the journal. The nonce is that of line `seq`: a restored backup reuses numbers, not nonces."""

    store: str
    seq: int
    nonce: int


class JournalLine(NamedTuple):
    """One canonical change. It carries ids only; what the owner looks like now is read from the store."""

    seq: int
    nonce: int
    owner: int


class Filter(NamedTuple):
    """All clauses must hold; a clause holds when the passage has one of its facets."""

    clauses: tuple[tuple[str, ...], ...] = ()


class Hit(NamedTuple):
    """A passage that matched, with the numbers that order it. Higher score is better."""

    id: int
    owner: int
    score: float
    importance: int
    confidence: float
    updated: int


class Hits(NamedTuple):
    """The best `k` hits and everything that ties with the last of them, unordered among equals.

    `total` counts all matches. `truncated` says that the tied group was longer than the cap and was not read through.
    `coverage` is the share of the question that the best name covers, `rarity` what each of its tokens weighs; `None`
    from an engine that does not count.
    """

    hits: list[Hit]
    total: int
    truncated: bool = False
    coverage: float = 1.0
    rarity: dict[str, float] | None = None


# --- memory --------------------------------------------------------------------------------------------------------


class Project(NamedTuple):
    """A resolved project. Resolving never writes; `known` says whether the store already has a row for it."""

    id: str
    display_name: str | None = None
    canonical_path: str | None = None
    git_remote: str | None = None
    known: bool = False


class EntryDraft(NamedTuple):
    """An entry before it has an id: validated and normalised, content verbatim."""

    scope: str
    topic: str
    content: str
    source_type: str
    title: str | None = None
    summary: str | None = None
    source_ref: str | None = None
    source_path: str | None = None
    source_uri: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 3
    confidence: float | None = None
    metadata: dict[str, Any] | None = None  # of a concept: what it was clarified for


class Entry(NamedTuple):
    """A memory entry as stored. Times are UTC ISO-8601 with milliseconds."""

    id: str
    project_id: str
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
    tags: tuple[str, ...] = ()
    verification_hint: str = VERIFICATION_HINT
    evidence: str | None = None  # `changed` or `gone`: what has become of a document that it cites, or of its decision
    display_id: str | None = None  # `mem-NNNN`, of a promoted concept
    metadata: dict[str, Any] | None = None  # of a promoted concept: sources, rationale, question, concepts


class EntryHit(NamedTuple):
    """One result of `memory_search`. Matches in `snippet` stand between `>>>` and `<<<`."""

    id: str
    project_id: str
    scope: str
    topic: str
    title: str | None
    snippet: str
    tags: tuple[str, ...]
    source_type: str
    source_ref: str | None
    status: str
    confidence: float | None
    importance: int
    created_at: str
    updated_at: str
    score: float
    content: str | None = None
    explain: dict[str, float] | None = None
    verification_hint: str = VERIFICATION_HINT
    evidence: str | None = None
    similarity: float | None = None
    display_id: str | None = None


class Count(NamedTuple):
    """A name and how many entries bear it."""

    name: str
    count: int  # type: ignore[assignment]


# --- ledger --------------------------------------------------------------------------------------------------------


class Session(NamedTuple):
    """A working session. `number` is its own inside the store; the world knows `id`, unique in its project."""

    number: int
    project_id: str
    id: str
    title: str | None
    phases: tuple[str, ...]
    created_at: str
    created_by: str | None


class Decision(NamedTuple):
    """A line of a session's ledger. `about_seq` is the line that a withdrawal, or a mark of the review, is about."""

    seq: int
    at: str
    phase: str
    type: str
    subject: str
    detail: str
    rationale: str | None
    question_context: str | None
    concepts: tuple[str, ...]
    actor: str | None
    supersedes_seq: int | None
    about_seq: int | None


# --- documents -----------------------------------------------------------------------------------------------------


class Shelf(NamedTuple):
    """A named set of documents. `uri` is `docs://shelf/{id}-{slug}`."""

    id: int
    name: str
    description: str | None
    uri: str
    document_count: int
    created_at: str
    updated_at: str


class Document(NamedTuple):
    """A document without its text. `freshness` is `same`, `changed` or `gone`, checked when asked."""

    id: int
    title: str
    file_path: str
    shelf_id: int
    shelf_name: str
    resource_uri: str
    uri: str
    shelf_uri: str
    line_count: int
    size: int
    tags: tuple[str, ...]
    indexed_at: str
    freshness: str | None = None
    link_summary: dict[str, Any] | None = None
    shelf_context: dict[str, Any] | None = None


class Section(NamedTuple):
    """A part of a document. Lines are 1-based and inclusive; the sections of a document tile its text."""

    heading_path: tuple[str, ...]
    level: int
    start_line: int
    end_line: int
    body: str


class DocumentHit(NamedTuple):
    """One result of a document search: the document once, with its best section."""

    id: int
    title: str
    file_path: str
    shelf_id: int
    shelf_name: str
    resource_uri: str
    uri: str
    shelf_uri: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    snippet: str
    score: float
    freshness: str
    tags: tuple[str, ...] | None = None
    explain: dict[str, float] | None = None
    links: dict[str, Any] | None = None
    shelf_context: dict[str, Any] | None = None


class Skip(NamedTuple):
    """A file that was seen and not taken, and why."""

    file_path: str
    reason: str


class ScanReport(NamedTuple):
    """What a scan saw. `seen == new + changed + same + skipped + failed`; `moved` files are counted among `same` or
    `changed` too, `missing` and `removed` lie outside `seen`. `skips` and `failures` name each file with its reason."""

    shelf: str
    seen: int = 0
    new: int = 0
    changed: int = 0
    same: int = 0
    skipped: int = 0
    failed: int = 0
    moved: int = 0
    missing: int = 0
    removed: int = 0
    sections: int = 0
    skips: tuple[Skip, ...] = ()
    failures: tuple[Skip, ...] = ()
    missing_files: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    correlation: Any = None  # the `CorrelationReport`, when the scan was asked to correlate what it changed
