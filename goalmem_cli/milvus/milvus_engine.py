"""Call Milvus: make collections, read and write rows, and translate errors. `schema.py` has the collections.

pymilvus and milvus-lite are loaded when a database is opened. Calls are repeated if the server is unavailable for a
moment. That is safe for writes too, as a row's id is the hash of its content.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import islice
from typing import Any

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.errors import StoreDamaged, StoreError, libraries_of
from goalmem_cli.milvus import embedded
from goalmem_cli.milvus.rows import Row
from goalmem_cli.milvus.schema import FIELDS, ID, PLACEHOLDER, Collection, Kind, make, sparse
from goalmem_cli.store.files import Written

HINT_SERVER = "look whether the server is up, and whether the address and the token are right"
HINT_FULL = "give the server more room, or `goalmem forget` some of it; then run the same command again"
HINT_SCHEMA = "name another database, or remove that collection yourself if nobody needs it"
_SECONDS = 30.0
_EMBEDDED_SECONDS = 600.0  # there is no network to fail, and a large memory takes long to load
_TRIES = 4
_PAUSE = 0.2
_BATCH, _BATCH_BYTES = 1_000, 8_000_000
_PAGE, _PAGE_OF_DOCUMENTS = 2_000, 500
_KEYS_AT_ONCE = 2_000
_CALM = {"grpc.keepalive_time_ms": 600_000}  # a server takes more frequent pings for an attack
_FOR_NOW = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "retry timeout", "rate limit", "not ready")
_FULL = ("quota exceeded", "limit exceeded", "deny to write", "no space left")
_NOT_LOADED = ("not loaded", "call load()")


class Engine:
    """One database, opened at the first use and kept open; nothing is made in it before `create`.

    `patience` is the seconds to wait for a server, or for an embedded database that another process has open. `shards`
    is the number of shards of a server's collections. Every method raises StoreError if the database cannot be used.
    """

    def __init__(
        self,
        address: MilvusAddress,
        announce: Callable[[str], None],
        token: str = "",
        patience: float = _SECONDS,
        shards: int = 1,
    ) -> None:
        """Take the database's address and its options; nothing is opened yet."""
        self._address = address
        self._token = token
        self._announce = announce
        self._patience = patience
        self._shards = shards
        self._seconds = patience if address.path is None else max(patience, _EMBEDDED_SECONDS)
        self._client: Any = None
        self._uri = ""
        self._loaded: set[Collection] = set()
        self._ending = ""

    @property
    def exists(self) -> bool:
        """Whether the memory's collections are there."""
        path = self._address.path
        if path is not None and not embedded.is_open(path) and not embedded.is_there(path):
            return False
        return bool(self._ask("has_collection", self._named(Collection.META)))

    def create(self, dimension: int) -> None:
        """Make missing collections, for vectors of this dimension; `META` is made last, as `exists` looks for it."""
        for collection in (Collection.TALKS, Collection.SAID, Collection.UNITS, Collection.META):
            name = self._named(collection)
            if not self._ask("has_collection", name):
                shards = self._shards if collection in (Collection.SAID, Collection.UNITS) else 1
                is_embedded = self._address.path is not None
                make(self._ask, name, FIELDS[collection], dimension, is_embedded=is_embedded, shards=shards)
            self._check(collection, dimension)

    def rows(self, collection: Collection, condition: str, fields: Sequence[str]) -> Iterator[Row]:
        """Yield the rows that match the condition, each with its id and these fields; they are read in pages."""
        page = _PAGE_OF_DOCUMENTS if "document" in fields else _PAGE
        named = {"filter": condition or f'{ID} != ""', "output_fields": [ID, *fields]}
        first = self._of(collection, "query", limit=page, **named)
        if len(first) < page:  # an iterator needs several calls before its first row
            yield from self._whole(first, fields)
            return
        with self._held():
            pages = self._of(collection, "query_iterator", batch_size=page, **named)
            try:
                while rows := self._again(pages.next):
                    yield from self._whole(rows, fields)
            finally:
                pages.close()

    def rows_of(
        self, collection: Collection, field: str, values: Sequence[str] | Sequence[int], fields: Sequence[str]
    ) -> Iterator[Row]:
        """Yield, as `rows` does, the rows whose `field` has one of the `values`; many are queried in batches.

        These are hashes, numbers or fixed ids: quotes in them are not escaped.
        """
        each = list(dict.fromkeys(f'"{value}"' if isinstance(value, str) else str(value) for value in values))
        for start in range(0, len(each), _KEYS_AT_ONCE):
            yield from self.rows(collection, f"{field} in [{', '.join(each[start : start + _KEYS_AT_ONCE])}]", fields)

    def count(self, collection: Collection, condition: str) -> int:
        """Return how many rows match the condition."""
        found = self._of(collection, "query", filter=condition, output_fields=["count(*)"])
        (row,) = self._whole(found, ["count(*)"])
        return int(row["count(*)"])

    def search(
        self, field: str, asked: str | list[float], condition: str, depth: int, fields: Sequence[str]
    ) -> list[tuple[Row, float]]:
        """Return at most `depth` units that match the condition, with their scores, best first.

        A text is searched by BM25 in the analysed `field`, a vector by inner product. Each row has its id and these
        `fields`.
        """
        is_dense = not isinstance(asked, str)
        breadth = {} if self._address.path is not None else {"ef": max(256, 2 * depth)}
        told = {"metric_type": "IP", "params": breadth} if is_dense else {"metric_type": "BM25"}
        found = self._of(
            Collection.UNITS, "search", data=[asked], anns_field=field if is_dense else sparse(field),
            filter=condition, limit=depth, output_fields=[ID, *fields], search_params=told,
        )  # fmt: skip
        hits = [hit for each in found for hit in each]
        rows = self._whole([{ID: hit["id"], **hit["entity"]} for hit in hits], fields)
        # milvus-lite returns BM25 as a negative distance
        return [(row, abs(float(hit["distance"]))) for row, hit in zip(rows, hits, strict=True)]

    def put(self, collection: Collection, rows: Sequence[Row]) -> None:
        """Write the rows; each replaces a row with the same id."""
        is_bare = not any(field.kind is Kind.VECTOR for field in FIELDS[collection])
        for batch in _batches(rows):
            told = [{**row, PLACEHOLDER: [0.0, 1.0]} if is_bare else row for row in batch]
            taken = int(self._of(collection, "upsert", told)["upsert_count"])
            if taken != len(batch):
                raise StoreError(f"{self._address}: {taken} of {len(batch)} rows were taken", HINT_SERVER)

    def drop_rows(self, collection: Collection, ids: Sequence[str]) -> None:
        """Delete the rows with these ids."""
        for start in range(0, len(ids), _KEYS_AT_ONCE):
            self._of(collection, "delete", ids=list(ids[start : start + _KEYS_AT_ONCE]))

    def flush(self, *collections: Collection) -> None:
        """Wait until writes and deletions are durable."""
        for collection in collections:
            self._ask("flush", self._named(collection))

    def compact(self) -> None:
        """Ask a server to free the space of deleted rows, which it does later."""
        for collection in (Collection.SAID, Collection.UNITS):
            self._ask("compact", self._named(collection))

    def renew(self, dimension: int, leave_out: str, written: Written) -> None:
        """Write the collections of an embedded database anew, so that its files hold no deleted byte.

        The engine itself keeps deleted rows until it happens to merge their file with others. The row of `META` with
        the id `leave_out` is not copied. An interruption leaves the old collections, or the next opening finishes it.

        Raises:
            StoreError: the database cannot be used, or the system refuses.
        """
        path = self._address.path
        if path is None:
            return
        with self._held():
            embedded.settle(path)
            fresh = copy(self)
            fresh._client, fresh._loaded, fresh._ending = None, set(), embedded.NEW
            try:
                self._copy_to(fresh, dimension, leave_out, written)
                embedded.settle(path, written)
            except BaseException:
                embedded.close(path)  # opening it again finishes this, or deletes what was copied
                raise
        self._leave()

    def _copy_to(self, fresh: Engine, dimension: int, leave_out: str, written: Written) -> None:
        """Copy all collections but one row into a fresh database."""
        try:
            fresh.create(dimension)
            for collection in embedded.ORDER:
                fields = [field.name for field in FIELDS[collection]]
                rows = self.rows(collection, f'{ID} != "{leave_out}"', fields)
                while some := list(islice(rows, _PAGE)):
                    fresh.put(collection, [_plain(row) for row in some])
                fresh.flush(collection)
                written(f"{collection} copied")
        finally:
            fresh._leave()

    def remove(self) -> None:
        """Delete the memory's collections, `META` last, and an embedded database without other collections."""
        for collection in (Collection.UNITS, Collection.SAID, Collection.TALKS, Collection.META):
            self._ask("drop_collection", self._named(collection))
        self._loaded.clear()
        if self._address.path is not None:
            self.close()
            embedded.delete(self._address.path)

    def size(self) -> int:
        """Return the bytes of an embedded database on disk; 0 for a server."""
        path = self._address.path
        return 0 if path is None else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self._leave()
        if self._address.path is not None:
            embedded.close(self._address.path)

    def _named(self, collection: Collection) -> str:
        return f"{collection.value}{self._ending}"

    def _of(self, collection: Collection, method: str, *args: object, **told: object) -> Any:
        """Load the collection if needed, and return what the client's method returns; raises as `_again`."""
        name = self._named(collection)

        def act() -> Any:
            """Call the client's method on the collection, which is loaded first if needed."""
            with self._held() as client:
                if collection not in self._loaded:
                    client.load_collection(name, timeout=self._seconds)
                    self._loaded.add(collection)
                    self._check(collection)
                return getattr(client, method)(name, *args, timeout=self._seconds, **told)

        return self._again(act)

    def _ask(self, method: str, *args: object, **told: object) -> Any:
        """Return what the client's method returns; raises as `_again`."""

        def act() -> Any:
            with self._held() as client:
                return getattr(client, method)(*args, timeout=self._seconds, **told)

        return self._again(act)

    def _again(self, act: Callable[[], Any]) -> Any:
        """Return the result of `act`, which is repeated a few times after temporary errors.

        Raises:
            StoreError: the error is permanent, or the last try failed too.
        """
        with libraries_of("milvus", "a memory in Milvus", kind=StoreError):
            from grpc import RpcError
            from pymilvus.exceptions import MilvusException
        pause = _PAUSE
        for left in reversed(range(_TRIES)):
            try:
                return act()
            except (MilvusException, RpcError) as error:
                told = error.message if isinstance(error, MilvusException) else f"{error.code()}: {error.details()}"
                reason = " ".join(str(told).split())
                is_full, is_unloaded = (_says(reason, signs) for signs in (_FULL, _NOT_LOADED))
                if not left or is_full or not (is_unloaded or _says(reason, _FOR_NOW)):
                    hint = HINT_FULL if is_full else HINT_SERVER
                    raise StoreError(f"{self._address}: {reason[:300]}", hint) from error
                if is_unloaded:  # the server was restarted meanwhile
                    self._loaded.clear()
            except (LookupError, AttributeError) as error:  # pymilvus fails on incomplete replies
                raise StoreError(f"{self._address} answered in part: {error!r}"[:300], HINT_SERVER) from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def _whole(self, rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[Row]:
        """Return the rows as dicts; raises StoreError if a row lacks a requested field."""
        for row in rows:
            if missing := [field for field in fields if field not in row]:
                raise StoreError(f"{self._address} answered in part: a row without {missing[0]}", HINT_SERVER)
        return [dict(row) for row in rows]

    @contextmanager
    def _held(self) -> Iterator[Any]:
        """Yield the client of the database, which stays open until the block ends."""
        path = self._address.path
        if path is None:
            yield self._client_of(self._address.uri)
            return
        with embedded.used(path, self._announce, self._patience) as uri:
            yield self._client_of(uri)

    def _client_of(self, uri: str) -> Any:
        """Return the client of an address, opened anew if the address changed."""
        if self._client is None or self._uri != uri:
            from pymilvus import MilvusClient

            self._leave()
            logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # goalmem reports errors itself
            is_embedded = self._address.path is not None
            token, database = ("", "") if is_embedded else (self._token, self._address.database)
            self._client = MilvusClient(
                uri, token=token, db_name=database, timeout=self._patience, grpc_options=_CALM,
                dedicated=uri.startswith("https"),  # pymilvus would share an open connection in the clear
            )  # fmt: skip
            self._uri = uri
        return self._client

    def _leave(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None
        self._loaded.clear()

    def _check(self, collection: Collection, dimension: int | None = None) -> None:
        """Check that a collection has goalmem's fields.

        Raises:
            StoreDamaged: it has other fields, or vectors of another dimension.
        """
        found = {
            field["name"]: field.get("params", {}).get("dim")
            for field in self._ask("describe_collection", self._named(collection))["fields"]
        }
        wanted = {field.name: field.kind for field in FIELDS[collection]}
        ours = {ID, *wanted, *(sparse(name) for name, kind in wanted.items() if kind is Kind.WORDS)}
        if Kind.VECTOR not in wanted.values():
            ours.add(PLACEHOLDER)
        if odd := sorted(ours ^ found.keys()):
            raise StoreDamaged(f"{self._address}: {collection} has another schema: {odd[0]}", HINT_SCHEMA)
        sizes = {int(found[name]) for name, kind in wanted.items() if kind is Kind.VECTOR}
        if dimension is not None and sizes - {dimension}:
            raise StoreDamaged(
                f"{self._address}: {collection} is for vectors of {min(sizes)} numbers, not {dimension}", HINT_SCHEMA
            )


def _plain(row: Row) -> Row:
    """Return the row with lists in place of the client's own sequences."""
    return {
        name: list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
        for name, value in row.items()
    }


def _says(reason: str, signs: Sequence[str]) -> bool:
    return any(sign.lower() in reason.lower() for sign in signs)


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield the rows in batches that a server accepts."""
    start, size = 0, 0
    for number, row in enumerate(rows):
        held = sum(
            len(value) * (1 if isinstance(value, str) else 9) for value in row.values() if hasattr(value, "__len__")
        )
        if number > start and (number - start == _BATCH or size + held > _BATCH_BYTES):
            yield rows[start:number]
            start, size = number, 0
        size += held
    if start < len(rows):
        yield rows[start:]
