"""Neighbours by Milvus: one collection for each space of a store, on a cluster, or embedded (Milvus Lite) in a file.

The same client speaks to both. The truth stays in SQLite and reaches the collection by the same road as any index: changes
are applied with the watermark behind them, so a batch that broke off is applied again. Filters run in the engine, over the
facets of a row; rows are partitioned by project or shelf. A collection that bears our name and not our fields is
another's: it is refused, and never dropped.

What was met with Milvus Lite 3.2: one process at a time may open its file; a description is not kept; an analyzer other
than `standard` is not known.
"""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, Any

from scaffale.backends.codes import decode, encode
from scaffale.backends.ports import EngineAway
from scaffale.backends.vector_file import CLOSEST, TIED, best_of_each
from scaffale.errors import IndexUnusable
from scaffale.model import Hit, Watermark

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scaffale.backends.ports import Row, Vector
    from scaffale.model import Filter

IDENTITY = "milvus-1"
SECONDS = 10.0  # for a batch or a schema
ANSWER_SECONDS = 2.0  # for a question
INSERTED = 500  # rows in one call
MOST = 16_000  # rows that one question may ask for
FIELDS = frozenset(("id", "owner", "passage", "place", "importance", "confidence", "updated", "facets", "vector"))
MARKS = frozenset(("name", "store", "seq", "nonce", "vector"))
_PLACE = ("project=", "shelf=")
_CHARS = 512  # of a facet
_FACETS = 256  # of a row


def available(address: str) -> str | None:
    """`None`, or what is missing."""
    try:
        import pymilvus  # noqa: F401
    except ImportError as error:
        return f"{error.name or 'pymilvus'} is not installed; pip install 'scaffale[milvus]' brings it"
    if not address:
        try:
            import milvus_lite  # noqa: F401
        except ImportError:
            return "MEMORY_MILVUS_URI names no cluster, and the embedded engine is not installed; pip install milvus-lite"
    return None


class Milvus:
    """See the head of this file."""

    def __init__(self, address: str, token: str, folder: str, dimensions: int) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._lock = threading.Lock()
        self._name = _name(folder)
        self._marks = f"{self._name}_mark"
        self._dimensions = dimensions
        self._client = _client(address, token, folder)
        try:
            with _Border(), self._lock:
                self._create()
        except BaseException:
            self.close()
            raise

    def watermark(self) -> Watermark | None:
        """What the mark says."""
        with _Border(), self._lock:
            found = self._client.query(
                self._marks, filter='name == "mark"', output_fields=["store", "seq", "nonce"], consistency_level="Strong",
                timeout=ANSWER_SECONDS,
            )  # fmt: skip
        return Watermark(found[0]["store"], found[0]["seq"], int(found[0]["nonce"])) if found else None

    def apply(self, changes: Iterable[tuple[int, Sequence[Row]]], upto: Watermark | None) -> None:
        """Delete what stands of the owners, insert what they are now, then write the mark: what breaks off in between is
        done again."""
        given = list(changes)
        rows = [self._row(owner, p, vector) for owner, owned in given for p, vectors in owned for vector in vectors]
        with _Border(), self._lock:
            for start in range(0, len(given), INSERTED):
                owners = [owner for owner, _ in given[start : start + INSERTED]]
                self._client.delete(self._name, filter=f"owner in {owners}", timeout=SECONDS)
            for start in range(0, len(rows), INSERTED):
                self._client.insert(self._name, rows[start : start + INSERTED], timeout=SECONDS)
            if upto:
                mark = {"name": "mark", "store": upto.store, "seq": upto.seq, "nonce": str(upto.nonce), "vector": [0.0, 1.0]}
                self._client.upsert(self._marks, [mark], timeout=SECONDS)

    def search(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int] = ()) -> list[Hit]:
        """The best `k` passages."""
        said = _expression(filter, exclude)
        wanted = min(k + TIED, MOST)
        while True:
            with _Border(), self._lock:
                (found,) = self._client.search(
                    self._name, [list(vector)], anns_field="vector", limit=wanted, filter=said,
                    output_fields=["owner", "passage", "importance", "confidence", "updated"], consistency_level="Strong",
                    timeout=ANSWER_SECONDS,
                )  # fmt: skip
            hits = best_of_each(
                Hit(
                    row["entity"]["passage"], row["entity"]["owner"], round(row["distance"], CLOSEST),
                    row["entity"]["importance"], round(row["entity"]["confidence"], 6), row["entity"]["updated"],
                )
                for row in found
            )  # fmt: skip
            if len(hits) >= k or len(found) < wanted or wanted == MOST:
                return hits[:k]
            wanted = min(2 * wanted, MOST)

    def fetch(self, passages: Collection[int]) -> dict[int, list[bytes]]:
        """The vectors of passages, as they would be stored."""
        if not passages:
            return {}
        with _Border(), self._lock:
            rows = self._client.query(
                self._name, filter=f"passage in {sorted(passages)}", output_fields=["id", "passage", "vector"],
                consistency_level="Strong", timeout=ANSWER_SECONDS,
            )  # fmt: skip
        found: dict[int, list[bytes]] = {}
        for row in sorted(rows, key=lambda each: each["id"]):
            found.setdefault(row["passage"], []).append(encode(row["vector"]))
        return found

    def count(self) -> int:
        """How many vectors there are."""
        with _Border(), self._lock:
            found = self._client.query(
                self._name, output_fields=["count(*)"], consistency_level="Strong", timeout=SECONDS
            )
        return int(found[0]["count(*)"])

    def close(self) -> None:
        """Let go of the connection, or of the file."""
        self._client.close()

    def _row(self, owner: int, p: Any, stored: bytes) -> dict[str, Any]:  # noqa: ANN401
        facets = [facet[:_CHARS] for facet in p.facets[:_FACETS]]
        place = next((facet for facet in facets if facet.startswith(_PLACE)), "")
        return {
            "owner": owner, "passage": p.id, "place": place, "importance": p.importance, "confidence": p.confidence,
            "updated": p.updated, "facets": facets, "vector": list(decode(stored)),
        }  # fmt: skip

    def _create(self) -> None:
        from pymilvus import DataType

        client = self._client
        there = {name for name in (self._name, self._marks) if client.has_collection(name, timeout=SECONDS)}
        for name, fields in ((self._name, FIELDS), (self._marks, MARKS)):
            if name in there:
                described = client.describe_collection(name, timeout=SECONDS)
                if {each["name"] for each in described["fields"]} != fields:
                    raise EngineAway(f"the collection {name} is another program's, or of another version; it was left alone")
                dims = [each["params"].get("dim") for each in described["fields"] if each["name"] == "vector"]
                if name == self._name and dims != [self._dimensions]:
                    raise EngineAway(f"the collection {name} has {dims} dimensions, not {self._dimensions}; it was left alone")
        if self._name not in there:
            schema = client.create_schema(auto_id=True, enable_dynamic_field=False)
            schema.add_field("id", DataType.INT64, is_primary=True)
            schema.add_field("place", DataType.VARCHAR, max_length=_CHARS, is_partition_key=True)
            for name in ("owner", "passage", "importance", "updated"):
                schema.add_field(name, DataType.INT64)
            schema.add_field("confidence", DataType.FLOAT)
            schema.add_field(
                "facets", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=_FACETS, max_length=_CHARS
            )
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self._dimensions)
            self._make(self._name, schema, "COSINE")
        if self._marks not in there:
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("name", DataType.VARCHAR, max_length=16, is_primary=True)
            schema.add_field("store", DataType.VARCHAR, max_length=64)
            schema.add_field("seq", DataType.INT64)
            schema.add_field("nonce", DataType.VARCHAR, max_length=32)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)  # no collection is without one
            self._make(self._marks, schema, "COSINE")
        for name in (self._name, self._marks):
            client.load_collection(name, timeout=SECONDS)

    def _make(self, name: str, schema: Any, metric: str) -> None:  # noqa: ANN401
        index = self._client.prepare_index_params()
        index.add_index("vector", index_type="AUTOINDEX", metric_type=metric)
        self._client.create_collection(name, schema=schema, index_params=index, timeout=SECONDS)


