"""The benchmarks of questions about time: Test of Time and Complex-TR, read and scored."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.metrics.answer_sets import AnswerSet, answer_set, token_f1
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.trace import Status, Trace
from tests.conftest import CHECKOUT
from tests.reasoners.scripting import MOMENT

FACTS = ("E12 was the R3 of E40 from 1983 to 1989.", "E7 was the R3 of E40 from 1990 to 1991.")


def semantic(question: str, label: object, *facts: str, **keys: object) -> dict[str, object]:
    """Return a semantic row of Test of Time with its facts in the prompt."""
    told = "\n".join(facts or FACTS)
    prompt = f"Answer the question by the facts. Answer in JSON.\n\nFacts:\n{told}\n\nQuestion: {question}"
    known = {"graph_gen_algorithm": "er", "sorting_type": "shuffle", "question_type": "event_at_time_t"}
    return {"question": question, "prompt": prompt, "label": label, **known, **keys}


def complex_tr(name: str, answers: object, **keys: object) -> dict[str, object]:
    """Return a row of Complex-TR."""
    facts = "Ana Reis worked for Acme from May, 1955 to June, 1959.\nAna Reis worked for Bolt Ltd from 1960 to 1961."
    question = "For whom did Ana Reis work in 1957?"
    return {"id": name, "question": question, "fact_context": facts, "text_answers": {"text": answers}, **keys}


def written(folder: Path, *rows: object, name: str = "rows.jsonl") -> Path:
    """Write rows, one a line or as one array, by the file's ending."""
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text(f"[{', '.join(lines)}]" if name.endswith(".json") else "\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl"])
def test_rows_of_the_same_facts_share_a_conversation(tmp_path: Path, name: str) -> None:
    """Facts in another order are the same conversation; its turns go by their years; each row is a question of it."""
    path = written(tmp_path, semantic("Who?", "E12"), semantic("Who then?", "E7", *reversed(FACTS)), name=name)
    dataset = read_dataset([path])
    (conversation,) = dataset.conversations({case.conversation for case in dataset.cases})

    assert dataset.format == "tot"
    assert [(case.question, case.answer, case.category) for case in dataset.cases] == [
        ("Who?", "E12", "event_at_time_t"),
        ("Who then?", "E7", "event_at_time_t"),
    ]
    assert [(turn.text, turn.said and turn.said.year, turn.label) for turn in conversation.turns] == [
        (FACTS[0], 1983, "S1"),
        (FACTS[1], 1990, "S2"),
    ]
    assert not dataset.notes


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("{'answer': 13}", "13"),
        ("{'date': '2004-02-01'}", "2004-02-01"),
        ("{'H': 1, 'M': 33, 'S': 27}", '{"H": 1, "M": 33, "S": 27}'),
        ("{'explanation': 'so', 'time': '10:15', 'day': 'same_day'}", '{"time": "10:15", "day": "same_day"}'),
        ("{'unordered_list': ['Rome', 'Oslo']}", "Rome, Oslo"),
        ("{'unordered_list': []}", "[]"),
        ("{'answer': 'unanswerable'}", "unanswerable"),
        ('{"explanation": "", "answer": "2004-02-01"}', "2004-02-01"),
        ("{'unit': 'days', 'X': 3}", '{"unit": "days", "X": 3}'),
        (["E1", "E2"], "E1, E2"),
        ("['E1', 'E2']", "E1, E2"),
        (7, "7"),
        ("{not a dictionary}", "{not a dictionary}"),
    ],
)
def test_labels_are_read(tmp_path: Path, label: object, answer: str) -> None:
    """Of a dictionary the `answer` or the one value counts, lists are joined, and other text is the label."""
    (case,) = read_dataset([written(tmp_path, semantic("Who?", label))]).cases
    assert case.answer == answer
    assert case.answers == (("Rome", "Oslo") if answer == "Rome, Oslo" else ())
    assert case.is_unanswerable is (answer == "unanswerable")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Ana woke at 6:10. She left 45 minutes later. When did she leave?",
         ["Ana woke at 6:10.", "She left 45 minutes later."]),
        ('It was on 2005-04-14. What day was 7 days before? If the question cannot be answered, reply "no". Do not guess.',
         ["It was on 2005-04-14."]),
        ('The game was on 4 May. Format it as a JSON, eg: JSON = {"explanation": <your way>, "answer": "<it>"}.',
         ["The game was on 4 May."]),
        ("Ben is paid every 15 days. If today is 18 May, 2023, when is he paid? Use the date format in the question.",
         ["Ben is paid every 15 days.", "If today is 18 May, 2023"]),
        ("Lee reads 7 pages in 13 minutes. Report the values of H and M as a json of the form {}.",
         ["Lee reads 7 pages in 13 minutes."]),
        ("How many days has a week?", ["How many days has a week?"]),
    ],
)  # fmt: skip
def test_an_arithmetic_question_states_what_it_neither_asks_nor_demands(
    tmp_path: Path, question: str, told: list[str]
) -> None:
    """Its statements, and what its question takes for granted; not how to reply. All of it where nothing else is left."""
    row = {"question": question, "question_type": "add_subtract", "label": "{'answer': 1}"}
    dataset = read_dataset([written(tmp_path, row)])
    (conversation,) = dataset.conversations({dataset.cases[0].conversation})
    assert [turn.text for turn in conversation.turns] == told
    assert dataset.cases[0].question == question


