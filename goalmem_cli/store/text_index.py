"""The only module that knows tantivy: BM25 over the units' texts.

Words are lower-cased, stripped of accents and stemmed as English, which leaves other languages usable because
queries pass the same steps. Scripts without spaces get fields of their own, of single characters and pairs. Queries
are built from terms, never parsed: no text is an operator.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import tantivy

from goalmem_cli.errors import StoreDamaged, StoreLocked
from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.records import Query, encodable
from goalmem_cli.store.derived import HINT_DERIVED, Indexed, Manifest, unused_name
from goalmem_cli.store.files import reporting
from goalmem_cli.store.passages import UNSPACED_RUN
from goalmem_cli.store.values import Scored

SCHEMA = 1

_WORDS, _GRAMS = "goalmem_words", "goalmem_grams"
_LONGEST_WORD = 200
_WRITER_BYTES = 64_000_000
_POLL_SECONDS = 0.05


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("unit", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("backbone", "conversation", "speaker"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("clock", "instant"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in ("text", "context"):
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="freq")
        builder.add_text_field(f"{name}_grams", tokenizer_name=_GRAMS, index_option="freq")
    return builder.build()


def _words_analyzer() -> tantivy.TextAnalyzer:
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(_LONGEST_WORD))
    return builder.filter(filters.lowercase()).filter(filters.ascii_fold()).filter(filters.stemmer("english")).build()


def _grams_analyzer() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2)).build()


def _grams_text(text: str) -> str:
    return " ".join(UNSPACED_RUN.findall(text))


class TextIndex:
    """The folder `text/`: one tantivy index in a subfolder that the manifest names."""

    def __init__(self, folder: Path, announce: Callable[[str], None], patience: float) -> None:
        self._folder = folder
        self._announce = announce
        self._patience = patience
        self._schema = _schema()
        self._words = _words_analyzer()
        self._grams = _grams_analyzer()

    @property
    def folder(self) -> Path:
        """Where the index lives."""
        return self._folder

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds; None where it has to be rebuilt."""
        manifest = Manifest.from_file(self._folder)
        if manifest is None or (manifest.schema, manifest.store) != (SCHEMA, store):
            return None
        try:
            self._open(manifest).searcher()
        except ValueError:
            return None
        return manifest.generation

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Delete the units `gone` and those in `put`, add `put`, then record the generation. Safe to repeat.

        Raises:
            StoreLocked: another writer kept the index for longer than the patience.
            StoreDamaged: the index cannot be written.
        """
        manifest = self._manifest()
        if gone or put:
            self._write(self._open(manifest), gone, put)
        Manifest(SCHEMA, store, generation, manifest.data).write(self._folder)

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write the index anew beside the old one, then change over by one rename.

        Raises:
            As `apply`.
        """
        with reporting(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            earlier = [path for path in self._folder.iterdir() if path.is_dir()]
            data = unused_name(path.name for path in earlier)
            (self._folder / data).mkdir()
        index = tantivy.Index(self._schema, str(self._folder / data))
        self._write(self._registered(index), (), everything)
        Manifest(SCHEMA, store, generation, data).write(self._folder)
        with reporting(self._folder):
            for path in earlier:
                shutil.rmtree(path, ignore_errors=True)

    def search(self, query: Query, *, in_context: bool, backbone: str, depth: int) -> list[Scored]:
        """Return at most `depth` units of the backbone that share a word with the query and pass its filters.

        Raises:
            StoreDamaged: the index is missing or cannot be read.
        """
        terms = self._terms_query(encodable(query.text), "context" if in_context else "text")
        filters = self._filters(query, backbone)
        if terms is None:
            return []
        scoreless = tantivy.Query.const_score_query(tantivy.Query.boolean_query(filters), 0.0)
        both = tantivy.Query.boolean_query([(tantivy.Occur.Must, terms), (tantivy.Occur.Must, scoreless)])
        with self._translating():
            searcher = self._searcher()
            if not searcher.num_docs:
                return []
            # tantivy sets memory aside for the whole depth, and ends the process where there is none
            found = searcher.search(both, min(depth, searcher.num_docs), count=False).hits
            scored = [Scored(str(searcher.doc(address)["unit"][0]), float(score)) for score, address in found]
        return sorted(scored, key=lambda hit: (-hit.score, hit.unit))

    def units(self) -> list[str]:
        """Return the ids of all units in the index, an id as often as it is there.

        Raises:
            StoreDamaged: the index is missing or cannot be read.
        """
        with self._translating():
            searcher = self._searcher()
            if not searcher.num_docs:
                return []
            found = searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits
            return sorted(str(searcher.doc(address)["unit"][0]) for _, address in found)

    def _terms_query(self, text: str, field: str) -> tantivy.Query | None:
        """Return the query for any of the text's words, or for any of its pairs of unspaced characters."""
        terms = [(field, word) for word in self._words.analyze(text)]
        for run in UNSPACED_RUN.findall(text):
            grams = self._grams.analyze(run)
            terms += [(f"{field}_grams", gram) for gram in grams if len(gram) > 1 or len(run) == 1]
        should = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, name, term, "freq"))
            for name, term in dict.fromkeys(terms)
        ]
        return tantivy.Query.boolean_query(should) if should else None

    def _filters(self, query: Query, backbone: str) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        must, term_set = tantivy.Occur.Must, tantivy.Query.term_set_query
        filters = [(must, term_set(self._schema, "backbone", [backbone]))]
        for field, values in (("conversation", query.conversations), ("speaker", query.speakers)):
            if values is not None:
                filters.append((must, term_set(self._schema, field, [encodable(value) for value in values])))
        span = Span.between(query.since, query.until)
        if span.since is not None:
            filters.append((must, self._time_filter(span.since, is_lower=True)))
        if span.until is not None:
            filters.append((must, self._time_filter(span.until, is_lower=False)))
        return filters

    def _time_filter(self, moment: Moment, *, is_lower: bool) -> tantivy.Query:
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
        """Return the current generation; a rebuild that removes it while it is opened makes this look again."""
        while True:
            manifest = self._manifest()
            try:
                return self._open(manifest).searcher()
            except ValueError:
                if Manifest.from_file(self._folder) == manifest:
                    raise

    def _manifest(self) -> Manifest:
        manifest = Manifest.from_file(self._folder)
        if manifest is None:
            raise StoreDamaged(f"{self._folder} has no readable manifest", HINT_DERIVED)
        return manifest

    def _open(self, manifest: Manifest) -> tantivy.Index:
        return self._registered(tantivy.Index.open(str(self._folder / manifest.data)))

    def _registered(self, index: tantivy.Index) -> tantivy.Index:
        """Return the index with our analyzers, which tantivy does not keep on disk."""
        index.register_tokenizer(_WORDS, self._words)
        index.register_tokenizer(_GRAMS, self._grams)
        return index

    def _write(self, index: tantivy.Index, gone: Sequence[str], put: Iterable[Indexed]) -> None:
        with self._translating():
            writer = self._writer(index)
            for unit in gone:
                writer.delete_documents_by_term("unit", unit)
            for indexed in put:
                writer.delete_documents_by_term("unit", indexed.entry.unit.id)
                writer.add_document(self._document(indexed))
            writer.commit()
            writer.wait_merging_threads()

    def _document(self, indexed: Indexed) -> tantivy.Document:
        entry, unit = indexed.entry, indexed.entry.unit
        document = tantivy.Document(
            unit=unit.id, backbone=unit.backbone, conversation=unit.conversation, speaker=unit.speaker,
            text=entry.text, context=entry.context,
            text_grams=_grams_text(entry.text), context_grams=_grams_text(entry.context),
        )  # fmt: skip
        if unit.said is not None:
            moment = Moment.from_datetime(unit.said)
            document.add_integer("clock", moment.clock)
            if moment.instant is not None:
                document.add_integer("instant", moment.instant)
        return document

    def _writer(self, index: tantivy.Index) -> tantivy.IndexWriter:
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
        try:
            yield
        except ValueError as error:
            raise StoreDamaged(
                f"{self._folder} cannot be used: {' '.join(str(error).split())[:200]}", HINT_DERIVED
            ) from error
