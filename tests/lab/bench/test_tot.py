"""`goalmem bench tot`: questions about time whose answers a reading year by year gives too, and the engine's own."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.bench.sums.replay import replay_prompts, replayed
from goalmem_cli.lab.bench.tot.files import ARITHMETIC, COMPLEX_TR, TOT, Asked, made_up
from goalmem_cli.lab.bench.tot.graphs import ALGORITHMS, MOST_NODES, RELATIONS, Span, edges, person_of, thing_of
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.datasets.tot import SEMANTIC
from goalmem_cli.lab.evaluation.metrics.answer_sets import answer_set
from goalmem_cli.lab.evaluation.metrics.tot_match import is_tot_match
from goalmem_cli.main import run

Fact = tuple[str, str, str, int, int]

PLAIN = re.compile(r"(?P<x>E\d+) was the (?P<r>R\d+) of (?P<o>E\d+) from (?P<y>\d+) to (?P<z>\d+)\.")
NAMED = re.compile(
    r"(?P<o>\S+ \S+) (?P<r>worked for|lived in|played for|taught at) (?P<x>.+) from (?P<y>\d+) to (?P<z>\d+)\."
)


def read(asked: Asked, pattern: re.Pattern[str]) -> list[Fact]:
    """Return the facts of a question's conversation as its words have them: who, in what relation, to whom, when."""
    found = [pattern.fullmatch(turn.text) for turn in asked.story.turns]
    return [(m["x"], m["r"], m["o"], int(m["y"]), int(m["z"])) for m in found if m is not None]


def held(facts: list[Fact], years: range) -> list[str]:
    """Return what held in any of the years, gone through one by one."""
    return list(dict.fromkeys(f[0] for f in facts if any(year in range(f[3], f[4] + 1) for year in years)))


def between(text: str) -> range:
    """Return the years that a question names."""
    years = [int(year) for year in re.findall(r"\b(?:1[89]|20)\d\d\b", text)]
    return range(years[0], years[-1] + 1)


def plain_answer(asked: Asked) -> list[str]:
    """Return the answer to a question of Test of Time's form, from the words of question and facts alone."""
    text, facts = asked.question.text, read(asked, PLAIN)
    roles = re.findall(r"the (R\d+) of (E\d+)", text)
    group = sorted((f for f in facts if (f[1], f[2]) == roles[0]), key=lambda f: f[3])
    names = [f[0] for f in group]
    who = re.search(r"(?:was|did|that|which) (E\d+)|right \w+ (E\d+)", text)
    own = [f for f in group if who is not None and f[0] in who.groups()]
    match asked.question.type:
        case "event_at_time_t":
            return held(group, between(text))
        case "event_at_the_time_of_another_event":
            began = re.search(r"in which (E\d+) began to be the (R\d+) of (E\d+)", text)
            assert began is not None
            (year,) = [f[3] for f in facts if f[:3] == began.groups()]
            return held(group, range(year, year + 1))
        case "number_of_events_in_time_interval":
            return [str(len(held(group, between(text))))]
        case "timeline":
            return list(dict.fromkeys(names))
        case "first_last":
            return [names[0 if "first" in text else -1]]
        case "before_after":
            return [names[names.index(own[0][0]) + (-1 if "before" in text else 1)]]
        case "relation_duration":
            time = re.search(r"the (\d)(?:st|nd|rd) time", text)
            span = own[int(time[1]) - 1 if time else 0]
            return [str(len(range(span[3], span[4])))]
    return [str(own[0][3 if "begin" in text else 4])]


def named_answer(asked: Asked) -> list[str]:
    """Return the answer to a question of Complex-TR's form, likewise."""
    text, facts = asked.question.text, read(asked, NAMED)
    told = [
        (m[1], m[2]) for m in re.finditer(r"(?:that|which) (\S+ \S+) (worked for|lived in|played for|taught at)", text)
    ]
    person, verb = told[0]
    group = sorted((f for f in facts if (f[1], f[2]) == (verb, person)), key=lambda f: f[3])
    if (beside := re.search(r"right (before|after) (.+)\?", text)) is not None:
        names = [f[0] for f in group]
        return [names[names.index(beside[2]) + (-1 if beside[1] == "before" else 1)]]
    if len(told) == 2:
        (span,) = [f for f in facts if (f[2], f[1]) == told[1] and text.endswith(f" {f[0]}?")]
        return held(group, range(span[3], span[4] + 1))
    return held(group, between(text))


