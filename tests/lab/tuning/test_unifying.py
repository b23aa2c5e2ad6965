"""Which facts are shown to prove a statement, and which are shown not to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goalmem_cli.lab.evaluation.cases import Case, GoldStep
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.lab.tuning.rendering import render
from goalmem_cli.logic import Variable, parse_atom
from goalmem_cli.logic.normal import content_words, stem
from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook
from tests.lab.tuning.samples import held_together, steps_of


def stems(text: str) -> set[str]:
    """Return the stems of what a text is about."""
    return {stem(word) for word in content_words(text)}


def words_of(text: str) -> list[str]:
    """Return the words of a text."""
    return re.findall(r"\w+", text)


def statements_of(case: Case) -> tuple[GoldStep, ...]:
    """Return the gold steps of a question, and its goal as one more where a single turn proves it."""
    steps, plan = steps_of(case), case.plan
    if plan is None or len(case.evidence) != 1 or case.is_unanswerable:
        return steps
    known = {name: value for step in steps for name, value in step.bindings.items()}
    bindings = {name: known[name] for name in plan.answer_variables if name in known}
    return (*steps, GoldStep(plan.goal, case.evidence, bindings))


def called_in(step: GoldStep, case: Case, statement: str) -> dict[str, str] | None:
    """Return the gold step's own names of the statement's variables; None where the statement is not that step.

    It is where each variable of the step stands in it under some name, starred or not, or has its gold value put in.
    """
    values = {name: value for each in steps_of(case) for name, value in each.bindings.items()}
    pattern, own = "", []
    for part in parse_atom(step.text).parts:
        if isinstance(part, Variable):
            own.append(part.name)
            known = re.escape(values.get(part.name, "\0"))
            pattern += rf"\((?:([u-z]):{re.escape(part.type)}\*?|{known}(?::[^()]+)?)\)"
        else:
            pattern += re.escape(str(part))
    found = re.fullmatch(pattern, statement)
    return {called: name for called, name in zip(found.groups(), own, strict=True) if called} if found else None


def pairs(
    examples: list[Example], talks: list[Talk], kind: str
) -> Iterator[tuple[Example, list[tuple[GoldStep, dict[str, str]]], str]]:
    """Yield the examples with the gold steps that their statement may be, and the label of their fact."""
    cases = {case.id: case for talk in talks for case in talk.cases}
    said = {
        (talk.name, f"{turn.speaker}: {' '.join(turn.text.split())}"): turn.label
        for talk in talks
        for turn in talk.conversation.turns
    }
    for example in examples:
        if example.kind == kind:
            case = cases[example.case]
            statement, fact = held_together(example)
            steps = [(step, called_in(step, case, statement)) for step in statements_of(case)]
            known = [(step, called) for step, called in steps if called is not None]
            yield example, known, said.get((case.conversation, fact), "")


def test_proving_facts_are_gold_and_hold_the_values(plain: list[Example], talks: list[Talk]) -> None:
    """A binding comes from a gold turn of its statement, is the gold value, and stands in the turn if others share it."""
    values = 0
    for example, steps, label in pairs(plain, talks, "unify"):
        cited = [(step, called) for step, called in steps if label in step.facts]
        assert cited, example
        for part in example.reply.split("; ") if example.reply != "yes" else []:
            name, value = part.split(" = ")
            gold = [step.bindings[called[name]] for step, called in cited]
            assert any(set(value.split(", ")) <= {whole, *whole.split(", ")} for whole in gold), example
            is_only = any(len(step.facts) == 1 for step, _ in cited)
            assert is_only or stems(value) <= stems(example.request.tail), example
            values += 1
    assert values > 30


def test_gold_pairs_are_not_refused(plain: list[Example], talks: list[Talk]) -> None:
    """No statement is refused against a fact that gold says proves it."""
    refused = list(pairs(plain, talks, "unify none"))

    assert len(refused) > 40
    assert all(steps for _, steps, _ in refused)
    assert not [example for example, steps, label in refused if any(label in step.facts for step, _ in steps)]


def test_unmarked_evidence_is_not_refused(plain: list[Example], talks: list[Talk]) -> None:
    """A turn of the same conversation that holds all values of a statement may prove it, unless gold says it does not."""
    distractors = {case.id: case.plan.distractors for talk in talks for case in talk.cases if case.plan is not None}
    checked = 0
    for example, steps, label in pairs(plain, talks, "unify none"):
        for step, called in steps:
            values = [step.bindings[name] for name in called.values() if name in step.bindings]
            if values and label and label not in distractors[example.case]:
                assert not all(stems(value) <= stems(example.request.tail) for value in values), example
                checked += 1
    assert checked > 10


def test_variables_are_called_by_their_place(examples: list[Example]) -> None:
    """Nothing can be learnt from the name of a variable: the first of every statement has the same."""
    called: dict[int, set[str]] = {}
    for example in examples:
        if example.request.step == "unify":
            names = [variable.name for variable in parse_atom(held_together(example)[0]).variables]
            called.setdefault(len(names), set()).add("".join(names))

    assert called.keys() >= {0, 1, 2}
    assert all(len(names) == 1 for names in called.values())
    assert len({next(iter(names))[:1] for count, names in called.items() if count}) == 1


def test_no_pair_is_both_proved_and_refused(examples: list[Example]) -> None:
    """The same statement against the same fact has one reply."""
    replies: dict[tuple[str, str, str], set[str]] = {}
    for example in examples:
        if example.kind.startswith("unify"):
            replies.setdefault((example.case, *held_together(example)), set()).add(example.reply)

    assert len(replies) > 100
    assert {len(said) for said in replies.values()} == {1}


def test_facts_do_not_prove_the_same_of_others(
    examples: list[Example], talks: list[Talk], book: PromptBook, embedder: Embedder
) -> None:
    """Among the refusals are proved statements of which one word is changed: a name that the fact does not have."""
    changed = 0
    for some in (examples, *(list(render(talks, book, embedder, seed)) for seed in (2, 3))):
        proved: dict[tuple[str, str], list[list[str]]] = {}
        for example in some:
            if example.kind == "unify":
                statement, fact = held_together(example)
                proved.setdefault((example.case, fact), []).append(words_of(statement))
        for example in some:
            if example.kind == "unify none":
                statement, fact = held_together(example)
                for right in proved.get((example.case, fact), []):
                    new = [word for word, old in zip(words_of(statement), right, strict=False) if word != old]
                    if len(words_of(statement)) == len(right) and len(new) == 1:
                        assert new[0] not in words_of(fact), example
                        changed += 1
    assert changed > 2
