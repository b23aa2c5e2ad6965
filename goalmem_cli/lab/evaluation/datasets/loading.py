"""Read a dataset in any layout: find its files, read the questions, and provide the conversations."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from goalmem_cli.errors import InputError, UnknownFormat, UsageError
from goalmem_cli.lab.evaluation.cases import Case, Dataset
from goalmem_cli.lab.evaluation.datasets import beam, came, complex_tr, locomo, longmemeval, multihop, realtalk, tot
from goalmem_cli.lab.evaluation.datasets.questions import UNTYPED, Repair, ordered
from goalmem_cli.records import STANDARD_INPUT, Conversation, content_hash
from goalmem_cli.transcripts import Found, Source, conversations_in, format_of, transcript_files
from goalmem_cli.transcripts.readers import beam as beam_files
from goalmem_cli.transcripts.readers import came as came_files
from goalmem_cli.transcripts.readers.multihop import BENCHMARKS
from goalmem_cli.transcripts.reading.source import refuse
from goalmem_cli.transcripts.reading.texts import clean, quoted


@dataclass(frozen=True, slots=True)
class Layout:
    """How one benchmark writes its questions; the transcript format of the same name reads its conversations.

    `files` are the conversation's file and the questions' file, if they are separate. With `skips`, unreadable rows are
    left out and reported instead of ending the reading. `prompts` reads the benchmark's own prompt of each question.
    """

    categories: Mapping[str, str]
    read: Callable[[Source, Counter[str]], Iterator[Case]]
    skips: bool = False
    files: tuple[str, str] | None = None
    prompts: Callable[[Source], Iterator[tuple[str, str]]] | None = None


LAYOUTS: Mapping[str, Layout] = {
    "locomo": Layout(locomo.CATEGORIES, locomo.read_cases),
    "longmemeval": Layout(longmemeval.CATEGORIES, longmemeval.read_cases),
    "realtalk": Layout(realtalk.CATEGORIES, realtalk.read_cases),
    "beam": Layout(beam.CATEGORIES, beam.read_cases, files=(beam_files.CHAT, beam_files.QUESTIONS)),
    "came": Layout(came.CATEGORIES, came.read_cases, files=(came_files.TURNS, came_files.QUESTIONS)),
    "tot": Layout(tot.CATEGORIES, tot.read_cases, skips=True, prompts=tot.read_prompts),
    "complex-tr": Layout(complex_tr.CATEGORIES, complex_tr.read_cases, skips=True),
    **{
        each.name: Layout(multihop.CATEGORIES[each.name], partial(multihop.read_cases, each), skips=True)
        for each in BENCHMARKS
    },
}
"""The dataset formats by name; the corpus form is LoCoMo's with gold plans."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file with conversations, its format, and whether it was named or found in a folder."""

    path: Path
    format: str
    is_named: bool

    @property
    def contents(self) -> tuple[Path, ...]:
        """The files of the questions and conversations."""
        files = LAYOUTS[self.format].files
        return (self.path,) if files is None else (self.path, self.path.parent / files[1])


