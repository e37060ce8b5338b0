"""Journal → vectors: what is written becomes a job, and a job becomes vectors, whenever a model is at hand.

Three steps, each for itself and each resumable. `follow` reads the journal and writes down of each changed owner which
pieces it has; whose text is known already, an entry that was archived say, stands at once, without a model. `embed` claims
the space, makes the vectors of jobs outside any transaction, and keeps them in short ones. When no job is left the space
is ready: it answers from now on, and the one before it is forgotten.

A space that is new, or that the journal cannot tell about any more, is filled by a walk over all owners.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scaffale.backends.codes import NoVector, checked, encode
from scaffale.errors import NotFound
from scaffale.indexer import journal, vectors
from scaffale.model import Watermark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from scaffale.backends.ports import Embedder
    from scaffale.indexer.database import Database
    from scaffale.indexer.sync import Source
    from scaffale.indexer.vectors import SpaceRow, Todo

    Progress = Callable[[int, int, str], None]

OWNERS = 64  # that are read at once
TEXTS = 32  # that a model is asked for at once


class Made(NamedTuple):
    """What `embed` did. `busy`: another process is at it."""

    owners: int = 0
    texts: int = 0
    problems: int = 0
    busy: bool = False


def follow(source: Source, identity: str, most: int | None = None) -> bool:
    """Write down what became of owners since the space last looked, `most` of them at most; whether all is done."""
    database = source.database
    done = 0
    while most is None or done < most:
        with database.read() as connection:
            row = _row(connection, identity)
            step = _next(connection, source, row, database.uuid)
            todos = vectors.cut(row.space, source.passages(connection, step.owners), step.owners) if step.owners else []
            head = journal.head(connection, database.uuid)
        if step.nothing:
            return True
        with database.write(durable=False) as connection:
            now = _row(connection, identity)
            if (now.seq, now.nonce, now.walked) != (row.seq, row.nonce, row.walked):
                continue  # another process has gone on from there
            if step.walks_anew:
                vectors.begin_walk(connection, row.id, head)
                continue
            later = _changed_since(connection, head)
            vectors.settle(connection, row.id, [todo for todo in todos if todo.owner not in later])
            if row.walked is not None:
                vectors.walk_on(connection, row.id, step.upto)
            elif step.mark:
                vectors.follow(connection, row.id, step.mark.seq, step.mark.nonce)
        done += len(step.owners)
    return False


def embed(
    source: Source,
    identity: str,
    embedder: Embedder,
    *,
    most: int | None = None,
    again: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Made:
    """Make the vectors of jobs, of `most` owners at most, unless another process is at it. `again` tries those with a
    problem, too. Raises `EmbedderUnavailable`; what was made until then is kept."""
    database = source.database
    claim = _Claim(database, identity, f"{os.getpid()}-{os.urandom(4).hex()}")
    made, after = Made(), 0
    with database.read() as connection:
        total = len(vectors.jobs(connection, claim.space, -1, again=again))
    try:
        while not stop() and (most is None or made.owners < most):
            if not claim.renewed():
                return made._replace(busy=True)
            with database.read() as connection:
                row = _row(connection, identity)
                owners = vectors.jobs(connection, row.id, OWNERS, after, again=again)
                todos = vectors.cut(row.space, source.passages(connection, owners), owners)
                head = journal.head(connection, database.uuid)
            if not owners:
                break
            count, refused = _make(claim, row, todos, embedder, partial(_tell, progress, made, total))
            problems = {
                todo.owner: refused[piece[2]] for todo in todos for piece in todo.pieces if piece[2] in refused
            }
            with database.write(durable=False) as connection:
                later = _changed_since(connection, head)
                vectors.settle(connection, row.id, [todo for todo in todos if todo.owner not in later], problems)
            after = owners[-1]
            made = Made(made.owners + len(owners), made.texts + count, made.problems + len(problems))
            _tell(progress, made, total, 0)
        with database.write(durable=False) as connection:
            row = _row(connection, identity)
            if not row.ready and row.walked is None and not vectors.jobs(connection, row.id, 1):
                vectors.make_ready(connection, row.id)
        return made
    finally:
        claim.let_go()


class _Claim:
    """That this process makes the vectors of a space, for a minute at a time."""

    def __init__(self, database: Database, identity: str, who: str) -> None:
        self.database = database
        self._who = who
        with database.read() as connection:
            self.space = _row(connection, identity).id

    def renewed(self) -> bool:
        """Claim on; false when another process has it."""
        with self.database.write(durable=False) as connection:
            return vectors.lease(connection, self.space, self._who, time.time())

    def kept(self, made: dict[bytes, bytes]) -> None:
        """Keep these vectors, and the claim."""
        with self.database.write(durable=False) as connection:
            vectors.lease(connection, self.space, self._who, time.time())
            vectors.keep(connection, self.space, made)

    def let_go(self) -> None:
        """Let others."""
        with self.database.write(durable=False) as connection:
            vectors.let_go(connection, self.space, self._who)


def _tell(progress: Progress | None, made: Made, total: int, texts: int) -> None:
    if progress:
        progress(min(made.owners, total), total, f"{made.texts + texts} texts")


def _make(
    claim: _Claim, row: SpaceRow, todos: Sequence[Todo], embedder: Embedder, tell: Callable[[int], None]
) -> tuple[int, dict[bytes, str]]:
    """Embed what has no vector yet. Returns how many texts the model was asked for, and why it had no vector for some."""
    texts = {piece[2]: piece[3] for todo in todos for piece in todo.pieces}
    with claim.database.read() as connection:
        there = vectors.known(connection, row.id, texts)
    missing = [digest for digest in texts if digest not in there]
    refused: dict[bytes, str] = {}
    for at in range(0, len(missing), TEXTS):
        digests = missing[at : at + TEXTS]
        made: dict[bytes, bytes] = {}
        for digest, vector in zip(digests, embedder.embed_documents([texts[each] for each in digests]), strict=True):
            try:
                made[digest] = encode(checked(vector, row.space.dimensions))
            except NoVector as error:
                refused[digest] = str(error)
        claim.kept(made)
        tell(at + len(digests))
    return len(missing), refused


class _Step(NamedTuple):
    """Whom to look at next, and how far that is: an owner of a walk (`None`: its end), or a line of the journal."""

    owners: Sequence[int] = ()
    upto: int | None = None
    mark: Watermark | None = None
    walks_anew: bool = False
    nothing: bool = False


def _next(connection: apsw.Connection, source: Source, row: SpaceRow, store: str) -> _Step:
    if row.seq == 0:
        return _Step(walks_anew=True)
    if row.walked is not None:
        owners = source.owners(connection, row.walked, OWNERS)
        upto = owners[-1] if owners else None
        gone = set(vectors.between(connection, row.id, row.walked, upto)).difference(owners)
        return _Step([*owners, *sorted(gone)], upto)
    lines = journal.since(connection, Watermark(store, row.seq, row.nonce), OWNERS)
    if lines is None:
        return _Step(walks_anew=True)
    if not lines:
        return _Step(nothing=True)
    return _Step(
        list(dict.fromkeys(line.owner for line in lines)), mark=Watermark(store, lines[-1].seq, lines[-1].nonce)
    )


def _changed_since(connection: apsw.Connection, head: Watermark) -> set[int]:
    """Owners that changed after they were read: they have a line of their own, which comes later."""
    return {line.owner for line in journal.since(connection, head) or ()}


def _row(connection: apsw.Connection, identity: str) -> SpaceRow:
    row = vectors.find(connection, identity)
    if row is None:
        raise NotFound("these vectors were dropped meanwhile")
    return row
