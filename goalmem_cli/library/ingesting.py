"""Read files into a memory, one after another, for `goalmem ingest` and for `Memory.ingest`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from goalmem_cli.config import command_for
from goalmem_cli.errors import InputError, NoMessages, UnclearDates, UnknownFormat, UnlikelyChat, UsageError
from goalmem_cli.library.finding import Seen, found_at
from goalmem_cli.library.forgetting import EXPORT, Sieve, marks_in
from goalmem_cli.library.hearing import Hears
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.library.languages import checked_code
from goalmem_cli.library.redacting import Redactor
from goalmem_cli.library.reports import FileReport, Ingested
from goalmem_cli.library.zones import Zone
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import Added
    from goalmem_cli.records import Conversation, Turn
    from goalmem_cli.transcripts import Found, Order, Place, Source

NAMED = 10
"""How many items of a long list are named."""
_SUGGESTED = 3
_BEARABLE = 0.02
"""The share of a file's messages that may be unreadable before that is an error."""


@dataclass(frozen=True, slots=True)
class Told:
    """The options of a reading, which hold for all its files.

    `conversation` is the one that standard input continues. Unknown `columns` are a `UsageError`. With `is_strict`, one
    unreadable record refuses a file. Forgotten turns are left out, unless it `restores_forgotten` turns. With
    `takes_forgotten`, the marks of exported memories are imported. It `redacts` secrets. With `apart`, files are not
    joined with stored conversations that they overlap with. Times that are given only in UTC are of the zone
    `timezone`; None means the machine's. `language` is that of the conversations, "" to find it. With `calls`, logs of
    coding agents are read with the calls of tools, and secrets are redacted. Commands in notes are for the `store`, as
    it is typed; None leaves it out.
    """

    form: str | None = None
    order: Order | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    is_strict: bool = False
    conversation: str | None = None
    restores_forgotten: bool = False
    takes_forgotten: bool = False
    redacts: bool = False
    apart: bool = False
    timezone: str | None = None
    language: str = ""
    calls: bool = False
    store: str | None = None

    def __post_init__(self) -> None:
        if not are_columns(self.columns):
            from goalmem_cli.transcripts import COLUMNS

            given, known = dict(self.columns), ", ".join(COLUMNS)
            raise UsageError(f"columns: {given} is not understood", f"give the name of a column for {known}")
        if self.language:
            object.__setattr__(self, "language", checked_code(self.language))


def are_columns(columns: Mapping[str, str]) -> bool:
    """Return whether every key is a known field of a table, and no value is empty."""
    from goalmem_cli.transcripts import COLUMNS

    return set(columns) <= set(COLUMNS) and all(columns.values())


class Take(Protocol):
    """Takes conversations, and reports each when it is stored."""

    def __call__(self, conversations: Iterable[Conversation], *, report: Callable[[Added], None]) -> object:
        """Take all conversations; an `InputError` refuses the last one that was given."""
        ...


