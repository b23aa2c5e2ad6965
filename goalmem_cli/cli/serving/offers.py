"""What the server of `goalmem mcp` does, without the protocol: methods that return JSON values of bounded size."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from goalmem_cli.cli.invocation import Invocation
from goalmem_cli.cli.serving.watching import Watched
from goalmem_cli.cli.typed_times import earliest, latest, stretch
from goalmem_cli.errors import StoreError, UsageError
from goalmem_cli.library.answering import Kind, Terms, local_now, one_line, refuse_empty
from goalmem_cli.library.forgetting import forget
from goalmem_cli.library.memory import Memory
from goalmem_cli.library.people import roster_of, shown_names
from goalmem_cli.library.scope import Names, selected
from goalmem_cli.loading import DeferredModel
from goalmem_cli.memory_records import Forgotten, Selection
from goalmem_cli.store.units import text_with_marks

if TYPE_CHECKING:
    from goalmem_cli.records import Turn
    from goalmem_cli.trace import Trace

NAMES = Names("conversation", "speaker", "asker")

MOST_HITS, MOST_TURNS, MOST_CONVERSATIONS, MOST_SHOWN = 50, 100, 200, 20
"""The most entries of each kind in a result; a result says what was left out."""
MOST_CHARACTERS = 2_000
"""The most characters of a turn's text in a result."""
MOST_PROOF = 20_000
"""The most characters of a drawn proof in a result."""
MOST_TEXT = 200_000
"""The most characters of a conversation in a resource."""
_MOST_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as text for a person, and as JSON."""

    text: str
    document: dict[str, object]


class Offers:
    """The memory of one store, for one client; the model is loaded at the first question and kept.

    Every method raises the same `GoalmemError`s as the command of its name. It answers one question at a time;
    everything else runs in parallel.
    """

    def __init__(self, run: Invocation) -> None:
        self._run = run
        self._model = DeferredModel(partial(run.factories.answering, run.settings))
        self._at_work, self._reading = Lock(), Lock()
        self._under_way: Watched | None = None
        self._changing = Lock()
        self._memory: Memory | None = None
        self._tokens: dict[str, tuple[Selection, Forgotten]] = {}

    def close(self) -> None:
        """Unload the model after its current call."""
        self._model.give_up()
        with self._at_work:
            self._model.close()

    def give_up(self, watched: Watched) -> None:
        """End a question: at once if its model is on a server, else after its current call.

        A waiting question never begins; the one before it goes on.
        """
        watched.abandon()
        with self._changing:
            if self._under_way is watched:
                self._model.give_up()

    def search(
        self,
        query: str,
        k: int = 10,
        conversation: Sequence[str] | None = None,
        speaker: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        last: str | None = None,
    ) -> dict[str, object]:
        """Return the turns that a query finds, best first."""
        from goalmem_cli.render.tables import hits_document

        refuse_empty(query, Kind.QUERY)  # before waiting for another call
        begun, ended = stretch(since, until, last, local_now, "")
        with self._reading:
            found = self._stored().retrieve(
                query,
                min(max(k, 1), MOST_HITS),
                conversations=conversation or None,  # a client writes an empty list for what it leaves out
                speakers=speaker or None,
                since=begun,
                until=ended,
            )
        return {"hits": [_cut(hit) for hit in hits_document(found.hits)], "left_out_without_time": found.left_out}

    def ask(
        self,
        question: str,
        conversation: Sequence[str] | None,
        asker: str | None,
        as_of: str | None,
        wants_all: bool,
        watched: Watched,
        since: str | None = None,
        until: str | None = None,
        last: str | None = None,
    ) -> Answered:
        """Return the answer with its proof, or what failed. `watched` observes each step, and can end the work.

        Raises:
            Abandoned: the client cancelled the question.
        """
        refuse_empty(question, Kind.QUESTION)  # before waiting for another one
        hidden = None if as_of is None else latest(as_of, "as_of")
        begun, ended = stretch(since, until, last, lambda: hidden or local_now(), "")
        with self._working(watched):
            memory = self._opened()
            trace = memory.ask(
                question,
                conversations=conversation or None,
                asker=asker,
                as_of=hidden,
                since=begun,
                until=ended,
                wants_all=wants_all,
                observer=watched,
            )
            return answered(trace, memory.last_trace, self._run.command("trace", "show"))

    @contextmanager
    def _working(self, watched: Watched) -> Iterator[None]:
        """Wait for the previous question, then hold the turn.

        Raises:
            Abandoned: the question was cancelled meanwhile.
        """
        with self._at_work:
            with self._changing:
                watched.go_on()
                self._under_way = watched
            try:
                yield
            finally:
                with self._changing:
                    self._under_way = None

    def conversations(self, after: str = "") -> dict[str, object]:
        """Return the stored conversations whose names sort after `after`."""
        with self._reading:
            memory = self._stored()
            everything = memory.conversations()
            roster = roster_of(memory.kept, everything)
        stored = [each for each in everything if each.name > after]
        shown = [
            {
                "name": each.name,
                "format": each.format,
                "turns": each.turns,
                "speakers": list(dict.fromkeys(roster.shown(speaker.voice) for speaker in each.speakers))[:MOST_HITS],
                "first_said": None if each.first_said is None else each.first_said.isoformat(),
                "last_said": None if each.last_said is None else each.last_said.isoformat(),
            }
            for each in stored[:MOST_CONVERSATIONS]
        ]
        return {"conversations": shown, "left_out": len(stored) - len(shown)}

    def people(self, after: str = "") -> dict[str, object]:
        """Return the people whose names sort after `after`."""
        with self._reading:
            found = [each for each in self._stored().people() if not after or each.name.casefold() > after.casefold()]
        shown = [
            {
                "name": each.name,
                "names": list(each.names[:MOST_HITS]),
                "ids": list(each.ids[:MOST_HITS]),
                "conversations": list(each.conversations[:MOST_HITS]),
                "turns": each.turns,
            }
            for each in found[:MOST_CONVERSATIONS]
        ]
        return {"people": shown, "left_out": len(found) - len(shown)}

    def turns(self, conversation: str, turn: str | None = None, count: int = 20) -> dict[str, object]:
        """Return the turns around a turn (named as in hits), else those from the beginning."""
        found = self._turns_of(conversation)
        place = 0
        if turn is not None:
            places = [number for number, each in enumerate(found) if turn in (each.own_id, each.id)]
            if not places:
                raise UsageError(f"{conversation} has no turn {turn!r}", "use an id from the hits of a search")
            place = places[0]
        count = min(max(count, 1), MOST_TURNS)
        begin = 0 if turn is None else max(0, min(place - count // 2, len(found) - count))
        shown = found[begin : begin + count]
        name = shown_names(self._stored().kept, shown)
        return {
            "conversation": shown[0].conversation if shown else conversation,
            "turns": [_of_turn(each, name(each)) for each in shown],
            "before": begin,
            "after": len(found) - begin - len(shown),
        }

    def transcript(self, conversation: str) -> str:
        """Return a conversation as lines of text, up to the size of a resource."""
        lines: list[str] = []
        room, turns = MOST_TEXT, self._turns_of(conversation)
        name = shown_names(self._stored().kept, turns)
        for turn in turns:
            said = "time unknown" if turn.local is None else turn.local.isoformat(sep=" ", timespec="minutes")
            text = "\n    ".join(
                text_with_marks(turn).splitlines()
            )  # no line of a turn looks like the beginning of another
            line = f"[{said}] {one_line(name(turn))}: {text}"
            room -= len(line) + 1
            if room < 0:
                lines.append(f"({len(turns) - len(lines)} more turns; the tool `turns` shows them)")
                break
            lines.append(line)
        return "\n".join(lines)

    def remember(self, text: str, speaker: str | None = None) -> dict[str, object]:
        """Store what was said as the next turn of the conversation `goalmem`."""
        refuse_empty(text, Kind.STATEMENT)  # before waiting for a question under way
        with self._at_work, self._reading:
            memory = self._opened()
            turn = memory.remember(text, asker=speaker)
            told = {"conversation": turn.conversation, "turn": turn.label, "speaker": turn.speaker}
            return told | _touched(memory)

    def goals(self) -> dict[str, object]:
        """Return the kept goals, each with whether new turns may have changed it."""
        from goalmem_cli.render.goals import row_of_goal

        unread: list[StoreError] = []
        with self._reading:
            found = self._stored().goals.touched(unread=unread)
        shown = [row_of_goal(goal) | {"may_have_changed": touch is not None} for goal, touch in found]
        told = {"goals": shown[:MOST_CONVERSATIONS], "left_out": max(0, len(shown) - MOST_CONVERSATIONS)}
        return told | _unreadable(unread)

    def keep_goal(self, question: str, name: str | None, watched: Watched) -> Answered:
        """Ask a question, keep it as a goal, and return its state.

        Raises:
            Abandoned: as `ask`.
        """
        from goalmem_cli.render.goals import line_of_goal, row_of_goal

        refuse_empty(question, Kind.QUESTION)
        with self._working(watched):
            goal = self._opened().goals.add(question, Terms(), name, watched)
        return Answered(line_of_goal(goal), row_of_goal(goal))

    def forget(
        self,
        conversation: Sequence[str] | None = None,
        speaker: Sequence[str] | None = None,
        before: str | None = None,
        token: str | None = None,
    ) -> dict[str, object]:
        """Return what would be deleted, with a token; with that token, delete exactly that."""
        if not (conversation or before or speaker):
            raise UsageError("no turns are named", "name a conversation, a speaker or a time")
        with self._at_work, self._reading:
            memory = self._stored().kept
            time = None if before is None else earliest(before, "before")
            selection = selected(memory, conversation or None, speaker or None, time, NAMES)
            counts = memory.forgettable(selection)
            if token is None or not counts.turns:
                return self._announced(selection, counts)
            shown = self._tokens.pop(token, None)
            if shown is None or shown[0] != selection or shown[1].ids != counts.ids:
                hint = "call forget without a token to see what it would delete, then with the token it gives"
                raise UsageError("the token is not for what would be deleted now", hint)
            done = _of_forgotten(forget(memory, selection, shown[1].ids))
            return {"is_done": True, **done, **_touched(self._stored())}

    def _announced(self, selection: Selection, counts: Forgotten) -> dict[str, object]:
        """Return what would be deleted, with the first turns and a token for the deletion."""
        if not counts.turns:
            return {"is_done": False, **_of_forgotten(counts)}
        token = secrets.token_urlsafe(12)
        self._tokens[token] = (selection, counts)
        for old in list(self._tokens)[:-_MOST_TOKENS]:
            del self._tokens[old]
        kept = self._stored().kept
        first = list(
            islice((turn for turn in kept.turns(selection.conversations) if turn.id in counts.ids), MOST_SHOWN)
        )
        name = shown_names(kept, first)
        shown = [_of_turn(turn, name(turn)) for turn in first]
        return {"is_done": False, "token": token, **_of_forgotten(counts), "first_turns": shown}

    def _turns_of(self, conversation: str) -> list[Turn]:
        with self._reading:
            return self._stored().turns(conversation)

    def _opened(self) -> Memory:
        """Open the memory with the shared model, and return it."""
        return Memory(self._run.settings, self._run.factories, self._run.screen, names=NAMES, model=self._model)

    def _stored(self) -> Memory:
        """Return the memory for searches, which is opened once.

        Raises:
            StoreError: there is none, or it cannot be read.
        """
        if self._memory is None:
            self._memory = self._opened()
        if not self._memory.kept.exists:
            hint = f"`{self._run.command('ingest', names=['PATH'])}` reads a transcript into it"
            raise StoreError(f"there is no store at {self._run.settings.place}", hint)
        return self._memory


def _touched(memory: Memory) -> dict[str, object]:
    """Return the names of the goals that a change of the memory may have changed, if any, and the unreadable ones."""
    unread: list[StoreError] = []
    names = [goal.name for goal, touch in memory.goals.touched(unread=unread) if touch is not None]
    told = {"goals_that_may_have_changed": names[:MOST_CONVERSATIONS]} if names else {}
    return told | _unreadable(unread)


def _unreadable(unread: Sequence[StoreError]) -> dict[str, object]:
    """Return which goals cannot be read, if any."""
    return {"unreadable": [error.message for error in unread[:MOST_CONVERSATIONS]]} if unread else {}


def answered(trace: Trace, kept: str | None, shows: str) -> Answered:
    """Return the answer with its proof, as text and as JSON; of the facts, only those that are cited.

    `shows` is the command that shows a trace, for a proof that is too long.
    """
    from goalmem_cli.render.sharing import proof_text
    from goalmem_cli.render.tree import outcome_word, reason_line
    from goalmem_cli.trace import Status, as_document

    is_answered = trace.status is Status.ANSWERED and trace.answer is not None
    failed = None if is_answered else reason_line(trace)
    first = one_line(trace.answer or "") if is_answered else f"{outcome_word(trace)}: {failed}"
    proof = proof_text(trace)
    proof = proof if len(proof) <= MOST_PROOF else f"{proof[:MOST_PROOF]}\n(cut here; `{shows}` has it all)"
    document: dict[str, Any] = as_document(trace)
    cited = {*trace.evidence, *(trace.guess.evidence if trace.guess else ())}
    for step in (step for attempt in trace.attempts for step in attempt.steps):
        for entries in (step.grounded, step.rejected, step.contradicted, step.denied):
            cited.update(number for entry in entries for number in entry.facts)
    document["facts"] = {name: _cut(fact) for name, fact in document["facts"].items() if name in cited}
    return Answered(
        f"{first}\n\n{proof}",
        {
            "status": trace.status.value,
            "answer": one_line(trace.answer or "") if is_answered else None,
            "certainty": trace.certainty,
            "guess": one_line(trace.guess.answer) if trace.guess else None,
            "may_be_more": trace.may_be_more,
            "failed": failed,
            "trace": kept,
            "proof": document,
        },
    )


def _cut(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with its text cut to the limit, and whether it was cut."""
    text = str(entry["text"])
    return {**entry, "text": text[:MOST_CHARACTERS], "is_cut": len(text) > MOST_CHARACTERS}


def _of_turn(turn: Turn, speaker: str) -> dict[str, Any]:
    said, text = None if turn.local is None else turn.local.isoformat(), text_with_marks(turn)
    return _cut({"turn": turn.label, "session": turn.session, "speaker": speaker, "said": said, "text": text})


def _of_forgotten(counts: Forgotten) -> dict[str, object]:
    """Return the counts as JSON."""
    return {
        "turns": counts.turns,
        "conversations": list(counts.conversations[:MOST_CONVERSATIONS]),
        "units": dict(counts.units),
        "traces": counts.traces,
        "goals": counts.goals,
        "without_time": counts.without_time,
    }