def test_complex_tr_has_sets_of_answers_and_levels(tmp_path: Path) -> None:
    """The level is the category, the type of question where one is given; facts are turns at their times."""
    rows = [
        complex_tr("L2_Q1_P54_0", ["Acme"]),
        complex_tr("L3_Q1_P54_1", ["Acme", "Bolt Ltd", "Acme"]),
        complex_tr("x", ["Acme"], question_type="mine"),
    ]
    dataset = read_dataset([written(tmp_path, *rows)])
    (conversation,) = dataset.conversations({case.conversation for case in dataset.cases})

    assert dataset.format == "complex-tr"
    assert [(case.id, case.category, case.answers) for case in dataset.cases] == [
        ("L2_Q1_P54_0", "L2", ("Acme",)),
        ("L3_Q1_P54_1", "L3", ("Acme", "Bolt Ltd")),
        ("x", "mine", ("Acme",)),
    ]
    assert dataset.categories["mine"] == "mine"
    assert [turn.said and (turn.said.year, turn.said.month) for turn in conversation.turns] == [(1955, 5), (1960, 1)]


def test_bad_rows_are_counted_and_named(tmp_path: Path) -> None:
    """Each row that cannot be read is left out with its line and the reason; the others are asked as ever."""
    path = written(
        tmp_path,
        semantic("Who?", "E12"),
        '{"question": ',
        semantic("Who?", ""),
        {**semantic("Who?", "E12"), "prompt": "no facts"},
        {"question": 3, "question_type": "first_last", "label": "E1"},
        semantic("Which?", "E7", question_type="sideways"),
        semantic("Which one?", "E7", question_type=None),
    )
    dataset = read_dataset([path])
    conversations = list(dataset.conversations({case.conversation for case in dataset.cases}))

    assert [case.question for case in dataset.cases] == ["Who?", "Which?", "Which one?"]
    assert len(conversations) == 1
    assert [line.split(": ")[1] for line in dataset.skipped] == [
        "line 2, column 14", "line 3, label", "line 4, prompt", "line 5, question",
    ]  # fmt: skip
    assert all(line.startswith(str(path)) for line in dataset.skipped)
    assert dataset.notes[:2] == [
        "4 rows that cannot be read, left out",
        "1 questions without a type, in a category of their own",
    ]
    assert [dataset.categories[case.category] for case in dataset.cases] == ["event at time t", "sideways", "no type"]


def test_two_rows_with_one_id_are_a_bad_row(tmp_path: Path) -> None:
    """The second is left out and named."""
    dataset = read_dataset([written(tmp_path, complex_tr("a", ["Acme"]), complex_tr("a", ["Bolt Ltd"]))])

    assert [case.answers for case in dataset.cases] == [("Acme",)]
    assert dataset.skipped == (f"{tmp_path / 'rows.jsonl'}: line 2, id: is the id of an earlier row",)


def test_a_file_of_bad_rows_is_an_error(tmp_path: Path) -> None:
    """Where no row can be read, the first reason is the error."""
    path = written(tmp_path, complex_tr("a", []), complex_tr("b", []))
    with pytest.raises(InputError, match=r"line 1, text_answers.text: names no answer"):
        read_dataset([path])


