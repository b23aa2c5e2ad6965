"""The folder `traces/`: one JSON file for each question, independent of the database."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreDamaged, StoreError, UsageError
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import Written, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import make_private, remove_leftovers

if TYPE_CHECKING:
    from goalmem_cli.trace import Fact, Trace

_ID = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{6}")
_PREFIX = re.compile(r"[0-9a-f-]+")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def place_key(conversation: str, label: str = "") -> str:
    """Return the key of a conversation, or of a turn by its label, for `TraceFolder.about`."""
    return content_hash("place", conversation, label)


def evidence_of(trace: Trace) -> tuple[Fact, ...]:
    """Return the facts that the answer rests on."""
    return tuple(trace.facts[each] for each in trace.evidence if each in trace.facts)


def shown_by(trace: Trace) -> list[Fact]:
    """Return all facts that a trace shows: its own, and the later ones that change them."""
    facts = list(trace.facts.values())
    return facts + [fact.moved_on for fact in facts if fact.moved_on is not None]


def bare(trace: Trace) -> Trace:
    """Return the trace without prompts and replies."""
    return replace(trace, exchanges=())


def without_neighbours(fact: Fact) -> Fact:
    """Return the fact without the turns around it, which have no ids by which it could be seen that they are gone."""
    later = fact.moved_on
    return replace(fact, before=(), after=(), moved_on=None if later is None else without_neighbours(later))


def is_about(facts: Iterable[Fact], question: str, keys: Set[str], staying: Set[str] = frozenset()) -> bool:
    """Say whether the question or a fact is, quotes or belongs to something that a key names.

    A fact whose unit is among those `staying` in the memory is not forgotten if only its text has a key: somebody else
    said the same.
    """
    shown = {content_hash(question)}
    for fact in facts:
        texts = [text for _, text in (*fact.before, *fact.after)]
        if fact.unit not in staying:
            texts.append(fact.text)
        shown |= {fact.unit, place_key(fact.conversation), *map(content_hash, texts)}
        shown.update(place_key(fact.conversation, label) for label in fact.turns)
    return not keys.isdisjoint(shown)


class TraceFolder:
    """Saved traces under ids that sort by the time of saving: date, time (UTC), microseconds, and a hash.

    Every method raises StoreError if the system refuses.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = _utc_now, written: Written = unwatched) -> None:
        self.path = path
        self._now = now
        self._written = written

    def save(self, trace: Trace) -> str:
        """Write the trace and return its id."""
        content = _content(trace)
        moment = self._now().astimezone(UTC)
        id_ = f"{moment:%Y%m%d-%H%M%S-%f}-{content_hash(content.decode())[:6]}"
        make_private(self.path)
        replace_file(self._file(id_), content, self._written)
        return id_

    def ids(self) -> list[str]:
        """Return the ids of all saved traces, oldest first."""
        with reporting(self.path):
            names = [path.stem for path in self.path.iterdir()] if self.path.is_dir() else []
        return sorted(name for name in names if _ID.fullmatch(name))

    def load(self, prefix: str) -> Trace:
        """Return the only trace whose id begins with `prefix`.

        Raises:
            UsageError: no id, or more than one, begins with it.
            StoreDamaged: this goalmem cannot read the file.
        """
        found = [id_ for id_ in self.ids() if id_.startswith(prefix)] if _PREFIX.fullmatch(prefix) else []
        if len(found) != 1:
            what = f"{len(found)} traces begin with" if found else "there is no trace"
            raise UsageError(f"{what} {prefix!r}", "`goalmem trace` lists them")
        return self._read(self._file(found[0]))

    def _read(self, path: Path) -> Trace:
        """Return the trace of a file; raises StoreDamaged, or StoreError if there is none."""
        from goalmem_cli.trace import from_document

        try:
            with reporting(path):
                document = json.loads(path.read_bytes())
            if not isinstance(document, dict):
                raise ValueError("not a JSON object")
            return from_document(document)
        except (ValueError, RecursionError) as error:
            raise StoreDamaged(
                f"{path}: {error}", "delete that file, or read it with the goalmem that wrote it"
            ) from error

    def strip(self, id_: str, trace: Trace) -> None:
        """Replace a saved trace by itself without prompts, replies and neighbouring turns."""
        facts = {number: without_neighbours(fact) for number, fact in trace.facts.items()}
        replace_file(self._file(id_), _content(replace(bare(trace), facts=facts)), self._written)

    def about(self, keys: Set[str]) -> list[str]:
        """Return the ids of traces that have a unit whose id is a key, or a text whose hash is a key.

        Unreadable traces are always among them, as their content is unknown.
        """
        return [id_ for id_, trace in self._whole(keys) if trace is None or _is_about(trace, keys)]

    def remove(self, id_: str) -> None:
        """Delete a trace; an id of another form, as an imported goal may have, names none."""
        if not _ID.fullmatch(id_):
            return
        with reporting(self.path):
            self._file(id_).unlink(missing_ok=True)
        self._written(f"trace {id_}, removed")

    def forget(self, keys: Set[str]) -> None:
        """Delete the traces of `about`, the prompts of all others, and what an interrupted `save` left.

        Prompts may show anything.
        """
        remove_leftovers(self.path, "*")
        for id_, trace in self._whole(keys):
            if trace is None or _is_about(trace, keys):
                self.remove(id_)
            elif trace.exchanges:
                replace_file(self._file(id_), _content(bare(trace)), self._written)

    def _whole(self, keys: Set[str]) -> Iterator[tuple[str, Trace | None]]:
        """Yield each trace with its id, None for one that cannot be read; none if there are no keys.

        A trace that another process removes meanwhile is left out.
        """
        for id_ in self.ids() if keys else ():
            try:
                yield id_, self._read(self._file(id_))
            except StoreDamaged:
                yield id_, None
            except StoreError:
                if self._file(id_).exists():
                    raise

    def _file(self, id_: str) -> Path:
        return self.path / f"{id_}.json"


def _is_about(trace: Trace, keys: Set[str]) -> bool:
    return is_about(shown_by(trace), trace.question, keys)


def _content(trace: Trace) -> bytes:
    """Return the trace as a JSON file, one field a line; indenting would take ten times as long."""
    from goalmem_cli.trace import as_document

    fields = (
        f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in as_document(trace).items()
    )
    return ("{\n" + ",\n".join(fields) + "\n}").encode("utf-8", "replace")