def read_dataset(paths: Sequence[Path], format: str | None = None) -> Dataset:  # noqa: A002
    """Return the questions of the files and folders as one dataset.

    A CAME-Bench trajectory or BEAM chat is named by its folder, or by one of its two files. In other folders, all files
    with a dataset's conversations are used; other files and files without questions are skipped and counted. `format`
    sets the format instead of detecting it.

    Raises:
        InputError: a path does not exist or is not a dataset; formats are mixed; two files have a conversation of the
            same name; a question has another layout; or there are no questions.
        UsageError: there is no dataset format of that name.
    """
    if format is not None and format not in LAYOUTS:
        raise UsageError(f"no dataset's format is called {format!r}", f"formats: {', '.join(LAYOUTS)}")
    repairs: Counter[str] = Counter()
    files = _files(paths, format, repairs)
    cases: dict[Path, list[Case]] = {}
    skipped: list[str] = []  # messages only: an error object would keep its row in memory
    for file in files:
        layout = LAYOUTS[file.format]
        source = Source.from_path(
            file.path, skip=(lambda error: skipped.append(error.message)) if layout.skips else refuse
        )
        found = [_cleaned(case) for case in layout.read(source, repairs)]
        if not found and source.first_skipped is not None:
            raise source.first_skipped
        if not found and file.is_named:
            raise InputError(file.path, "", "holds no questions", "give a file whose conversations have questions")
        if found:
            cases[file.path] = found
        else:
            repairs[Repair.NO_QUESTIONS] += 1
    if not cases:
        raise InputError(paths[0], "", "holds no questions", f"datasets are in the formats {', '.join(LAYOUTS)}")
    kept = [file for file in files if file.path in cases]
    categories = _categories(LAYOUTS[kept[0].format], cases)
    repairs[Repair.UNREADABLE] += len(skipped)
    repairs[Repair.UNTYPED] += sum(case.category == UNTYPED for found in cases.values() for case in found)
    return Dataset(
        name=_name(paths, kept[0].format),
        format=kept[0].format,
        digest=content_hash(*(_digest(path) for file in kept for path in file.contents)),
        cases=tuple(case for file in kept for case in cases[file.path]),
        categories=categories,
        repairs=ordered(repairs),
        conversations=_Conversations(kept[0].format, _holders(cases)),
        skipped=tuple(skipped),
        prompts=None if (read := LAYOUTS[kept[0].format].prompts) is None else partial(_prompts, read, list(cases)),
    )


def _prompts(
    read: Callable[[Source], Iterator[tuple[str, str]]], paths: Sequence[Path], ids: Collection[str]
) -> dict[str, str]:
    """Return the prompts of the cases with these ids, from the files."""
    sources = (Source.from_path(path, skip=_passed_over) for path in paths)
    return {name: prompt for source in sources for name, prompt in read(source) if name in ids}


@dataclass(frozen=True, slots=True)
class _Conversations:
    """Yields a dataset's conversations from their files, which are read again each time."""

    format: str
    holders: Mapping[str, Path]

    def __call__(self, names: Collection[str]) -> Iterator[Conversation]:
        wanted: dict[Path, set[str]] = {}
        for name in names:
            wanted.setdefault(self.holders[name], set()).add(name)
        for path in dict.fromkeys(self.holders.values()):
            if path in wanted:
                yield from self._of(path, wanted[path])

    def _of(self, path: Path, names: Collection[str]) -> Iterator[Conversation]:
        left = set(names)
        skip = _passed_over if LAYOUTS[self.format].skips else refuse
        for stretch in conversations_in(Source.from_path(path, skip=skip), self.format):
            if not left and not stretch.continues:
                return
            if stretch.name in names:
                left.discard(stretch.name)
                yield stretch


def _passed_over(_error: InputError) -> None:
    """Ignore a row that was reported when the questions were read."""


def _categories(layout: Layout, cases: Mapping[Path, Sequence[Case]]) -> dict[str, str]:
    """Return the layout's categories, followed by the question types that it does not know."""
    met = dict.fromkeys(case.category for found in cases.values() for case in found)
    return {**layout.categories, **{code: code for code in met if code not in layout.categories}}


def _files(paths: Sequence[Path], form: str | None, repairs: Counter[str]) -> list[_File]:
    """Return the files with conversations, all of one format.

    Raises:
        InputError: a path does not exist or is not a dataset, or the formats are mixed.
    """
    files: dict[Path, _File] = {}
    passed_over: set[Path] = set()
    for found in transcript_files(paths):
        if str(found.path) == STANDARD_INPUT:
            reason = "a dataset is read more than once, and standard input only once"
            raise InputError(STANDARD_INPUT, "", reason, "save it to a file and name that")
        path, name = _paired(found.path, form) or (found.path, _format(found, form))
        if name in LAYOUTS:
            files.setdefault(path, _File(path, name, found.is_named))
        elif found.is_named:
            reason = f"holds no questions: it is in the format {name}"
            raise InputError(path, "", reason, f"datasets are in the formats {', '.join(LAYOUTS)}")
        elif not _is_labels(path):
            passed_over.add(path)
    repairs[Repair.NO_QUESTIONS] += len(passed_over)
    listed = list(files.values())
    for file in listed:
        if file.format != listed[0].format:
            reason = f"is in the format {file.format}, and {listed[0].path} in the format {listed[0].format}"
            raise InputError(file.path, "", reason, "evaluate datasets of different formats one after another")
    return listed