def test_bad_rows_of_an_array_are_named_with_their_lines(tmp_path: Path) -> None:
    """The line that the row begins on, its place in the array and the reason, however the array is laid out."""
    path = tmp_path / "rows.json"
    good, bad = json.dumps(semantic("Who?", "E12")), json.dumps(semantic("Who?", ""), indent=1)
    path.write_text(f"[\n{good},\n\n{bad}, {good},\n7\n]\n", encoding="utf-8")
    dataset = read_dataset([path])

    assert len(dataset.cases) == 2
    assert dataset.skipped == (
        f"{path}: line 4, [1].label: is blank",
        f"{path}: line {4 + bad.count(chr(10)) + 1}, [3]: expected an object, found a number",
    )
    assert len(list(dataset.conversations({case.conversation for case in dataset.cases}))) == 1


def test_lines_of_a_long_array_are_counted(tmp_path: Path) -> None:
    """Beyond the stretch of a million characters that is held at a time."""
    row = json.dumps(semantic("Who?", "E12", *(f"E{number} was the R1 of E0 in 1990." for number in range(300))))
    path = tmp_path / "rows.json"
    path.write_text("[\n" + ",\n".join([row] * 400 + ["{}"]) + "]", encoding="utf-8")
    assert path.stat().st_size > 2_500_000
    assert read_dataset([path]).skipped == (f"{path}: line 402, [400].question: is missing",)


@pytest.mark.parametrize("benchmark", ["tot", "complex-tr"])
def test_unknown_types_of_question_are_categories_of_their_own(tmp_path: Path, benchmark: str) -> None:
    """Each under its own name, behind the known ones; questions without a type share one, and are counted."""
    rows = (
        [semantic("Who?", "E12", question_type=kind) for kind in ("sideways", "timeline", None, "backwards")]
        if benchmark == "tot"
        else [
            complex_tr("a", ["Acme"], question_type="sideways"), complex_tr("L2_b", ["Acme"]),
            complex_tr("c", ["Acme"]), complex_tr("d", ["Acme"], question_type="backwards"),
        ]
    )  # fmt: skip
    dataset = read_dataset([written(tmp_path, *rows)])

    known = "timeline" if benchmark == "tot" else "L2"
    assert [case.category for case in dataset.cases] == ["sideways", known, "no type", "backwards"]
    assert list(dataset.categories)[-3:] == ["sideways", "no type", "backwards"]
    assert "1 questions without a type, in a category of their own" in dataset.notes
    trace = Trace(Status.ANSWERED, "direct", "Who?", MOMENT, answer="E12")
    assert all("exact" in score(case, dataset.format, trace) for case in dataset.cases)


def many(path: Path, benchmark: str, rows: int, facts: int, *, are_bad: bool = False) -> Path:
    """Write rows of so many facts each, no two rows with the same facts; one is good where the others are bad."""
    told = [
        f"E{number} was the R{number % 7} of E{number + 1} from {1900 + number} to 1999." for number in range(facts)
    ]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            own = f"E{number} was the R2 of E0 in 1990."
            is_bad = are_bad and number > 0
            if benchmark == "tot":
                row = semantic(f"Who was it, {number}?", "" if is_bad else "E1", *told, own)
            else:
                answers = [] if is_bad else ["E1", f"E{number}"]
                row = complex_tr(f"L2_{number}", answers, fact_context="\n".join([*told, own]))
            file.write(f"{json.dumps(row)}\n")
    return path


def peak_of(path: Path) -> int:
    """Return the most memory, in bytes, that reading the questions and then every conversation takes at any time."""
    tracemalloc.start()
    try:
        dataset = read_dataset([path])
        told = sum(len(one.turns) for one in dataset.conversations({case.conversation for case in dataset.cases}))
        assert told >= len(dataset.cases)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


QUESTION_BYTES = 2000
"""What a question may take in memory: its own texts, and its places in the lists of names."""


@pytest.mark.parametrize("benchmark", ["tot", "complex-tr"])
def test_memory_grows_with_the_questions_and_not_with_their_facts(tmp_path: Path, benchmark: str) -> None:
    """Each further row takes what its question does, and as much with five times the facts."""
    few, more = (peak_of(many(tmp_path / f"{rows}.jsonl", benchmark, rows, 60)) for rows in (100, 300))
    long = peak_of(many(tmp_path / "long.jsonl", benchmark, 300, 300))

    assert (more - few) / 200 < QUESTION_BYTES
    assert (tmp_path / "long.jsonl").stat().st_size > 2_700_000
    assert long - more < 800_000  # one row of 14,000 characters, in all its forms


