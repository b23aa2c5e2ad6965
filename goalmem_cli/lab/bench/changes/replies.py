"""Replies of a model that keeps facts about people up to date, with a given share of wrong decisions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.changes.story import PEOPLE, SLOTS, History, Slot
from goalmem_cli.ports import Completion, Request
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
    """Return the reply to a request, as JSON, by what makes the one of its step.

    Raises:
        ModelError: there is none for the step.
    """
    if request.step not in steps:
        raise ModelError(f"there is no gold reply to {request.step}", "measure it with a model: goalmem eval")
    return json.dumps(steps[request.step](request))


def _patterns() -> list[tuple[Slot, bool, re.Pattern[str]]]:
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
    replaces nothing or something else. In `magma`, which makes no such decisions, it states a cause where there is
    none. Equal requests get equal replies. `asked` counts the requests.
    """

    def __init__(self, histories: Iterable[History], wrong: float = 0.0, seed: int = 0) -> None:
        """Take the histories; only their turns can be asked about."""
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

    def _facts(self, request: Request) -> object:
        told = [self._statements.get(line) for line in _LINE.findall(request.growing)]
        return {"facts": [statement for statement in told if statement]}

    def _of_lines(self, request: Request) -> list[tuple[str, Stated, str]]:
        """Return, for each line that tells something, its label, the statement parsed, and its text."""
        lines = [line for line in request.growing.split("\n") if _LINE.match(line)]
        told = [(f"T{place}", self._statements.get(_LINE.findall(line)[0])) for place, line in enumerate(lines, 1)]
        return [(label, stated_in(text)[0], text) for label, text in told if text]

    def _entities(self, request: Request) -> object:
        told = [(stated.person, stated.value) for _, stated, _ in self._of_lines(request)]
        asked = [
            word for word in re.findall(r"\w+", request.growing) if word in PEOPLE and not _LINE.search(request.growing)
        ]
        return {"names": [name for pair in told for name in pair if name] + asked}

    def _relations(self, request: Request) -> object:
        """Return the statements as triples in their own words; an end has no triple."""
        triples = []
        for label, stated, text in self._of_lines(request):
            if stated.value is not None:
                predicate, value, rest = text.removeprefix(f"{stated.person} ").partition(stated.value)
                parts = {"subject": stated.person, "predicate": predicate.strip(), "object": value + rest}
                triples.append({"turns": [label], **parts})
        return {"triples": triples}

    def _conflicts(self, request: Request) -> object:
        known = [(number, stated) for number, text in _KNOWN.findall(request.growing) for stated in stated_in(text)[:1]]
        acts = []
        for label, line in _NEW.findall(request.tail):
            speaker, _, text = line.partition(": ")
            chance = random.Random(f"{self._seed} {text} {request.growing}")  # noqa: S311 - no secret
            new = stated_in(self._statements.get((speaker, text), ""))[:1]
            ended = [
                number for number, old in known for now in new
                if (old.person, old.slot) == (now.person, now.slot) and old.value != now.value
            ]  # fmt: skip
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
        """Link a note to the notes about the same matter; this step has no event for an end."""
        known = [(number, each) for number, text in _KNOWN.findall(request.growing) for each in stated_in(text)]
        acts = []
        for label, text in _NEW.findall(request.tail):
            chance = random.Random(f"{self._seed} {text} {request.growing}")  # noqa: S311 - no secret
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
        chance = random.Random(f"{self._seed} {request.tail} {request.growing}")  # noqa: S311 - no secret
        shown, causal = _NUMBERED.findall(request.growing), []
        if told and shown and chance.random() < self.wrong:
            reason = {"confidence": 0.9, "explanation": f"It was so since {told[0]}"}
            causal = [{"event": chance.choice(shown), "direction": "caused_by", **reason}]
        return {"entities": names, "causal": causal}

    def _dated(self, request: Request) -> list[tuple[str, str, str, str, str]]:
        """Return label, thing, person, statement and day of each message that tells something."""
        return [
            (label, stated.value or f"no {stated.slot.name}", person, statement, day)
            for label, person, text, day in _DATED.findall(request.growing)
            if (statement := self._statements.get((person, text)))
            for stated in stated_in(statement)[:1]
        ]

    def _between(self, request: Request) -> object:
        facts = [
            {"turns": [label], "source": person, "target": thing, "relation": "TOLD", "fact": statement,
             "valid_at": day, "invalid_at": ""}
            for label, thing, person, statement, day in self._dated(request)
        ]  # fmt: skip
        return {"facts": facts}

    def _contradict(self, request: Request) -> object:
        """Contradict earlier values of the same matter; known statements are never asked about."""
        known = [(number, stated) for number, text in _KNOWN.findall(request.growing) for stated in stated_in(text)[:1]]
        acts = []
        for label, text in _NEW.findall(request.tail):
            chance = random.Random(f"{self._seed} {text} {request.growing}")  # noqa: S311 - no secret
            new = stated_in(text)[0]
            against = {number for number, old in known if _changes(new, old)}
            if chance.random() < self.wrong:
                against = set() if against else {chance.choice([number for number, _ in known])} if known else set()
            acts += [{"new": label, "event": "CONTRADICTS", "on": number} for number in sorted(against)]
        return {"acts": acts or [{"new": "N1", "event": "NONE", "on": "0"}]}

    def _decide(self, request: Request) -> object:
        known = [(number, stated) for number, text in _KNOWN.findall(request.growing) for stated in stated_in(text)[:1]]
        acts = []
        for label, text in _NEW.findall(request.tail):
            chance = random.Random(f"{self._seed} {text} {request.growing}")  # noqa: S311 - no secret
            event, on = _decision(stated_in(text)[0], known)
            if chance.random() < self.wrong:
                event, on = _other_decision(event, [number for number, _ in known], chance)
            acts.append({"new": label, "event": event, "on": on, "text": text if event in ("ADD", "UPDATE") else ""})
        return {"acts": acts}


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