def arithmetic_answer(asked: Asked) -> set[str]:
    """Return the answer to an arithmetic question, from the words of its statements alone."""
    told = [turn.text for turn in asked.story.turns]
    days = [day_of(found) for found in re.findall(r"\d+ \w+ \d{4}", " ".join(told))]
    minutes = [int(found) for found in re.findall(r"(\d+) minutes", " ".join(told))]
    match asked.question.type:
        case "add_subtract":
            return {str(sum(minutes))}
        case "multi_op":
            return {str(sum(minutes) // len(minutes))}
        case "compare":
            return {told[days.index(min(days))].split()[0]}
        case "duration":
            return {str((days[1] - days[0]).days)}
        case "trick":
            return {days[1].isoformat() if len(days) == 2 else "unanswerable"}
    return set.intersection(*(set(re.findall(r"\w+day", text)) for text in told))


def day_of(text: str) -> date:
    """Return the day that is written as 7 May 2023."""
    return datetime.strptime(text, "%d %B %Y").date()


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(ALGORITHMS), st.integers(5, 20), st.integers(0, 10_000))
def test_answers_are_those_of_a_reading_year_by_year(algorithm: str, nodes: int, seed: int) -> None:
    """From the words alone, by going through the years, the same answer comes out, for every type and algorithm."""
    for asked in made_up(TOT, 16, [algorithm], nodes, seed):
        assert plain_answer(asked) == list(asked.question.answer), asked.question
    for asked in made_up(COMPLEX_TR, 8, [algorithm], nodes, seed):
        assert set(named_answer(asked)) == set(asked.question.answer), asked.question


def is_right(asked: Asked, answer: str | None) -> bool:
    """Say whether an answer is right by the benchmark's own rule."""
    if asked.row.get("label") is not None:
        in_any_order = "unordered_list" in str(asked.row["label"])
        return is_tot_match(answer or "unanswerable", str(asked.row["label"]), in_any_order=in_any_order)
    return answer_set(answer or "", asked.question.answer).accuracy == 1


@pytest.mark.parametrize(
    ("form", "count"),
    [
        (TOT, 24),
        (ARITHMETIC, 12),
        (COMPLEX_TR, 8),
        *(pytest.param(form, 400, marks=pytest.mark.slow) for form in (TOT, ARITHMETIC, COMPLEX_TR)),
    ],
)
def test_gold_plans_give_the_exact_answers(form: str, count: int) -> None:
    """With gold plans and groundings the engine computes the right answer to questions of all types, 400 of each form."""
    prompts = replay_prompts()
    every = list(made_up(form, count, ALGORITHMS, 12))
    wrong = [
        (one.question, trace.answer, trace.notes)
        for one in every
        if not is_right(one, (trace := replayed(one.story, one.question, prompts).trace).answer)
    ]

    assert wrong == []
    assert {one.question.type for one in every} == TYPES[form]


TYPES = {
    TOT: set(SEMANTIC),
    ARITHMETIC: {"add_subtract", "compare", "duration", "multi_op", "schedule", "trick"},
    COMPLEX_TR: {"L2", "L3"},
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_graphs_of_any_size_give_questions_of_all_types(algorithm: str) -> None:
    """By each algorithm: of a few nodes, and of so many that a node has more to do with others than can be asked."""
    large = MOST_NODES if algorithm in ("ba", "star", "sfn") else 40
    for form in (TOT, COMPLEX_TR):
        for nodes, count in ((6, 64), (large, 24)):
            types = {one.question.type for one in made_up(form, count, [algorithm], nodes)}
            assert types == TYPES[form], (form, nodes)


def test_arithmetic_questions_carry_their_statements_and_their_answer(tmp_path: Path) -> None:
    """As the benchmark's do: read again, the statements are the conversation, and the label a dictionary."""
    path = tmp_path / "tot_arithmetic.jsonl"
    made = list(made_up(ARITHMETIC, 24, (), 0, 5))
    path.write_text("\n".join(json.dumps(one.row) for one in made), encoding="utf-8")
    dataset = read_dataset([path])
    talks = {talk.name: talk for talk in dataset.conversations({case.conversation for case in dataset.cases})}

    assert not dataset.notes
    for case, one in zip(dataset.cases, made, strict=True):
        assert [turn.text for turn in talks[case.conversation].turns] == [turn.text for turn in one.story.turns]
        assert (case.question, case.answer) == (one.question.text, ", ".join(one.question.answer))
        assert case.is_unanswerable is (one.question.answer == ("unanswerable",))
        assert arithmetic_answer(one) == set(one.question.answer)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_graphs_are_simple_and_repeatable(algorithm: str) -> None:
    """An edge joins two nodes of the graph, no two edges the same two; the same seed gives the same graph."""
    made = [edges(algorithm, 20, random.Random(seed)) for seed in (1, 1, 2)]  # noqa: S311
    pairs = {frozenset(edge) for edge in made[0]}

    assert made[0] == made[1] != made[2]
    assert len(pairs) == len(made[0]) > 10
    assert all(len(pair) == 2 and pair <= set(range(20)) for pair in pairs)


def test_a_graph_of_no_such_algorithm_is_refused() -> None:
    """The error names those that there are; so many people as nodes have no names."""
    with pytest.raises(UsageError, match="no graph algorithm 'ring'"):
        next(made_up(TOT, 1, ["ring"], 10))
    with pytest.raises(UsageError, match=f"names for {MOST_NODES} nodes"):
        next(made_up(COMPLEX_TR, 1, ["er"], MOST_NODES + 1))


def test_names_tell_nodes_apart() -> None:
    """Each node has a name of its own in every role."""
    assert len({person_of(node) for node in range(MOST_NODES)}) == MOST_NODES
    for relation in range(RELATIONS):
        assert len({thing_of(Span(0, relation, node, 1900, 1901)) for node in range(MOST_NODES)}) == MOST_NODES


def test_the_command_writes_what_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice the same arguments give the same bytes; a replay is right on all; the readers give every question back."""
    arguments = ["bench", "tot", "--questions", "10", "--nodes", "8", "--seed", "3", "--replay", "--json"]
    written: list[Mapping[str, Any]] = []
    for name in ("one", "two"):
        assert run([*arguments, str(tmp_path / name)]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["right"] == document["questions"]
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})

    assert written[0] == written[1]
    for file, form in (("tot_semantic.jsonl", TOT), ("complex_tr.jsonl", COMPLEX_TR)):
        dataset = read_dataset([tmp_path / "one" / file])
        made = list(made_up(form, 10, ALGORITHMS, 8, 3))
        assert not dataset.notes
        assert [(case.question, case.answer) for case in dataset.cases] == [
            (one.question.text, ", ".join(one.question.answer)) for one in made
        ]
        talks = {talk.name: talk for talk in dataset.conversations({case.conversation for case in dataset.cases})}
        for case, one in zip(dataset.cases, made, strict=True):
            assert case.evidence == tuple(dict.fromkeys(gold.turn for gold in one.question.groundings))
            told = [(turn.text, turn.said) for turn in talks[case.conversation].turns]
            assert told == [(turn.text, turn.said) for turn in one.story.turns]


def test_forms_and_algorithms_are_chosen_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the form that is named is written, by the algorithms named; another name is refused."""
    assert run(["bench", "tot", str(tmp_path), "--form", "tot", "--algorithms", "star", "--questions", "8"]) == 0
    (file,) = tmp_path.iterdir()
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    assert {row["graph_gen_algorithm"] for row in rows} == {"star"}
    assert "event_at_time_t" in capsys.readouterr().out
    assert run(["bench", "tot", str(tmp_path), "--form", "tot,sums"]) == 2
    assert "there is no form 'sums'" in capsys.readouterr().err
