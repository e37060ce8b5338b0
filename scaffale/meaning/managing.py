"""Vectors on and off: which model, which backend; making them; and what stands.

Turning them on is a person's act at the command line. It writes to the store what was chosen; the environment
(`MEMORY_ENABLE_VECTOR`, `DOCS_VECTOR_BACKEND`, ...) has the last word on whether and by which backend they serve.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scaffale import backends
from scaffale.backends import models
from scaffale.backends.ports import EmbedderUnavailable
from scaffale.backends.spaces import EMBEDDERS, Space
from scaffale.errors import Conflict, InvalidParam, NotFound
from scaffale.indexer import embedding, vectors
from scaffale.indexer.vector_sync import VectorProjection
from scaffale.indexer.vectors import Choice
from scaffale.meaning.asking import Meaning
from scaffale.ranking import fusion as fusions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaffale.backends.ports import Embedder, Vector
    from scaffale.indexer.sync import Source
    from scaffale.settings import Settings

    Progress = Callable[[int, int, str], None]

HASHING = "hashing"
MOST_DIMENSIONS = 8_192


class Wish(NamedTuple):
    """What a person wants of a model. What is `None` is taken from the model's own files, or from what is known of it."""

    model: str
    embedder: str | None = None
    revision: str | None = None
    dimensions: int | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    max_tokens: int | None = None
    languages: tuple[str, ...] | None = None


class VectorStatus(NamedTuple):
    """What stands in one store. `state` is `off`, `building` or `ready`; `coverage` is the share of entries or documents
    with all their vectors, `jobs` how many wait for theirs, `problems` why some never get them."""

    domain: str
    state: str
    backend: str | None = None
    fusion: str | None = None
    model: str | None = None
    embedder: str | None = None
    dimensions: int | None = None
    space: str | None = None
    languages: tuple[str, ...] = ()
    coverage: float | None = None
    embedded: int = 0
    total: int = 0
    jobs: int = 0
    problems: tuple[str, ...] = ()
    building: str | None = None
    warnings: tuple[str, ...] = ()


class Built(NamedTuple):
    """What `build` did: how many entries or documents were embedded, how many texts the model was asked for."""

    domain: str
    owners: int
    texts: int
    problems: int
    ready: bool
    warnings: tuple[str, ...] = ()


def meaning(settings: Settings, domain: str, source: Source, *, background: bool = False) -> Meaning | None:
    """The vectors of a store as its hall asks for them; `None` while they are off, or nothing can serve them."""
    chosen = _chosen(settings, domain, source)
    if chosen is None:
        return None
    try:
        engine = engine_of(settings, chosen.backend)
    except backends.NoEngine:
        return None  # `status` says why
    deadline = settings.vector_deadline_ms / 1000
    return Meaning(
        VectorProjection(source, engine, chosen.identity),
        lambda space: _remote(space, settings),
        fusion=chosen.fusion,
        deadline=deadline,
        background=background,
    )


def engine_of(settings: Settings, name: str) -> backends.VectorEngine:
    """The vector engine of this name, where the settings have it. Raises `backends.NoEngine`."""
    return backends.vector(name, backends.Remote(settings.milvus_uri, settings.milvus_token))


def space_of(wish: Wish, load: Callable[[Space], Embedder] = backends.embedder) -> Space:
    """The space that the wish describes; the model is loaded once to see that it works. Raises `EmbedderUnavailable`."""
    if wish.embedder is not None and wish.embedder not in EMBEDDERS:
        raise InvalidParam(f"embedder: must be one of {', '.join(EMBEDDERS)}")
    if HASHING in (wish.model, wish.embedder):
        return Space(HASHING, HASHING, "1", wish.dimensions or 256, max_tokens=wish.max_tokens or 256)
    path = models.located(wish.model, wish.revision)
    known = models.KNOWN.get(wish.model)
    own = models.prompts(path)
    said = (known.query_prompt, known.document_prompt) if known and not any(own) else own
    most = wish.max_tokens if wish.max_tokens is not None else models.max_tokens(path)
    kind = wish.embedder or models.kind(path)
    space = Space(
        embedder=kind,
        model=os.path.basename(wish.model.rstrip("/\\")) if os.path.isdir(wish.model) else wish.model,
        revision=models.digest(path),
        dimensions=wish.dimensions or MOST_DIMENSIONS,
        query_prompt=wish.query_prompt if wish.query_prompt is not None else said[0],
        document_prompt=wish.document_prompt if wish.document_prompt is not None else said[1],
        pooling=models.pooling(path),
        max_tokens=most if most is not None else known.max_tokens if known else 0 if kind == "static" else 256,
        languages=wish.languages if wish.languages is not None else known.languages if known else (),
        path=path,
    )
    found = _dimensions(load(space))
    if wish.dimensions not in (None, found):
        raise EmbedderUnavailable(f"{wish.model} gives {found} dimensions, not {wish.dimensions}")
    return space._replace(dimensions=found)


def _dimensions(embedder: Embedder) -> int:
    return len(embedder.embed_documents(["one two three"])[0])