@pytest.mark.parametrize("benchmark", ["tot", "complex-tr"])
def test_bad_rows_are_named_without_being_held(tmp_path: Path, benchmark: str) -> None:
    """A row that cannot be read leaves its line and the reason behind, and nothing of its facts."""
    few, more = (peak_of(many(tmp_path / f"{rows}.jsonl", benchmark, rows, 60, are_bad=True)) for rows in (100, 300))
    assert (more - few) / 200 < QUESTION_BYTES


READING = """
import sys
from pathlib import Path
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
dataset = read_dataset([Path(sys.argv[1])])
turns = sum(len(one.turns) for one in dataset.conversations({case.conversation for case in dataset.cases}))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
print(len(dataset.cases), turns, 1024 * int(peak.split()[1]))
"""
"""Prints how many questions and turns there are, and the most memory that the process had at any time, in bytes."""
MANY = 16_000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's peak")
@pytest.mark.parametrize("benchmark", ["tot", "complex-tr"])
def test_many_questions_stream(tmp_path: Path, benchmark: str) -> None:
    """A process that reads them all, and then all their conversations, grows by the questions' own bytes alone."""
    grown: list[int] = []
    for rows in (1_000, MANY):
        path = many(tmp_path / f"{rows}.jsonl", benchmark, rows, 40)
        done = subprocess.run(
            [sys.executable, "-c", READING, str(path)], cwd=CHECKOUT, capture_output=True, text=True, check=True
        )
        cases, turns, peak = map(int, done.stdout.split())
        assert (cases, turns) == (rows, rows * 41)
        grown.append(peak)

    assert path.stat().st_size / MANY > 1700
    assert (grown[1] - grown[0]) / (
        MANY - 1_000
    ) < 1500  # the questions, their names and their places in lists: some 1,000


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("Acme", ["Acme"], AnswerSet(1, 1, 1, 1)),
        ("the Acme.", ["ACME"], AnswerSet(1, 1, 1, 1)),
        ("Acme and Bolt Ltd", ["Bolt Ltd", "Acme"], AnswerSet(1, 1, 0, 6 / 7)),
        ("Acme", ["Acme", "Bolt Ltd"], AnswerSet(0, 2 / 3, 1, 1)),
        ("Acme; Cobalt; Dune", ["Acme", "Bolt Ltd"], AnswerSet(0, 2 / 5, 0, 1 / 2)),
        ("Washington, D.C., Paris", ["Paris", "Washington, D.C."], AnswerSet(1, 1, 0, 1)),
        ("Marks and Spencer", ["Marks and Spencer"], AnswerSet(1, 1, 1, 1)),
        ("it was in Acme", ["Acme"], AnswerSet(0, 0, 0, 2 / 5)),
        ("", ["Acme"], AnswerSet(0, 0, 0, 0)),
    ],
)
def test_answer_sets_by_hand(prediction: str, answers: list[str], expected: AnswerSet) -> None:
    """Set accuracy, answer F1, exact match and token F1 are what they are on paper."""
    found = answer_set(prediction, answers)
    assert [found.accuracy, found.f1, found.exact, found.token_f1] == pytest.approx(
        [expected.accuracy, expected.f1, expected.exact, expected.token_f1]
    )


def test_token_f1_counts_words_as_often_as_both_have_them() -> None:
    """ "a b b" without its article against "b b c": two in common of two and three."""
    assert token_f1("a b b", "b b c") == pytest.approx(4 / 5)


def test_scores_go_by_the_benchmark() -> None:
    """An answer is scored by the rules of its own benchmark, and only sets of answers have the scores of sets."""
    trace = Trace(Status.ANSWERED, "direct", "Who?", MOMENT, answer="6 years")
    tot = score(Case("a", "c", "How long?", "6", (), "relation_duration"), "tot", trace)
    tr = score(Case("a", "c", "How long?", "6", (), "L2", answers=("6",)), "complex-tr", trace)

    assert (tot["exact"], tr["exact"]) == (1, 0)
    assert "set_accuracy" not in tot
    assert [tr["set_accuracy"], tr["answer_f1"], tr["f1"]] == pytest.approx([0, 0, 2 / 3])
