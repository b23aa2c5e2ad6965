"""Measure which backbones find the present and past values of facts, and their cost, with gold decisions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goalmem_cli.backbones.flat import RECIPES, RERANKED, FlatBackbone
from goalmem_cli.backbones.later import marked
from goalmem_cli.backbones.now.holding import Holding
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.gathering import index_by
from goalmem_cli.lab.bench.stories import PEOPLE, SLOTS, Asked, History, Slot, Telling, questions_of
from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.ports import Backbone, Completion, Request
from goalmem_cli.records import Hit, Query
from goalmem_cli.store import Store
from goalmem_cli.store.passages import estimate_tokens

_LINE = re.compile(r"^T\d+\. (\w+): (.*) \[(?:said |nobody knows)", re.MULTILINE)
_DATED = re.compile(r"^(T\d+)\. (\w+): (.*) \[said (\d{4}-\d\d-\d\d)", re.MULTILINE)
_MESSAGE = re.compile(r"^(\w+): (.*?)(?: \[\d{4}-\d\d-\d\d\])?$", re.MULTILINE)
_KNOWN = re.compile(r"^(\d+)\. (.*?)(?: \[\d{4}-\d\d-\d\d\])?$", re.MULTILINE)
_NEW = re.compile(r"^(N\d+)\. (.*)$", re.MULTILINE)
_EVENT = re.compile(r"^New message: (\w+): (.*?)(?: \[\d{4}-\d\d-\d\d\])?$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement about a person: the value that holds, or None if it ended."""

    person: str
    slot: Slot
    value: str | None


def gold_reply(steps: Mapping[str, Callable[[Request], object]], request: Request) -> str:
    """Return the JSON reply to a request, made by the function in `steps` for the request's step.

    Raises:
        ModelError: there is no function for the step.
    """
    if request.step not in steps:
        raise ModelError(f"there is no gold reply to {request.step}", "measure it with a model: goalmem eval")
    return json.dumps(steps[request.step](request))


def _patterns() -> list[tuple[Slot, bool, re.Pattern[str]]]:
    """Return slot, whether it ended, and pattern of person (and value) for each form of statement."""
    found = []
    for slot in SLOTS:
        for is_end, form in ((False, slot.statement), (True, slot.ended)):
            pattern = re.escape(form).replace(r"\{person\}", r"(\w+)").replace(r"\{value\}", r"([^.]+?)")
            found.append((slot, is_end, re.compile(pattern)))
    return found


_PATTERNS = _patterns()


