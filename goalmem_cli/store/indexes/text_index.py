"""The text index, the only module that calls tantivy: BM25 over the units' texts.

`analysis.py` makes the tokens; those of scripts without spaces, and of emoji, have their own fields. Queries are built
from terms and never parsed, so that no text is an operator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import tantivy

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked
from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.memory_records import Scored
from goalmem_cli.records import Query, encodable
from goalmem_cli.store.files import HINT_REFUSED, Written, content_of, reporting, unwatched
from goalmem_cli.store.indexes import folding
from goalmem_cli.store.indexes.analysis import (
    STEMMED,
    asked,
    asked_in,
    grams_analyzer,
    to_words,
    wholes,
    words_analyzer,
)
from goalmem_cli.store.indexes.derived import HINT_DERIVED, Indexed, Manifest, leftovers, new_data, remove_all

SCHEMA = 5

_WORDS, _GRAMS = "goalmem_words", "goalmem_grams"
_WRITER_BYTES = 64_000_000
_POLL_SECONDS = 0.05
_LISTS = ("meta.json", ".managed.json")  # what tantivy replaces at each commit: its lists of the other files
_PANIC = "PanicException"  # raised where tantivy gives up on bytes it cannot read; its class cannot be imported
_REFUSED = ("PermissionDenied", "ReadOnlyFilesystem", "os error 13", "os error 30")
_FULL = ("os error 28", "StorageFull", "os error 122", "QuotaExceeded", "os error 27", "FileTooLarge")
_STOPPED = ("writer was killed", "io::Error most likely")  # messages of a thread that failed because of one of these


def _schema() -> tantivy.Schema:
    """Return the fields of the index: keys, filters, times, and words and letter groups by language."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("unit", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("backbone", "kind", "conversation", "speaker", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("clock", "instant"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in ("text", "context"):
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="freq")
        builder.add_text_field(f"{name}_grams", tokenizer_name=_GRAMS, index_option="freq")
        builder.add_text_field(f"{name}_wholes", tokenizer_name="raw", index_option="freq")
        for language in STEMMED:
            builder.add_text_field(f"{name}_{language}", tokenizer_name=f"{_WORDS}_{language}", index_option="freq")
    return builder.build()


