"""Make a rule of a proof: take the question's constants out of its plan. Make a plan of a rule: put others in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from goalmem_cli.errors import StoreError
from goalmem_cli.logic import Atom, Constant, NotationError, Variable, parse_atom
from goalmem_cli.logic.normal import content_stems, words
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.ports import Reasoner
from goalmem_cli.reasoners.goal_mem.kept_proofs import decisive
from goalmem_cli.reasoners.goal_mem.plans import taken_up
from goalmem_cli.reasoners.goal_mem.records import Begun
from goalmem_cli.reasoners.rules.forms import KNOWN_STEMS, LONGEST_THING, QuestionForm, taken_apart, values_for
from goalmem_cli.records import Question
from goalmem_cli.store.rules import KeptRule, RuleFile
from goalmem_cli.trace import Attempt, Ending, Status, Trace, TriedRule

ASKER = 0
"""The number of the place that stands for who asks; the question's own places count from 1."""
_BARE = re.compile(r"\b(?:[a-z]\d?|now|[a-z]+(?=\()|\{\d\})(?!\w)|\{\d\}")
"""What an answer's expression may have: variables, functions, the time of asking and places."""
_PLACE = re.compile(r"\{(\d)\}")


def learned(trace: Trace, question: Question) -> KeptRule | None:
    """Return the rule that the trace's proof gives, or None.

    There is none where the question was not planned, where the plan leaves out a name or a time of the question, and
    where a word of it is neither the question's, nor of a type, nor the package's own: it may come from the memory.
    """
    attempt = decisive(trace) if trace.status is Status.ANSWERED and not trace.is_unchecked else None
    if attempt is None or not attempt.breadth or attempt.ending is not Ending.GROUNDED or question.wants_all:
        return None
    texts, count = (attempt.goal, *attempt.subgoals, *attempt.answers), len(attempt.subgoals)
    if (not attempt.answers and trace.substitution) or any("{" in text or "}" in text for text in texts):
        return None
    asked = taken_apart(question.text, question.asked, _things(attempt, question.text))
    opened = None if asked is None else _opened(texts, asked, question)
    if asked is None or opened is None or not _is_own(opened[: count + 1], asked):
        return None
    if any(_BARE.sub("", text).strip("(), ") for text in opened[count + 1 :]):
        return None
    rule = KeptRule(asked.form, asked.text, opened[0], opened[1 : count + 1], opened[count + 1 :], attempt.is_current)
    again = taken_apart(question.text, question.asked)
    return rule if again is not None and begun_with(rule, question, again) is not None else None


def begun_with(rule: KeptRule, question: Question, asked: QuestionForm) -> Begun | None:
    """Return the rule's plan for this question taken apart, as an earlier proof of which nothing stands yet, or None.

    There is none where the question has another form, and where this version cannot read the plan.
    """
    places = values_for(rule.form, asked)
    if places is None:
        return None
    values = {number: place.text for number, place in enumerate(places, 1)}
    if question.asker is not None:
        values[ASKER] = question.asker
    texts = [_filled(text, values) for text in (rule.goal, *rule.subgoals, *rule.answers)]
    if any(text is None for text in texts):
        return None
    goal, *others = (text or "" for text in texts)
    count = len(rule.subgoals)
    begun = Begun(goal, tuple(others[:count]), tuple(others[count:]), rule.is_current, is_rule=True)
    return begun if taken_up(begun, question) is not None else None


def _filled(text: str, values: Mapping[int, str]) -> str | None:
    """Return the text with the values in its places, or None if there is none for one of them."""
    if any(int(number) not in values for number in _PLACE.findall(text)):
        return None
    return _PLACE.sub(lambda found: values[int(found[1])], text)


def _things(attempt: Attempt, question: str) -> list[str]:
    """Return the constants of the plan that stand in the question, longest first."""
    told = " ".join(question.casefold().split())
    values = {constant.value for atom in _atoms((attempt.goal, *attempt.subgoals)) for constant in atom.constants}
    short = [value for value in values if len(value.split()) <= LONGEST_THING and value.casefold() in told]
    return sorted(short, key=lambda value: (-len(value), value))