class Reading:
    """Reads files one after another into a store; a bad file does not stop the rest.

    The steps are `find`, `read` and `finish`, so that a client can show something between them. `read_all` does all.

    The store takes conversations in batches, so reports are matched to files by their order.
    """

    def __init__(self, told: Told, hears: Hears) -> None:
        """Start with the options and the callbacks of the reading.

        Raises:
            UsageError: the time zone is unknown.
        """
        self._told = told
        self._hears = hears
        self._is_dry = False
        self._orders: dict[Place, Order] = {}
        self._forms: dict[Place, str] = {}
        self._unclear: list[tuple[Found, FileReport, UnclearDates | UnlikelyChat]] = []
        self._under_way: deque[tuple[FileReport, bool, Conversation]] = deque()
        self._refused: set[str] = set()
        self._files: list[Found] = []
        self._passed_over: set[Place] = set()
        self._sieve = Sieve(restores=told.restores_forgotten, takes=told.takes_forgotten)
        self._redactor = Redactor(redacts=told.redacts or told.calls, note=hears.note)
        self._zone = Zone.named(told.timezone)
        self._people: list[object] = []
        self._goals: list[object] = []
        self._grown: dict[str, list[Turn]] = {}
        self._held = 0
        self.reports: list[FileReport] = []
        self.errors: list[InputError] = []

    @property
    def takes_out(self) -> bool:
        """Whether stored turns with secrets may be deleted before they are stored again without them."""
        return self._redactor.takes_out

    def find(self, paths: Iterable[Path], sources: Iterable[str], seen: Seen | None = None) -> None:
        """Find the files to read; with `seen`, unchanged files are left out, and the others are noted in it.

        Raises:
            UsageError: a source is unknown, or the format belongs to a plug-in that cannot be used.
        """
        self._files, errors = found_at(paths, sources, self._told.form, seen)
        self._hear(errors)

    def read(self, memory: KeptMemory, *, is_dry: bool) -> None:
        """Store the conversations of the files; with `is_dry`, only preview them.

        Questions about files are asked after all else is stored and the store is unlocked, as a user may take long.

        Raises:
            UsageError: the format is unknown.
            StoreError: the memory cannot be written.
        """
        self._is_dry = is_dry
        known = KnownMemory(memory, is_dry=is_dry)
        self._sieve.take(known)
        self._redactor.take(known)
        self.hand_on(memory.preview_all if is_dry else memory.add_all)
        if count := self._redactor.taken_out:
            turns = "1 stored turn" if count == 1 else f"{count} stored turns"
            what = f"{turns} with secrets, and the kept proofs that quote them"
            self._hears.note(f"{'would be ' if is_dry else ''}replaced: {what}; this cannot be undone")
        if not is_dry:
            if ended := self._sieve.settle():
                self._hears.note(f"--always ended for {ended} of the conversations and speakers that were stored again")
            self._take_over(memory)
        self._tell_of_numbers(memory)

    def _take_over(self, memory: KeptMemory) -> None:
        """Import notes on people and kept goals of exported stores, except on people and under names that are here."""
        from goalmem_cli.library import people
        from goalmem_cli.library.goals import adopting

        noted, goals, self._people, self._goals = self._people, self._goals, [], []
        if noted and (taken := people.adopt(memory, noted)):
            self._hears.note(f"taken over from exports: who {taken} {'person is' if taken == 1 else 'people are'}")
        taken, malformed = adopting.adopt(memory, goals, redacts=self._told.redacts) if goals else (0, 0)
        if taken:
            self._hears.note(f"taken over from exports: {taken} {'goal' if taken == 1 else 'goals'}")
        if malformed:
            self._hears.note(f"left out of exports: {malformed} malformed {'goal' if malformed == 1 else 'goals'}")

    def _tell_of_numbers(self, memory: KeptMemory) -> None:
        """Suggest whose telephone number a speaker in the new turns may be."""
        from goalmem_cli.library.alike import numbers_of

        for each in numbers_of(memory, self._grown)[:_SUGGESTED]:
            rooms = " and ".join(each.rooms)
            store = self._told.store
            join = command_for(store, "stores", "join", names=each.rooms)
            more = f"`{command_for(store, 'people')}` says more" + (
                f"; `{join}` joins {rooms} if they are one chat" if rooms else ""
            )
            self._hears.note(f"{each.one} and {each.other} may be one person ({each.reason}): {more}")
        self._grown.clear()
        self._held = 0

    def hand_on(self, take: Take) -> None:
        """Pass the conversations of the files to `take`, one at a time; raises UsageError if the format is unknown."""
        with self._hears.shown():
            self._pour(self._files, take)
        settled = self._settled()
        with self._hears.shown():
            self._pour(settled, take)

    def finish(self) -> None:
        """Report the files with too many unreadable records, and the folders without transcripts."""
        from goalmem_cli.transcripts import folders_without_transcripts

        self._hear(lost for report in self.taken() if (lost := _lost(report)) is not None)
        self._hear(folders_without_transcripts(self._files, self._passed_over))

    def _hear(self, errors: Iterable[InputError]) -> None:
        for error in errors:
            self.errors.append(error)
            self._hears.refused(error)

    def _pour(self, files: list[Found], take: Take) -> None:
        """Pass the files' conversations to `take`; after one that cannot be stored, note its error and go on."""
        stream = self._redactor.settled(self._conversations(files))
        is_done = False
        while not is_done:
            try:
                take(stream, report=self._take)
                is_done = True
            except InputError as error:  # the conversation was read, but cannot be stored
                report, *_ = self._under_way.popleft()
                place = f"conversation {error.path}, {error.place}"  # the store knows conversations, not files
                self._refuse(report, InputError(report.path, place, error.reason, error.hint))

    def _settled(self) -> list[Found]:
        """Ask about each unclear file, and return those that can be read now.

        The others are refused. So is standard input, which cannot be read twice.
        """
        unclear, self._unclear = self._unclear, []
        for one, report, error in unclear:
            if str(one.place) != STANDARD_INPUT and self._is_settled(one.place, error):
                self.reports.remove(report)
            else:
                self._refuse(report, error)
        return [one for one, _, _ in unclear if one.place in self._orders or one.place in self._forms]

    def _is_settled(self, place: Place, error: UnclearDates | UnlikelyChat) -> bool:
        """Ask for the order of the file's dates, or whether it is a chat; return whether there is an answer."""
        from goalmem_cli.transcripts import Order

        if isinstance(error, UnlikelyChat):
            if self._hears.is_chat(place):
                self._forms[place] = error.format
            return place in self._forms
        likely = next(reversed(self._orders.values()), Order.DAY_FIRST)
        order = self._hears.order_of(place, error.example, likely)
        if order is not None:
            self._orders[place] = order
        return order is not None

    def taken(self) -> list[FileReport]:
        """Return the reports of the files, without those from which an error let nothing be stored."""
        return [report for report in self.reports if report.turns or report.path not in self._refused]

    def _conversations(self, files: list[Found]) -> Iterator[Conversation]:
        """Yield the conversations of the files, and keep a report for each file."""
        sizes = [_size_of(one.place) for one in files]
        for number, one in enumerate(files):
            report = FileReport(str(one.place))
            self.reports.append(report)
            try:
                if one.others:
                    self._hears.note(f"{one.searched}: passed over in it: {few(list(one.others))}")
                if one.problem is not None:
                    raise one.problem
                reach = partial(self._hears.reached, one.path.name)
                with self._source(one, report, reach, sum(sizes[:number]), sum(sizes)) as source:
                    source.order, source.columns = self._orders.get(one.place, self._told.order), self._told.columns
                    source.calls = self._told.calls
                    form = self._forms.get(one.place, self._told.form)
                    self._check_whole(source, form)
                    yield from self._sifted(self._read(source, form, report), report)
                    report.missed = source.missed
                    self._hear_marks(source, report)
            except (UnknownFormat, NoMessages) as error:
                if one.is_named and isinstance(error, UnlikelyChat):
                    self._unclear.append((one, report, error))
                elif one.is_named or (isinstance(error, NoMessages) and not one.is_kept):
                    self._refuse(report, error)
                else:
                    self._refused.add(report.path)
                    self._passed_over.add(one.place)
                    self._hears.note(f"{one.place}: passed over, {error.reason}")
            except UnclearDates as error:
                self._unclear.append((one, report, error))
            except UsageError:
                self.reports.remove(report)
                raise
            except InputError as error:
                self._refuse(report, error)

    def _read(self, source: Source, form: str | None, report: FileReport) -> Iterator[Conversation]:
        """Yield the conversations of a file, named, with time zones, and redacted."""
        from goalmem_cli.transcripts import conversations_in, summed

        for conversation in conversations_in(source, form):
            report.format = conversation.format
            self._people += conversation.people
            self._goals += conversation.goals
            report.notes = summed((*report.notes, *conversation.notes))
            told = replace(conversation, file=place_of(report.path), is_apart=self._told.apart)
            named = self._named(replace(told, language=self._told.language or told.language), report)
            kept, blacked_out, left = self._redactor.redacted(self._zone.told(named))
            report.redacted += blacked_out
            report.secrets += left
            yield kept

    def _sifted(self, conversations: Iterable[Conversation], report: FileReport) -> Iterator[Conversation]:
        """Yield the conversations of a file without forgotten turns; those that become empty are only counted."""
        for sifted in self._sieve.sifted(conversations):
            report.forgotten += sifted.known
            report.turns += len(sifted.left_out)
            if sifted.kept is None:
                report.conversations += sifted.is_another
            else:
                self._under_way.append((report, sifted.is_another, sifted.kept))
                yield sifted.kept

    def _hear_marks(self, source: Source, report: FileReport) -> None:
        """Read the marks of forgotten turns, which only an exported memory has."""
        if source.forgotten is not None:
            report.format = report.format or EXPORT
            report.marked = self._sieve.hear(source.forgotten)

    def _check_whole(self, source: Source, form: str | None) -> None:
        """Read a file to its end first if `is_strict`, so that nothing of a bad file is stored.

        Raises:
            InputError: a record cannot be read, or too many are missing.
        """
        from goalmem_cli.transcripts import conversations_in

        if self._told.is_strict:
            turns = sum(len(found.turns) for found in conversations_in(source, form))
            if len(source.missed) > _BEARABLE * (turns + len(source.missed)):
                raise source.missed[0]
            source.missed.clear()
            if source.forgotten is not None:
                marks_in(source.forgotten)

    def _named(self, conversation: Conversation, report: FileReport) -> Conversation:
        """Return the conversation; one from standard input gets the name of `Told.conversation`, if given.

        Raises:
            InputError: standard input holds a second conversation.
        """
        if self._told.conversation is None or report.path != STANDARD_INPUT:
            return conversation
        begun = report.conversations + sum(one is report for one, *_ in self._under_way)
        if begun and not conversation.continues:
            reason = "it holds several conversations, and --conversation names one"
            raise InputError(STANDARD_INPUT, "its second conversation", reason, "give one conversation at a time")
        return replace(conversation, name=self._told.conversation, is_named=True)

    @contextmanager
    def _source(
        self, one: Found, report: FileReport, reach: Callable[[int, int], None], before: int, total: int
    ) -> Iterator[Source]:
        """Yield the source of a file or of standard input, with its progress."""
        from goalmem_cli.transcripts import Source, refuse

        skip = refuse if self._told.is_strict else report.skipped.append

        def reached(read: int) -> None:
            reach(before + read, total)

        reached(0)
        if report.path != STANDARD_INPUT:
            yield Source.from_path(one.place, reached, skip=skip)
            return
        with self._hears.standard_input() as opened:
            yield Source(STANDARD_INPUT, opened, reached, skip=skip)

    def _take(self, added: Added) -> None:
        """Add the result of storing a conversation to its file's report."""
        report, is_another, said = self._under_way.popleft()
        report.conversations += is_another
        report.turns += added.turns
        report.new_turns += added.new_turns
        if added.new_turns:
            self._grow(added.conversation, said.turns if self._is_dry else ())
        report.replaced += added.replaced
        if not is_another and added.new_turns < added.turns:  # a later part of a long file shares turns
            report.overlaps = [
                one for one in report.overlaps if not (one.by_title and one.conversation == added.conversation)
            ]
        has_note = added.beside or added.is_joined or added.by_title or added.copied or added.called
        report.overlaps += [added] if has_note else []

    def _grow(self, name: str, turns: tuple[Turn, ...]) -> None:
        """Note that a conversation grew; in a dry run keep its new turns, up to the number that can be compared."""
        from goalmem_cli.library.alike import MOST_COMPARED

        grown = self._grown.setdefault(name, [])
        if self._held <= MOST_COMPARED:
            grown += turns
            self._held += len(turns)

    def _refuse(self, report: FileReport, error: InputError) -> None:
        self._refused.add(report.path)
        self._hear([error])