class TextIndex:
    """The folder `text/`: one tantivy index in a subfolder that the manifest names.

    `written` is called after every single write. For a missing index `reached` returns None, and `rebuild` makes it;
    the other methods raise StoreDamaged, also if it cannot be read. All raise StoreError if the system refuses.
    """

    def __init__(
        self, folder: Path, announce: Callable[[str], None], patience: float, written: Written = unwatched
    ) -> None:
        self._folder = folder
        self._announce = announce
        self._patience = patience
        self._written = written
        self._schema = _schema()

    @property
    def folder(self) -> Path:
        """The folder of the index."""
        return self._folder

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds; None if it has to be rebuilt."""
        manifest = Manifest.from_file(self._folder)
        if manifest is None or (manifest.schema, manifest.store) != (SCHEMA, store):
            return None
        if not manifest.is_changing:
            return manifest.generation if self._is_whole(manifest) else None
        try:  # after a killed writer, its changes may or may not be there; they are applied again
            self._searcher()
        except StoreDamaged:
            return None
        return manifest.generation

    def faults(self) -> list[str]:
        """Return what is wrong with the files of the generation that the index holds, one a line; reads all of them."""
        manifest = Manifest.required(self._folder)
        stale = leftovers(self._folder, [manifest.data])
        changed = [
            name for name, known in manifest.files.items() if content_of(self._folder / manifest.data / name) != known
        ]
        return [
            *(f"{manifest.data}/{name} is not what was written" for name in changed),
            *(f"{path.name} was left by an interrupted command" for path in stale),
        ]

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Delete the units `gone` and those in `put`, add `put`, then record the generation. Safe to repeat.

        Raises:
            StoreLocked: another writer kept the index for longer than the patience.
        """
        manifest = Manifest.required(self._folder)
        if gone or put:
            with self._translating():
                writer = self._writer(self._open(self._folder / manifest.data))
                # tantivy changes files before their names are known, so the manifest trusts none until the end
                replace(manifest, is_changing=True).write(self._folder, self._written)
                self._write(writer, [*gone, *(indexed.entry.unit.id for indexed in put)], put)
        self._record(store, generation, manifest.data, manifest)

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write the index anew beside the old one, or make it, then change over by one rename.

        Raises:
            StoreLocked: another writer kept the index for longer than the patience.
        """
        data = new_data(self._folder, self._kept(), self._written)
        with reporting(self._folder):
            (self._folder / data).mkdir()
            self._written(f"{self._folder.name}/{data}")
        with self._translating():
            index = self._registered(tantivy.Index(self._schema, str(self._folder / data)))
            self._written(f"{self._folder.name}/{data}, empty")
            self._write(self._writer(index), (), everything)
        self._record(store, generation, data, None)

    def tidy(self) -> None:
        """Remove what an interrupted command left beside the generation that the index holds."""
        remove_all(self._folder, leftovers(self._folder, [Manifest.required(self._folder).data]), self._written)

    def search(
        self, query: Query, *, in_context: bool, backbone: str, depth: int, kinds: Sequence[str] | None = None
    ) -> list[Scored]:
        """Return at most `depth` units of the backbone that share a word with the query and pass its filters.

        With `kinds`, only units of these count.
        """
        return self.opened()(query, in_context=in_context, backbone=backbone, depth=depth, kinds=kinds)

    def opened(self) -> Callable[..., list[Scored]]:
        """Open the current generation, and return `search` over it, for several searches."""
        return partial(self._search, self._searcher())

    def _search(
        self,
        searcher: tantivy.Searcher,
        query: Query,
        *,
        in_context: bool,
        backbone: str,
        depth: int,
        kinds: Sequence[str] | None = None,
    ) -> list[Scored]:
        filters = self._filters(query)
        if kinds is not None:
            filters.append((tantivy.Occur.Must, self._any_of("kind", kinds)))
        with self._translating():
            if not searcher.num_docs:
                return []
            spoken = [name for name, _ in searcher.terms_with_prefix("language", "")]
            terms = self._terms_query(encodable(query.text), "context" if in_context else "text", spoken)
            if terms is None:
                return []
            if [name for name, _ in searcher.terms_with_prefix("backbone", "")] != [backbone]:
                filters.append((tantivy.Occur.Must, self._any_of("backbone", [backbone])))
            if filters:  # without any, tantivy skips whole blocks of units that cannot be among the best
                scoreless = tantivy.Query.const_score_query(tantivy.Query.boolean_query(filters), 0.0)
                terms = tantivy.Query.boolean_query([(tantivy.Occur.Must, terms), (tantivy.Occur.Must, scoreless)])
            # tantivy allocates memory for the whole depth, and aborts the process if that fails
            found = searcher.search(terms, min(depth, searcher.num_docs), count=False).hits
            scored = [Scored(str(searcher.doc(address)["unit"][0]), float(score)) for score, address in found]
        return sorted(scored, key=lambda hit: (-hit.score, hit.unit))

    def units(self) -> list[str]:
        """Return the ids of all units in the index, an id as often as it is there."""
        searcher = self._searcher()
        with self._translating():
            if not searcher.num_docs:
                return []
            found = searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits
            return sorted(str(searcher.doc(address)["unit"][0]) for _, address in found)

    def _terms_query(self, text: str, field: str, spoken: Sequence[str]) -> tantivy.Query | None:
        """Return the query for any of the text's words, any of its pairs of unspaced letters, any of its emoji.

        The words are looked for as English, and as each of the other languages that are `spoken` in the index.
        """
        words, grams = asked(text)
        terms = [*((field, word) for word in words), *((f"{field}_grams", gram) for gram in grams)]
        terms += [(f"{field}_wholes", whole) for whole in wholes(text)]
        terms += [(f"{field}_{language}", word) for language in spoken for word in asked_in(text, language)]
        should = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, name, term, "freq"))
            for name, term in dict.fromkeys(terms)
        ]
        return tantivy.Query.boolean_query(should) if should else None

    def _any_of(self, field: str, values: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.term_set_query(self._schema, field, [encodable(value) for value in values])

    def _filters(self, query: Query) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """Return the clauses for a query's conversations, speakers and times."""
        must = tantivy.Occur.Must
        filters: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for field, values in (("conversation", query.conversations), ("speaker", query.speakers)):
            if values is not None:
                filters.append((must, self._any_of(field, values)))
        if query.without:
            filters.append((tantivy.Occur.MustNot, self._any_of("speaker", query.without)))
            filters.append((must, tantivy.Query.all_query()))  # what must not match is taken from something
        span = Span.between(query.since, query.until)
        if span.since is not None:
            filters.append((must, self._time_filter(span.since, is_lower=True)))
        if span.until is not None:
            filters.append((must, self._time_filter(span.until, is_lower=False)))
        return filters

    def _time_filter(self, moment: Moment, *, is_lower: bool) -> tantivy.Query:
        """Return the clause for units from or until a moment, by instant, or by clock if they have no offset."""
        by_clock = self._range("clock", moment.clock, is_lower=is_lower)
        if moment.instant is None:
            return by_clock
        occur = tantivy.Occur
        has_no_offset = tantivy.Query.boolean_query(
            [(occur.Must, by_clock), (occur.MustNot, tantivy.Query.exists_query("instant"))]
        )
        by_instant = self._range("instant", moment.instant, is_lower=is_lower)
        return tantivy.Query.boolean_query([(occur.Should, by_instant), (occur.Should, has_no_offset)])

    def _range(self, field: str, bound: int, *, is_lower: bool) -> tantivy.Query:
        lower, upper = (bound, None) if is_lower else (None, bound)
        return tantivy.Query.range_query(self._schema, field, tantivy.FieldType.Integer, lower, upper)

    def _searcher(self) -> tantivy.Searcher:
        """Open the current generation; try again if a rebuild removes it meanwhile."""
        while True:
            manifest = Manifest.required(self._folder)
            try:
                with self._translating():
                    return self._read(self._folder / manifest.data)
            except StoreError:
                if Manifest.from_file(self._folder) == manifest:
                    raise

    def _read(self, data: Path) -> tantivy.Searcher:
        """Open the index for searching, through links in a temporary folder if its own cannot be locked."""
        try:
            return self._open(data).searcher()
        except ValueError as error:
            if "Lockfile" not in str(error) or not any(mark in str(error) for mark in (*_REFUSED, *_FULL)):
                raise
        # tantivy locks a folder before it reads; if it may not, it gets a folder with links to the files
        with reporting(data), TemporaryDirectory(prefix="goalmem-") as folder:
            for path in data.iterdir():
                if path.suffix != ".lock":
                    (Path(folder) / path.name).symlink_to(path.absolute())
            return self._open(Path(folder)).searcher()

    def _is_whole(self, manifest: Manifest) -> bool:
        """Return whether each file exists with its recorded size; tantivy's small lists are compared by content."""
        data = self._folder / manifest.data
        with reporting(data):
            sizes = {path.name: path.stat().st_size for path in data.iterdir()} if data.is_dir() else {}
        return all(sizes.get(name) == size for name, (size, _) in manifest.files.items()) and all(
            content_of(data / name) == manifest.files.get(name) for name in _LISTS
        )

    def _open(self, data: Path) -> tantivy.Index:
        return self._registered(tantivy.Index.open(str(data)))

    def _registered(self, index: tantivy.Index) -> tantivy.Index:
        """Return the index with our analyzers, which tantivy does not keep on disk."""
        index.register_tokenizer(_WORDS, words_analyzer())
        for language in STEMMED:
            index.register_tokenizer(f"{_WORDS}_{language}", words_analyzer(language))
        index.register_tokenizer(_GRAMS, grams_analyzer())
        return index

    def _write(self, writer: tantivy.IndexWriter, gone: Sequence[str], put: Iterable[Indexed]) -> None:
        """Delete, add and commit, and wait until tantivy has merged its segments."""
        try:
            for unit in gone:
                writer.delete_documents_by_term("unit", unit)
            for indexed in put:
                writer.add_document(self._document(indexed))
            writer.commit()
        except BaseException:
            with suppress(ValueError):  # waiting releases the lock; the error that matters is being raised
                writer.wait_merging_threads()
            raise
        self._written(f"{self._folder.name}, committed")
        writer.wait_merging_threads()
        self._written(f"{self._folder.name}, merged")

    def _record(self, store: str, generation: int, data: str, earlier: Manifest | None) -> None:
        """Write the manifest for the present files, and then remove files that it no longer names."""
        known = {} if earlier is None else {name: of for name, of in earlier.files.items() if name not in _LISTS}
        files = {}
        with reporting(self._folder):
            for path in sorted((self._folder / data).iterdir()):
                # every file but the lists is written only once, so its known hash stays valid
                content = known.get(path.name) or content_of(path)
                if content is not None and path.suffix != ".lock":
                    files[path.name] = content
        Manifest(SCHEMA, store, generation, data, files=files).write(self._folder, self._written)
        remove_all(self._folder, leftovers(self._folder, [data]), self._written)

    def _kept(self) -> list[str]:
        manifest = Manifest.from_file(self._folder)
        return [] if manifest is None else [manifest.data]

    def _document(self, indexed: Indexed) -> tantivy.Document:
        """Return a unit as a document of the index, with its words and times."""
        entry, unit = indexed.entry, indexed.entry.unit
        document = tantivy.Document(
            unit=unit.id, backbone=unit.backbone, kind=unit.kind, conversation=unit.conversation, speaker=unit.speaker
        )
        language = indexed.language if indexed.language in STEMMED else ""
        if language:
            document.add_text("language", language)
        for name, text in (("text", entry.text), ("context", entry.context)):
            document.add_text(f"{name}_{language}" if language else name, to_words(text, language))
            document.add_text(f"{name}_grams", " ".join(folding.runs(folding.fold(text))))
            for whole in wholes(text):
                document.add_text(f"{name}_wholes", whole)
        if unit.said is not None:
            moment = Moment.from_datetime(unit.said)
            document.add_integer("clock", moment.clock)
            if moment.instant is not None:
                document.add_integer("instant", moment.instant)
        return document

    def _writer(self, index: tantivy.Index) -> tantivy.IndexWriter:
        """Return the index's writer, waiting for another process; raises StoreLocked after `patience` seconds."""
        deadline = time.monotonic() + self._patience
        has_announced = False
        while True:
            try:
                return index.writer(_WRITER_BYTES, num_threads=1)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    raise
                if time.monotonic() >= deadline:
                    raise StoreLocked(
                        f"{self._folder} is being written by another process", "try again later"
                    ) from error
            if not has_announced:
                self._announce(f"waiting: {self._folder} is being written by another process")
                has_announced = True
            time.sleep(_POLL_SECONDS)

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turn tantivy's errors, and its panics, into the store's."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, ValueError) and type(error).__name__ != _PANIC:
                raise
            reason = " ".join(str(error).split())
            if any(mark in reason for mark in (*_REFUSED, *_FULL, *_STOPPED)):
                raise StoreError(f"{self._folder}: {reason[:200]}", HINT_REFUSED) from error
            raise StoreDamaged(f"{self._folder} cannot be used: {reason[:200]}", HINT_DERIVED) from error