def _opened(texts: tuple[str, ...], asked: QuestionForm, question: Question) -> tuple[str, ...] | None:
    """Return the plan's texts with numbers for the question's places, or None if one of these is not in the plan."""
    values = dict(enumerate((place.text for place in asked.places), 1))
    if question.asker is not None and speaks_of_asker(question.text):
        values[ASKER] = question.asker
    opened = "\n".join(texts)
    for number, value in sorted(values.items(), key=lambda each: -len(each[1])):
        opened, found = re.subn(rf"(?<![\w{{]){re.escape(value)}(?!\w)", f"{{{number}}}", opened, flags=re.IGNORECASE)
        if not found and number != ASKER:
            return None
    return tuple(opened.split("\n"))


def _is_own(texts: tuple[str, ...], asked: QuestionForm) -> bool:
    """Say whether goal and subgoals have no words but the question's, those of types, and the package's own."""
    said = content_stems(" ".join(token.written for token in asked.tokens if token.place < 0)) | KNOWN_STEMS
    types, told = set[str](), set[str]()
    for atom in _atoms(texts):
        for part in atom.parts:
            if isinstance(part, Variable):
                types |= content_stems(part.type)
                if part.type != part.type.casefold():
                    return False
            else:
                told |= _stems(part.value + " " + part.type if isinstance(part, Constant) else part)
    return told <= said | types


def _stems(text: str) -> frozenset[str]:
    bare = _PLACE.sub(" ", text)
    return content_stems(bare) if words(bare) else frozenset()


def _atoms(texts: tuple[str, ...]) -> Iterator[Atom]:
    for text in texts:
        try:
            yield parse_atom(text)
        except NotationError:
            continue


class RuleFirst:
    """Answers a question by a rule of its form; where there is none, or it settles nothing, by asking as always."""

    def __init__(self, rules: RuleFile, make: Callable[[Begun | None], Reasoner]) -> None:
        """Take the rules, and a function that makes the reasoner that begins with a plan, or with None plans anew."""
        self._rules = rules
        self._make = make

    def answer(self, question: Question) -> Trace:
        """Return the question's trace, with the rule that was tried; what a rule cost in vain is counted."""
        found = self._found(question)
        if found is None:
            return self._learned(self._make(None).answer(question), question)
        rule, begun = found
        trace = self._make(begun).answer(question)
        is_settled = trace.status is Status.ANSWERED
        tried = TriedRule(rule.name, rule.text, rule.tried, rule.settled, is_settled, trace.usage)
        spent = trace.usage
        counted = replace(
            rule, tried=rule.tried + 1, settled=rule.settled + is_settled, calls=rule.calls + spent.calls,
            tokens=rule.tokens + spent.prompt_tokens + spent.completion_tokens,
        )  # fmt: skip
        if is_settled:
            return self._kept(replace(trace, rule=tried), counted)
        trace = self._make(None).answer(question)
        better = learned(trace, question) if not rule.settled else None
        if better is not None and better.form == rule.form:
            counted = replace(counted, goal=better.goal, subgoals=better.subgoals, answers=better.answers)
        return self._kept(replace(trace, rule=tried, usage=spent + trace.usage), counted)

    def _found(self, question: Question) -> tuple[KeptRule, Begun] | None:
        """Return the rule of the question's form with its plan; a file that cannot be read holds none."""
        try:
            rules = self._rules.all()
        except StoreError:
            return None
        asked = taken_apart(question.text, question.asked) if rules and not question.wants_all else None
        for rule in rules if asked is not None else ():
            begun = begun_with(rule, question, asked) if asked is not None and rule.is_promising else None
            if begun is not None:
                return rule, begun
        return None

    def _learned(self, trace: Trace, question: Question) -> Trace:
        rule = learned(trace, question)
        return trace if rule is None else self._kept(trace, rule)

    def _kept(self, trace: Trace, rule: KeptRule) -> Trace:
        """Keep the rule; where that fails, the trace says so, and the answer stands."""
        try:
            self._rules.put(rule)
        except StoreError as error:
            return replace(trace, notes=(*trace.notes, f"the rule was not kept: {error.message}"))
        return trace