def read_all(
    paths: Iterable[Path], sources: Iterable[str], memory: KeptMemory, told: Told, hears: Hears, *, is_dry: bool
) -> list[Ingested]:
    """Read all files into the memory and return a record for each, first those that were read.

    Raises:
        UsageError: a source, format or time zone is unknown.
        StoreError: the memory cannot be written.
    """
    reading = Reading(told, hears)
    reading.find(paths, sources)
    reading.read(memory, is_dry=is_dry)
    reading.finish()
    first: dict[str, InputError] = {}
    for error in reading.errors:
        first.setdefault(error.path, error)
    done = [report.ingested(first.pop(report.path, None)) for report in reading.taken()]
    return [*done, *(Ingested(path, error=error) for path, error in first.items())]


def _lost(report: FileReport) -> InputError | None:
    """Return the error of a file with too many unreadable records, else None; the others are stored."""
    lost = len(report.skipped) + len(report.missed)
    all_ = lost + report.turns
    if not report.turns or lost <= _BEARABLE * all_:
        return None
    reason = f"{lost} of {all_} messages or records were not understood; the others are stored"
    return InputError(
        report.path, "", reason, "see the first of them above; --strict-input stores nothing of such a file"
    )


def few(labels: list[str]) -> str:
    """Return the first of the labels, and how many more there are."""
    more = len(labels) - NAMED
    return ", ".join(labels[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _size_of(path: Place) -> int:
    """Return the size of a file in bytes, 0 if it is unknown."""
    return path.stat().st_size if isinstance(path, Path) and path.is_file() else 0


def place_of(path: str) -> str:
    """Return the absolute path of the file, by which a conversation recognises it again."""
    return path if path == STANDARD_INPUT else str(Path(path).resolve())