def stated_in(text: str) -> list[Stated]:
    """Return the statements in a text, in order."""
    found = [
        (match.start(), Stated(match[1], slot, None if is_end else match[2]))
        for slot, is_end, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    return [stated for _, stated in sorted(found, key=lambda pair: pair[0])]


class DecidingModel:
    """Replies to the steps of `mem0`, `mem0-graph`, `a-mem`, `magma` and `graphiti` with full prompts.

    The share `wrong` of its decisions is wrong: it does nothing instead of something, adds known facts again, or
    replaces nothing or the wrong memory. `magma` decides nothing of that kind; there it states a false cause. Equal
    requests get equal replies. `asked` counts the requests.
    """

    def __init__(self, histories: Iterable[History], wrong: float = 0.0, seed: int = 0) -> None:
        """Take the histories whose turns can be asked about, the share of wrong decisions, and a seed."""
        self._statements = {
            (told.person, told.turn.text): told.statement for history in histories for told in history.tellings
        }
        self.wrong = wrong
        self.asked = 0
        self._seed = seed
        self._steps: Mapping[str, Callable[[Request], object]] = {
            "mem0_facts": self._facts,
            "mem0_decide": self._decide,
            "mem0_entities": self._entities,
            "mem0_relations": self._relations,
            "mem0_conflicts": self._conflicts,
            "amem_note": self._note,
            "amem_evolve": self._link,
            "amem_keywords": lambda request: {"keywords": request.growing.partition(": ")[2].strip()},
            "magma_links": self._weave,
            "graphiti_entities": lambda request: {"names": [name for _, name, *_ in self._dated(request)]},
            "graphiti_facts": self._between,
            "graphiti_dates": lambda _: {"valid_at": "", "invalid_at": ""},
            "graphiti_resolve": lambda _: {"acts": []},
            "graphiti_decide": self._contradict,
        }

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies with estimated token counts.

        Raises:
            ModelError: there is no reply for the step.
        """
        replies = []
        for request in requests:
            text = gold_reply(self._steps, request)
            read = [request.system, request.growing, request.tail]
            read += [part for example in request.examples for part in (example.input, example.output)]
            self.asked += 1
            replies.append(Completion(text, sum(map(estimate_tokens, read)), completion_tokens=estimate_tokens(text)))
        return replies

    def _chance(self, text: str, request: Request) -> random.Random:
        """Return what draws whether the decision on a text is wrong: the same for the same request."""
        return random.Random(f"{self._seed} {text} {request.growing}")  # noqa: S311 - no secret

    def _facts(self, request: Request) -> object:
        told = [self._statements.get(line) for line in _LINE.findall(request.growing)]
        return {"facts": [statement for statement in told if statement]}

    def _of_lines(self, request: Request) -> list[tuple[str, Stated, str]]:
        """Return label, parsed statement and text of each line that states a fact."""
        lines = [line for line in request.growing.split("\n") if _LINE.match(line)]
        told = [(f"T{place}", self._statements.get(_LINE.findall(line)[0])) for place, line in enumerate(lines, 1)]
        return [(label, stated_in(text)[0], text) for label, text in told if text]

    def _entities(self, request: Request) -> object:
        """Return the names in the statements, and those of people in a question."""
        told = [(stated.person, stated.value) for _, stated, _ in self._of_lines(request)]
        asked = [
            word for word in re.findall(r"\w+", request.growing) if word in PEOPLE and not _LINE.search(request.growing)
        ]
        return {"names": [name for pair in told for name in pair if name] + asked}

    def _relations(self, request: Request) -> object:
        """Return the statements as triples in their own words; the end of a fact has no triple."""
        triples = []
        for label, stated, text in self._of_lines(request):
            if stated.value is not None:
                predicate, value, rest = text.removeprefix(f"{stated.person} ").partition(stated.value)
                parts = {"subject": stated.person, "predicate": predicate.strip(), "object": value + rest}
                triples.append({"turns": [label], **parts})
        return {"triples": triples}

    def _conflicts(self, request: Request) -> object:
        """Return which known relations the new statements make invalid, as the reply to that step."""
        known, acts = _known(request), []
        for label, line in _NEW.findall(request.tail):
            speaker, _, text = line.partition(": ")
            chance = self._chance(text, request)
            new = stated_in(self._statements.get((speaker, text), ""))[:1]
            ended = [number for number, old in known for now in new if _changes(now, old)]
            if new and chance.random() < self.wrong:
                ended = [] if ended else [chance.choice(known)[0]] if known else []
            acts += [{"new": label, "event": "INVALIDATE", "on": number, "text": ""} for number in ended]
        return {"acts": acts}

    def _note(self, request: Request) -> object:
        told = [statement for line in _MESSAGE.findall(request.growing) if (statement := self._statements.get(line))]
        of = [stated for statement in told for stated in stated_in(statement)]
        words = [word for stated in of for word in (stated.person, stated.slot.name)]
        return {"keywords": words, "context": " ".join(told) or "Small talk.", "tags": words[1::2]}

    def _link(self, request: Request) -> object:
        """Link a note to the notes about the same fact; this step cannot state that a fact ended."""
        known, acts = _known(request, None), []
        for label, text in _NEW.findall(request.tail):
            chance = self._chance(text, request)
            new = {(each.person, each.slot.name) for each in stated_in(text)}
            same = {number for number, each in known if (each.person, each.slot.name) in new}
            if chance.random() < self.wrong:
                same = {number for number, _ in known} - same
            acts += [{"new": label, "event": "LINK", "on": number, "text": ""} for number in sorted(same)]
        return {"acts": acts or [{"new": "N1", "event": "NONE", "on": "0", "text": ""}]}

    def _weave(self, request: Request) -> object:
        """Return the entities of an event; causes are stated only as wrong decisions."""
        told = [statement for line in _EVENT.findall(request.tail) if (statement := self._statements.get(line))]
        of = [stated for statement in told for stated in stated_in(statement)]
        names = [name for stated in of for name in (stated.person, stated.value) if name]
        chance = self._chance(request.tail, request)
        shown, causal = _NUMBERED.findall(request.growing), []
        if told and shown and chance.random() < self.wrong:
            reason = {"confidence": 0.9, "explanation": f"It was so since {told[0]}"}
            causal = [{"event": chance.choice(shown), "direction": "caused_by", **reason}]
        return {"entities": names, "causal": causal}

    def _dated(self, request: Request) -> list[tuple[str, str, str, str, str]]:
        """Return label, thing, person, statement and day of each message that states a fact."""
        return [
            (label, stated.value or f"no {stated.slot.name}", person, statement, day)
            for label, person, text, day in _DATED.findall(request.growing)
            if (statement := self._statements.get((person, text)))
            for stated in stated_in(statement)[:1]
        ]

    def _between(self, request: Request) -> object:
        """Return the statements as facts between a person and a thing, each valid from its day."""
        facts = [
            {"turns": [label], "source": person, "target": thing, "relation": "TOLD", "fact": statement,
             "valid_at": day, "invalid_at": ""}
            for label, thing, person, statement, day in self._dated(request)
        ]  # fmt: skip
        return {"facts": facts}

    def _contradict(self, request: Request) -> object:
        """Return which numbered earlier statements each new one contradicts: those with another value of the same fact.

        The share `wrong` is decided wrongly. This step gets no new statements that are known already.
        """
        known, acts = _known(request), []
        for label, text in _NEW.findall(request.tail):
            chance, new = self._chance(text, request), stated_in(text)[0]
            against = {number for number, old in known if _changes(new, old)}
            if chance.random() < self.wrong:
                against = set() if against else {chance.choice([number for number, _ in known])} if known else set()
            acts += [{"new": label, "event": "CONTRADICTS", "on": number} for number in sorted(against)]
        return {"acts": acts or [{"new": "N1", "event": "NONE", "on": "0"}]}

    def _decide(self, request: Request) -> object:
        """Return a decision on each new statement: add, update, delete or nothing."""
        known, acts = _known(request), []
        for label, text in _NEW.findall(request.tail):
            chance = self._chance(text, request)
            event, on = _decision(stated_in(text)[0], known)
            if chance.random() < self.wrong:
                event, on = _other_decision(event, [number for number, _ in known], chance)
            acts.append({"new": label, "event": event, "on": on, "text": text if event in ("ADD", "UPDATE") else ""})
        return {"acts": acts}


def _known(request: Request, most: int | None = 1) -> list[tuple[str, Stated]]:
    """Return number and statement of each memory in the prompt, at most `most` of each."""
    return [(number, each) for number, text in _KNOWN.findall(request.growing) for each in stated_in(text)[:most]]


def _changes(new: Stated, old: Stated) -> bool:
    return (old.person, old.slot) == (new.person, new.slot) and old.value != new.value


def _decision(new: Stated, known: Sequence[tuple[str, Stated]]) -> tuple[str, str]:
    """Return the event and the number of the memory that it applies to; "0" is none."""
    same = [(number, old) for number, old in known if (old.person, old.slot) == (new.person, new.slot)]
    for number, old in same:
        if old.value == new.value:
            return "NONE", number
    if not same:
        return "ADD", "0"
    return ("DELETE" if new.value is None else "UPDATE"), same[0][0]


def _other_decision(event: str, numbers: Sequence[str], chance: random.Random) -> tuple[str, str]:
    """Return a different decision, on one of these numbers or, if there are none, on none."""
    others = [each for each in ("ADD", "NONE", *(("UPDATE", "DELETE") if numbers else ())) if each != event]
    chosen = chance.choice(others)
    return chosen, chance.choice(numbers) if chosen in ("UPDATE", "DELETE") else "0"


DEPTH = 10
AT_ONCE = 64
"""How many things the model is asked at once, so that all conversations progress side by side."""
OF_ONE_TURN = ("turn", "note", "event")
"""The kinds of units that say the same as their first turn."""
DECIDING = ("mem0", "mem0-graph", "a-mem", "magma", "graphiti")
"""Backbones in which a model decides how turns change the memory; in `magma`, only what is related."""


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """The results of one backbone when the share `wrong` of the model's decisions is wrong.

    - `questions`: the number of questions of each kind.
    - `now`, `as_of`: the shares of questions about the present and about an earlier time that were found. Of the first
      ten hits, the first that is about the question and not marked as replaced must have the answer.
    - `own_now`, `own_as_of`: the same in the backbone's own order, into which no later statements are put.
    - `of_kind`, `of_kind_then`: how the value in question was told last -> the number of questions and the share `now`,
      and the same for `as_of`.
    - `latest_now`, `latest_as_of`: the same, but the hit that was said last must have the answer.
    - `calls`, `tokens`: per indexed turn, with one call per item.
    - `late_calls`, `late_turns`: the calls to index again after a session was inserted between two indexed ones, and
      the number of that session's turns.
    """

    backbone: str
    wrong: float
    questions: int
    now: float
    as_of: float
    latest_now: float
    latest_as_of: float
    calls: float = 0.0
    tokens: float = 0.0
    late_calls: int = 0
    late_turns: int = 0
    own_now: float = 0.0
    own_as_of: float = 0.0
    of_kind: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    of_kind_then: Mapping[str, tuple[int, float]] = field(default_factory=dict)


def measure_changes(
    open_store: Callable[[str], Store],
    histories: Sequence[History],
    backbones: Sequence[str],
    wrong: Sequence[float],
    seed: int,
    report: Progress = unwatched,
) -> Iterator[ChangeFigures]:
    """Yield the results of `reranked`, then of each backbone with each share of wrong decisions.

    Flat backbones decide nothing, and come once, after `reranked`.

    Raises:
        ModelError: there are no replies for a backbone.
        StoreError: a store cannot be used.
    """
    questions = [pair for history in histories for pair in questions_of(history, seed)]
    of_turns = {told.turn.id: told for history in histories for told in history.tellings}
    asking = _Asking(questions, of_turns)
    store = open_store(RERANKED)
    store.add_all([history.conversation for history in histories])
    for name in dict.fromkeys((RERANKED, *(name for name in backbones if name in RECIPES))):
        yield asking.figures(name, 0.0, FlatBackbone(store, name), store)
    runs = [(name, share) for name in backbones if name not in RECIPES for share in wrong]
    for done, (name, share) in enumerate(runs, 1):
        yield _measured(open_store(f"{name}-{share}"), asking, histories, name, DecidingModel(histories, share, seed))
        report(done, len(runs))


def _measured(
    store: Store, asking: _Asking, histories: Sequence[History], name: str, model: DecidingModel
) -> ChangeFigures:
    """Index everything except a session in the middle of the first history, then that session, and ask everything."""
    first, *others = [history.conversation for history in histories]
    middle = first.turns[len(first.turns) // 2].session
    early = tuple(turn for turn in first.turns if turn.session != middle)
    store.add_all([replace(first, turns=early), *others])
    usage = index_by(name, store, model, {}, AT_ONCE).done.usage
    asked, turns = model.asked, len(early) + sum(len(each.turns) for each in others)
    store.add_all([first])
    backbone = index_by(name, store, model, {}, AT_ONCE).backbone
    late = model.asked - asked
    return replace(
        asking.figures(name, model.wrong, backbone, store),
        calls=asked / turns,
        tokens=(usage.prompt_tokens + usage.completion_tokens) / turns,
        late_calls=late,
        late_turns=len(first.turns) - len(early),
    )


@dataclass(frozen=True)
class _Asking:
    """The questions, and the statement in each turn by the turn's id."""

    questions: Sequence[tuple[Asked, Asked]]
    of_turns: dict[str, Telling]

    def figures(self, name: str, wrong: float, backbone: Backbone, store: Store) -> ChangeFigures:
        """Ask every question and return the results."""
        holding = Holding(backbone, store)
        right = [[0, 0], [0, 0], [0, 0]]
        of_kinds: tuple[dict[str, list[bool]], ...] = ({}, {})
        for pair in self.questions:
            for when, asked in enumerate(pair):
                own = self._found(asked, backbone.retrieve(_query(asked), DEPTH))
                hits = marked(holding.retrieve(_query(asked), DEPTH))
                found, shown = self._found(asked, hits), self._found(asked, [hit for hit in hits if not hit.moved_on])
                latest = max(found, key=lambda each: each[0])[1] if found else None
                is_right = _first(shown) == asked.answer
                right[0][when] += is_right
                right[1][when] += latest == asked.answer
                right[2][when] += _first(own) == asked.answer
                of_kinds[when].setdefault(asked.told_as, []).append(is_right)
        count = max(1, len(self.questions))
        shares = ([each / count for each in row] for row in right)
        (now, as_of), (latest_now, latest_as_of), (own_now, own_as_of) = shares
        kinds, then = (
            {kind: (len(found), sum(found) / len(found)) for kind, found in sorted(of_kind.items())}
            for of_kind in of_kinds
        )
        figures = ChangeFigures(name, wrong, len(self.questions), now, as_of, latest_now, latest_as_of)
        return replace(figures, own_now=own_now, own_as_of=own_as_of, of_kind=kinds, of_kind_then=then)

    def _found(self, asked: Asked, hits: Sequence[Hit]) -> list[tuple[str, str | None]]:
        """Return the time and the value of each hit about the question, best first.

        Hits that state an end before the asked time are skipped.
        """
        found = []
        for hit in hits:
            if _is_over(hit, asked):
                continue
            said = "" if hit.unit.said is None else hit.unit.said.isoformat()
            told = self.of_turns.get(hit.unit.turns[0]) if hit.unit.kind in OF_ONE_TURN else None
            stated = stated_in(hit.unit.text if told is None else told.statement)
            found += [(said, each.value) for each in stated if (each.person, each.slot) == (asked.person, asked.slot)]
        return found


def _first(found: Sequence[tuple[str, str | None]]) -> str | None:
    return found[0][1] if found else None


def _is_over(hit: Hit, asked: Asked) -> bool:
    ended = hit.unit.event_to
    return ended is not None and (asked.as_of is None or ended <= asked.as_of)


def _query(asked: Asked) -> Query:
    return Query(asked.text, (asked.conversation,), until=asked.as_of)