def _cleaned(case: Case) -> Case:
    """Return the case with its texts cleaned for storage and printing, as the conversations' readers do."""
    return replace(
        case,
        id=clean(case.id),
        conversation=clean(case.conversation),
        question=clean(case.question),
        answer=None if case.answer is None else clean(case.answer),
        answers=tuple(map(clean, case.answers)),
        accepted=tuple(map(clean, case.accepted)),
        nuggets=tuple(map(clean, case.nuggets)),
        adversarial_answer=None if case.adversarial_answer is None else clean(case.adversarial_answer),
        language=clean(case.language),
        asked_in=clean(case.asked_in),
        kind=clean(case.kind),
    )


def _paired(path: Path, form: str | None) -> tuple[Path, str] | None:
    """Return the conversation file and format if this file is one of a pair, else None."""
    for name, layout in LAYOUTS.items():
        if layout.files is None or form not in (None, name):
            continue
        for file in layout.files:
            folder = path.parents[file.count("/")] if path.match(file) else None
            if folder is not None and all((folder / each).is_file() for each in layout.files):
                return folder / layout.files[0], name
    return None


def _is_labels(path: Path) -> bool:
    """Say whether a file holds only the gold labels of a trajectory next to it."""
    return path.name == came_files.LABELS and _paired(path.with_name(came_files.TURNS), "came") is not None


def _format(found: Found, form: str | None) -> str:
    """Return the format of a file, or "" if it was found in a folder and has no known format.

    Raises:
        InputError: the file cannot be read, or was named and has no known format.
    """
    if form is not None:
        is_meant = found.is_named or (LAYOUTS[form].files is None and found.path.suffix.lower() == ".json")
        return form if is_meant else ""
    try:
        return format_of(Source.from_path(found.path))
    except UnknownFormat:
        if found.is_named:
            raise
        return ""


def _holders(cases: Mapping[Path, Sequence[Case]]) -> dict[str, Path]:
    """Return the file of each conversation.

    Raises:
        InputError: two files hold conversations of the same name, or two questions have the same id.
    """
    holders: dict[str, Path] = {}
    ids: set[str] = set()
    for path, members in cases.items():
        for case in members:
            if (other := holders.setdefault(case.conversation, path)) != path:
                reason = f"holds a conversation called {quoted(case.conversation)}, as {other} does"
                raise InputError(path, "", reason, "evaluate the two files one after another")
            if case.id in ids:
                reason = f"two questions are called {quoted(case.id)}"
                raise InputError(path, "", reason, "give each question an id of its own")
            ids.add(case.id)
    return holders


def _name(paths: Sequence[Path], form: str) -> str:
    """Return the dataset's name: of the only path, of the common folder, or of the first path and "+" the others."""
    places = [path.resolve() for path in paths]
    files = LAYOUTS[form].files
    places = [path if files is None or path.is_dir() else _folder_of(path, files) for path in places]
    names = list(dict.fromkeys(path.name if path.is_dir() else path.stem for path in places))
    folders = {path.parent for path in places}
    if len(names) == 1:
        return names[0]
    return folders.pop().name if len(folders) == 1 else f"{names[0]}+{len(names) - 1}"


def _folder_of(path: Path, files: tuple[str, str]) -> Path:
    """Return the folder of a pair of files, given one of them."""
    return path.parents[files[1].count("/")] if path.match(files[1]) else path.parent


def _digest(path: Path) -> str:
    """Return the file's hash; raises InputError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise InputError(
            path, "", f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from error
