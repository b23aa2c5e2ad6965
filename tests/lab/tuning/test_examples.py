"""Every example is a request of the bundled prompts, with a reply that the engine reads and the grammar allows."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime

import pytest

from goalmem_cli.lab.tuning.batches import MIX, Example, packed, tokenise
from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.lab.tuning.rendering import TOKENS, Variety, render
from goalmem_cli.model_replies import read_fields
from goalmem_cli.models.bundled import TRAINED
from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.provers.stepwise import STEPS, plan_choices, read_plan, write_plan
from goalmem_cli.records import Question
from tests.lab.tuning.samples import asked_in

MOMENT = datetime(2024, 6, 1, 12, 0)


def of_kind(examples: list[Example], *kinds: str) -> list[Example]:
    """Return the examples of the kinds, of which there must be some."""
    found = [example for example in examples if example.kind in kinds]
    assert {example.kind for example in found} == set(kinds)
    return found


def test_samples_give_examples_of_every_kind_that_they_have(examples: list[Example]) -> None:
    """All kinds are drawn in training, each from some example; they are of the steps that run with the adapters."""
    counts = Counter(example.kind for example in examples)

    assert counts.keys() == {kind for kind, share in MIX.items() if share > 0}
    assert {example.request.step for example in examples} == TRAINED == set(STEPS)
    assert counts["decompose"] > 20 and counts["read"] > 2 * counts["read none"] and counts["read step"] > 10


def test_plans_are_read_back(examples: list[Example]) -> None:
    """The engine takes each plan for its question, and writes it as it was written."""
    for example in of_kind(examples, "decompose"):
        text, asker = asked_in(example)
        plan = read_plan(example.reply, Question(text, MOMENT, asker))

        assert write_plan(str(plan.goal), list(map(str, plan.subgoals))) == example.reply
        assert {variable.name for variable in plan.goal.variables} == set(plan.answer_variables)


def test_readings_cite_facts_that_are_shown(examples: list[Example]) -> None:
    """A reading names facts of its prompt beside its answer; a refused one says unknown and names none."""
    for example in of_kind(examples, "read", "read none", "read step", "read step none"):
        fields = read_fields(example.reply, example.request)
        shown = re.findall(r"^(F\d+)\. ", example.request.growing, re.MULTILINE)

        assert len(shown) == len(set(shown)) > 0
        if example.kind.endswith("none"):
            assert fields == {"answer": ("unknown",)}
        else:
            assert fields.keys() == {"answer", "facts"} and fields["answer"] != ("unknown",)
            assert set(fields["facts"][0].split(", ")) <= set(shown)


def test_readings_show_the_evidence_or_none_of_it(plain: list[Example], talks: list[Talk]) -> None:
    """What is cited is the gold evidence; where an answerable question is refused, no evidence is in sight."""
    cases = {case.id: case for talk in talks for case in talk.cases}
    texts = {(talk.name, turn.label): turn.text for talk in talks for turn in talk.conversation.turns}
    refused = 0
    for example in of_kind(plain, "read", "read none"):
        case = cases[example.case]
        evidence = {" ".join(texts[case.conversation, label].split()) for label in case.evidence}
        shown = facts_of(example)
        if example.kind == "read":
            cited = {shown[number] for number in re.findall(r"F\d+", example.reply.split("\n")[1])}
            assert cited and cited <= evidence <= set(shown.values())
        elif not case.is_unanswerable:
            assert not evidence & set(shown.values())
            refused += 1
    assert refused > 0


def test_questions_read_together_have_one_beginning_with_all_their_evidence(
    plain: list[Example], talks: list[Talk], vocabulary: PromptTokens
) -> None:
    """Each question of a group stands behind the same facts, which hold what it cites, in no order of its own."""
    cases = {case.id: case for talk in talks for case in talk.cases}
    texts = {(talk.name, turn.label): turn.text for talk in talks for turn in talk.conversation.turns}
    groups: dict[str, list[Example]] = {}
    for example in of_kind(plain, "read together"):
        groups.setdefault(example.group, []).append(example)
        case, shown = cases[example.case], facts_of(example)
        assert {" ".join(texts[case.conversation, label].split()) for label in case.evidence} <= set(shown.values())
        assert (example.reply == "answer: unknown") == case.is_unanswerable
        lines = example.request.growing.splitlines()
        assert len({line.partition(". ")[2] for line in lines}) == len(lines)
    rows = [packed(list(tokenise(group, vocabulary, Counter()))) for group in groups.values()]

    assert all(len({example.request.growing for example in group}) == 1 for group in groups.values())
    assert max(len(row.examples) for row in rows) > 2
    assert sum(map(len, rows)) < 0.6 * sum(len(example) for row in rows for example in row.examples)


def test_questions_without_a_plan_teach_to_read_alone(talks: list[Talk], book: PromptBook, embedder: Embedder) -> None:
    """Conversations with answers and evidence only are read from, and teach nothing else."""
    bare = [replace(talk, cases=tuple(replace(case, plan=None) for case in talk.cases)) for talk in talks]
    made = list(render(bare, book, embedder, 1))

    assert {example.kind for example in made} == {"read", "read none", "read together"}


@pytest.mark.parametrize("has_plans", [True, False])
def test_numbers_of_facts_do_not_tell_which_are_evidence(
    talks: list[Talk], book: PromptBook, embedder: Embedder, has_plans: bool
) -> None:
    """The last of the facts is the first one, as the engine numbers them best first, and is by no means always cited."""
    changed = [replace(t, cases=tuple(c if has_plans else replace(c, plan=None) for c in t.cases)) for t in talks]
    made = [each for seed in (1, 2) for each in render(changed, book, embedder, seed)]
    cited = []
    for example in of_kind(made, "read", "read together"):
        numbers = [line.partition(".")[0] for line in example.request.growing.splitlines()]
        assert numbers == [f"F{number}" for number in range(len(numbers), 0, -1)]
        cited += [set(re.findall(r"F\d+", example.reply))] if "facts:" in example.reply else []

    assert 0.1 < sum("F1" in each for each in cited) / len(cited) < 0.75


def test_what_has_to_be_worked_out_is_not_taught(talks: list[Talk], book: PromptBook, embedder: Embedder) -> None:
    """A question whose answer is a number that no turn tells and no check derives gives no example at all."""
    talk = talks[0]
    case = next(case for case in talk.cases if case.plan is not None and case.plan.answer_variables and case.answer)
    assert case.plan is not None
    steps = tuple(
        replace(step, bindings={name: "9731 euros" for name in step.bindings if name in case.plan.answer_variables})
        for step in case.plan.subgoals
    )
    changed = replace(case, answer="9731 euros", plan=replace(case.plan, subgoals=steps, refinements=()))
    made = {
        each.answer: {example.case for example in render([replace(talk, cases=(each,))], book, embedder, 1)}
        for each in (case, changed)
    }

    assert made == {case.answer: {case.id}, "9731 euros": set()}


def facts_of(example: Example) -> dict[str, str]:
    """Return what each of the facts that a prompt shows says, by number."""
    return dict(re.findall(r"^(F\d+)\. [^:]+: (.+) \[", example.request.growing, re.MULTILINE))


def test_readings_are_not_longer_than_the_engine_reads(examples: list[Example], vocabulary: PromptTokens) -> None:
    """The facts of a reading stay within their tokens."""
    for example in of_kind(examples, "read", "read none", "read step", "read step none"):
        bare = replace(example.request, system="", growing="", tail="")
        assert len(vocabulary.prompt(example.request)) - len(vocabulary.prompt(bare)) <= TOKENS + 100


def test_grammars_allow_the_replies(examples: list[Example], vocabulary: PromptTokens) -> None:
    """Each prompt lets the model say what its example says, but for plans that name what only the memory tells of."""
    dropped: Counter[str] = Counter()
    tokens = list(tokenise(examples, vocabulary, dropped))

    assert dropped.keys() <= {"decompose"}
    assert dropped.total() < len(of_kind(examples, "decompose")) / 2
    assert Counter(each.kind for each in tokens) + dropped == Counter(example.kind for example in examples)
    assert {each.reply[-1] for each in tokens} == {vocabulary.reply("")[-1]}


def test_what_the_grammar_forbids_is_dropped_and_counted(examples: list[Example], vocabulary: PromptTokens) -> None:
    """An example that the model could not say at run time is not learnt, and that is told."""
    good = of_kind(examples, "read")[0]
    dropped: Counter[str] = Counter()
    bad = [replace(good, reply=reply) for reply in ("perhaps", "answer: tea\nfacts: F99", f"{good.reply}\n", "")]
    plan = replace(of_kind(examples, "decompose")[0], reply="Somebody did something\n1. no brackets")

    assert [each.kind for each in tokenise([*bad, plan, good], vocabulary, dropped)] == ["read"]
    assert dropped == {"read": 4, "decompose": 1}


def test_plans_name_nobody_whom_the_question_does_not_name(plain: list[Example], vocabulary: PromptTokens) -> None:
    """A small model misspells names and makes them up: the grammar of a plan has those of the question alone."""
    (example,) = [example for example in of_kind(plain, "decompose") if "Priya" in example.request.growing][:1]

    assert vocabulary.allows(example.request, "(Priya) has (x:date)\n1. (Priya) has (x:date)")
    assert not vocabulary.allows(example.request, "(Prina) has (x:date)\n1. (Prina) has (x:date)")
    assert not vocabulary.allows(example.request, "(Priya) has (x:date)\n1. Bertram has (x:date)")
    assert not vocabulary.allows(example.request, "(Priya) has (x:date)\n1. (Priya) got (x:date) on (31 May 1999)")


@pytest.mark.parametrize(
    ("question", "allowed", "refused"),
    [
        ("What did Priya buy?", "(Priya) bought (x:thing)", "(Priya) bought (x:thing) for (y:person)"),
        ("Who bought what?", "(x:person) bought (y:thing)", "somebody bought something"),
        ("Would Priya buy a bag?", "(Priya) would buy (the bag)", "(Priya) would buy (x:thing)"),
        ("Would Priya buy a bag?", "(Priya) would buy (a bag)", "(Priya) would buy (x,bag)"),
        ("Would Priya buy a bag?", "(Priya) would go to (the village)", "(Priya) would go to (v/village)"),
        ("Would Priya buy a bag at 7:30?", "(Priya) would buy (a bag) at 7:30", "(Priyanka) would buy (a bag)"),
        ("Who sells Priya tea?", "(x:person) sells tea on the way to (Priya)", "(x:person) sells (Tea) to (Priya)"),
        ("who sells priya tea?", "(x:person) sells tea to (Priya)", "(x:person) sells tea to (Pri)"),
        ("Where is Priya?", "(Priya) is in (x:city in the north)", "(Priya) is in (x:person)"),
    ],
)
def test_goal_has_the_variables_and_the_names_that_are_asked_for(
    book: PromptBook, vocabulary: PromptTokens, question: str, allowed: str, refused: str
) -> None:
    """A second variable is no part of an answer to one thing, and what yes or no answers has none, in no disguise; a
    name is as long as it is, and has its capital where the question has any; a place is no person.
    """
    asked = Question(question, MOMENT)
    inputs = {"question": question, "asker": "", "problem": ""}
    request = book["decompose"].request(inputs, plan_choices(asked))

    assert vocabulary.allows(request, f"{allowed}\n1. {allowed}")
    assert not vocabulary.allows(request, f"{refused}\n1. {allowed}")


def test_seed_decides_the_examples(
    talks: list[Talk], examples: list[Example], book: PromptBook, embedder: Embedder
) -> None:
    """The same seed renders the same examples; another one has other names in the same questions."""
    again = list(render(talks, book, embedder, 1))
    other = list(render(talks, book, embedder, 2))
    asked = [{asked_in(each)[0] for each in of_kind(some, "decompose")} for some in (examples, other)]

    assert again == examples
    assert len(asked[0]) == len(asked[1])
    assert len(asked[0] & asked[1]) < len(asked[0]) / 2


@pytest.mark.slow
def test_other_years_are_seen_where_they_are_wanted(talks: list[Talk], book: PromptBook, embedder: Embedder) -> None:
    """A memory as a whole is moved, its turns and what is said of them; by itself it stays in its years."""

    def years_of(variety: Variety) -> set[str]:
        examples = [example for seed in (1, 2) for example in render(talks, book, embedder, seed, variety)]
        return {year for each in examples for year in re.findall(r"\b\d{4}\b(?=[\];])", each.request.growing)}

    own, moved = years_of(Variety()), years_of(Variety(years=True))
    assert own and moved - own and {str(int(year) % 28) for year in moved} <= {str(int(year) % 28) for year in own}