def discard(address: str, token: str, folder: str) -> None:
    """Drop the collections of this index, and only these."""
    try:
        with _Border():
            client = _client(address, token, folder)
            try:
                for name, fields in ((_name(folder), FIELDS), (f"{_name(folder)}_mark", MARKS)):
                    if client.has_collection(name, timeout=SECONDS):
                        described = client.describe_collection(name, timeout=SECONDS)
                        if {each["name"] for each in described["fields"]} == fields:
                            client.drop_collection(name, timeout=SECONDS)
            finally:
                client.close()
    except (EngineAway, IndexUnusable):
        pass  # what cannot be reached now is dropped when it is met again
    if not address:
        from scaffale.backends.vector_file import discard as remove

        remove(folder)


def _client(address: str, token: str, folder: str) -> Any:  # noqa: ANN401
    import logging

    from pymilvus import MilvusClient

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # what it writes is raised, too
    with _Border():
        if address:
            return MilvusClient(address, token=token, timeout=SECONDS)
        return MilvusClient(os.path.join(folder, "milvus.db"))


def _name(folder: str) -> str:
    """What the collection is called: the folder's own name, which tells engine, space and store."""
    return "scaffale_" + re.sub(r"[^A-Za-z0-9]", "_", os.path.basename(folder))


def _expression(filter: Filter, exclude: Collection[int]) -> str:
    """The filter in Milvus's words; texts of ours are quoted, never syntax."""
    parts = []
    for clause in filter.clauses:
        facets = [facet[:_CHARS] for facet in clause]
        parts.append(f"array_contains_any(facets, [{', '.join(map(_quoted, facets))}])")
        if all(facet.startswith(_PLACE) for facet in facets):  # lets the engine leave whole partitions out
            parts.append(f"place in [{', '.join(map(_quoted, facets))}]")
    if exclude:
        parts.append(f"owner not in {sorted(exclude)}")
    return " and ".join(parts)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Border:
    """What the client raises leaves as `EngineAway`; nothing is done to an index that cannot be asked."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, EngineAway | IndexUnusable):
            said = " ".join(str(getattr(error, "message", error)).split())[:200]
            raise EngineAway(f"Milvus does not answer as it should: {said}") from error