def enable(settings: Settings, source: Source, space: Space, backend: str, fusion: str) -> list[str]:
    """Turn vectors on with this space; the one before it answers until this one is built. Returns warnings."""
    if fusion not in fusions.METHODS:
        raise InvalidParam(f"fusion: must be one of {', '.join(fusions.METHODS)}")
    try:
        engine_of(settings, backend)
    except backends.NoEngine as error:
        raise Conflict(str(error)) from error
    with source.database.write() as connection:
        vectors.add(connection, space)
        vectors.choose(connection, Choice(backend, fusion, space.identity))
    return []


def disable(source: Source, *, drop: bool) -> bool:
    """Turn vectors off, and with `drop` forget them. Returns whether they were on."""
    with source.database.write() as connection:
        was = vectors.choice(connection) is not None
        vectors.choose(connection, None)
        if drop:
            vectors.drop(connection, [row.id for row in vectors.all_spaces(connection)])
    if drop:
        _remove_indexes(source.database.path)
    return was


def build(
    settings: Settings,
    domain: str,
    source: Source,
    *,
    again: bool = False,
    progress: Progress | None = None,
    load: Callable[[Space], Embedder] = backends.embedder,
) -> Built:
    """Make every vector that is missing, in this process, and bring the index level. Raises `EmbedderUnavailable`."""
    chosen = _chosen(settings, domain, source)
    if chosen is None:
        raise NotFound(f"vectors of {domain} are off; `scaffale vectors enable --model MODEL` turns them on")
    embedding.follow(source, chosen.identity)
    with source.database.read() as connection:
        row = vectors.find(connection, chosen.identity)
        waiting = row is not None and bool(vectors.jobs(connection, row.id, 1, again=again))
    assert row
    # Nothing to embed: no model need be loaded to say so.
    embedder = load(row.space) if waiting else _Nobody()
    made = embedding.embed(source, chosen.identity, embedder, again=again, progress=progress)
    warnings = ["another process is making these vectors just now"] if made.busy else []
    try:
        projection = VectorProjection(source, engine_of(settings, chosen.backend), chosen.identity)
        try:
            projection.catch_up()
        finally:
            projection.close()
    except backends.NoEngine as error:
        warnings.append(str(error))
    with source.database.read() as connection:
        row = vectors.find(connection, chosen.identity)
    return Built(domain, made.owners, made.texts, made.problems, bool(row and row.ready), tuple(warnings))


def status(settings: Settings, domain: str, source: Source) -> VectorStatus:
    """What stands. Changes nothing."""
    with source.database.read() as connection:
        said = vectors.choice(connection)
        total = source.count(connection)
    chosen = _chosen(settings, domain, source)
    warnings = _settings_warnings(settings, domain, said)
    if chosen is None:
        return VectorStatus(domain, "off", total=total, warnings=tuple(warnings))
    try:
        engine_of(settings, chosen.backend)
    except backends.NoEngine as error:
        warnings.append(f"words answer alone: {error}")
    with source.database.read() as connection:
        wanted = vectors.find(connection, chosen.identity)
        row = vectors.serving(connection, chosen.identity)
        if row is None or wanted is None:
            return VectorStatus(domain, "off", total=total, warnings=(*warnings, "the chosen vectors were dropped"))
        counted = vectors.coverage(connection, row, total)
        jobs = len(vectors.jobs(connection, wanted.id, -1, again=True))
        problems = tuple(f"{owner}: {reason}" for owner, reason in vectors.problems(connection, wanted.id, 5))
    return VectorStatus(
        domain, "ready" if row.ready else "building", chosen.backend, chosen.fusion, row.space.model, row.space.embedder,
        row.space.dimensions, row.space.identity, row.space.languages, counted.share, counted.embedded, total, jobs,
        problems, wanted.space.model if wanted.id != row.id else None, tuple(warnings),
    )  # fmt: skip


def _chosen(settings: Settings, domain: str, source: Source) -> Choice | None:
    """What serves: the store's choice, unless the environment says otherwise."""
    with source.database.read() as connection:
        said = vectors.choice(connection)
    name = domain.upper()
    enabled = getattr(settings, f"{domain}_enable_vector")
    backend = getattr(settings, f"{domain}_vector_backend")
    if said is None or (not enabled and settings.sources.get(f"{name}_ENABLE_VECTOR", "default") != "default"):
        return None
    return said._replace(backend=backend) if backend != "none" else said


def _settings_warnings(settings: Settings, domain: str, said: Choice | None) -> list[str]:
    if said is None and getattr(settings, f"{domain}_enable_vector"):
        return [f"{domain.upper()}_ENABLE_VECTOR is on, but no model was chosen: scaffale vectors enable --model MODEL"]
    return []


def _remote(space: Space, settings: Settings) -> Embedder:
    if space.embedder == HASHING:  # nothing to load
        return backends.embedder(space)
    from scaffale.backends.daemon import Daemon

    return Daemon(space, settings.vector_folder, deadline=settings.vector_deadline_ms / 1000)


def _remove_indexes(path: str) -> None:
    import shutil

    folder = f"{path}.index"
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith("vectors-"):
                shutil.rmtree(entry.path, ignore_errors=True)


class _Nobody:
    """Stands where no text is to be embedded."""

    def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable("no model was loaded")

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        raise EmbedderUnavailable("new texts came in while nothing was to be embedded; try again")

    def close(self) -> None:
        return None
