"""A run's folder: what is reported is kept, nothing is done twice, and another run is refused."""

import json
import resource
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.errors import InputError, StoreError, StoreLocked, UsageError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run, write_run
from goalmem_cli.lab.evaluation.runs.hypotheses import write_hypotheses
from goalmem_cli.lab.evaluation.runs.run import Answered, Manifest, Placed, Retrieved, Run, Verdict
from goalmem_cli.lab.evaluation.runs.sampling import choose
from goalmem_cli.records import Question
from goalmem_cli.trace import Status, Trace
from tests.lab.evaluation.runs import CASES, Echo, manifest
from tests.reasoners.scripting import MOMENT

PLACED = choose(CASES)
ANSWERED = Answered(
    "tea-01/1", "echo", "hybrid", Echo().answer(Question("What did Ana order? [é\u2028\ud800]", MOMENT)),
    {"read": 90}, {"read": 7},
)  # fmt: skip
RETRIEVED = Retrieved("tea-01/1", "hybrid", "question", ("What?",), (("D1:1",), ("tea-02 D1:1",)))
VERDICT = Verdict("tea-01/1", "echo", "hybrid", "judge", "strict", 1, None, "it is no JSON")


def filled(path: Path) -> Path:
    """Return the folder of a run with a result of each stage."""
    folder = RunFolder.begin(path, manifest(), PLACED)
    for result in (RETRIEVED, ANSWERED, VERDICT):
        folder.append(result)
    folder.close()
    return path


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    """Cases with their plans, and each stage's results, come back as they were; a lone surrogate as a question mark."""
    run = read_run(filled(tmp_path / "run"))

    assert run.manifest == manifest()
    assert run.cases == PLACED
    assert run.retrieved == (RETRIEVED,)
    assert run.verdicts == (VERDICT,)
    assert run.answered[0].trace.question == "What did Ana order? [é\u2028?]"
    assert (run.answered[0].shown, run.answered[0].written) == ({"read": 90}, {"read": 7})
    assert run.answered[0].trace.actions == ANSWERED.trace.actions


@pytest.mark.parametrize("cut", [1, 2, 40, 400])
def test_a_line_that_was_cut_off_is_dropped_and_written_anew(tmp_path: Path, cut: int) -> None:
    """A process killed while it wrote loses that result alone: reading passes over it, going on replaces it."""
    path = filled(tmp_path / "run")
    file = path / "answered.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-cut])

    assert len(read_run(path).answered) == 1
    folder = RunFolder.begin(path, manifest(), PLACED)
    folder.append(ANSWERED)
    folder.close()
    assert file.read_bytes() == whole + whole


def test_a_damaged_line_is_an_error_with_its_place(tmp_path: Path) -> None:
    """What is no result in the middle of a file is named by file and line."""
    path = filled(tmp_path / "run")
    (path / "verdicts.jsonl").write_text('{"case": 5}\n')
    with pytest.raises(InputError, match=r"verdicts\.jsonl: line 1"):
        read_run(path)
    (path / "verdicts.jsonl").write_text("nonsense\n")
    with pytest.raises(InputError, match=r"verdicts\.jsonl: line 1: not JSON"):
        read_run(path)


def test_reasoners_may_be_added_and_anything_else_is_another_run(tmp_path: Path) -> None:
    """The run goes on with a further reasoner; another budget is refused, and the message says what differs."""
    path = filled(tmp_path / "run")
    RunFolder.begin(path, manifest(reasoners=("react",), sources=("elsewhere.json",)), PLACED).close()

    assert read_run(path).manifest.reasoners == ("echo", "react")
    RunFolder.begin(path, manifest(prompts={"react": "p2"}), PLACED).close()
    assert read_run(path).manifest.prompts == {"read": "p1", "react": "p2"}
    with pytest.raises(UsageError, match="the prompt of the step react"):
        RunFolder.begin(path, manifest(prompts={"react": "p3"}), PLACED)
    with pytest.raises(UsageError, match="budget is 60 in one and 10 in the other"):
        RunFolder.begin(path, manifest(settings={"budget": "10"}), PLACED)
    with pytest.raises(UsageError, match="model is scripted in one and big in the other"):
        RunFolder.begin(path, manifest(model="big"), PLACED)


def test_an_older_run_says_that_its_certainty_was_that_of_a_step(tmp_path: Path) -> None:
    """It is read with that in words, and no run that means an answer's certainty goes on with it."""
    RunFolder.begin(tmp_path / "run", manifest(settings={"certainty": "15"}), PLACED).close()

    assert read_run(tmp_path / "run").manifest.settings["certainty"] == "15 of a step"
    with pytest.raises(UsageError, match="certainty is 15 of a step in one and 15 of an answer in the other"):
        RunFolder.begin(tmp_path / "run", manifest(settings={"certainty": "15 of an answer"}), PLACED)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    """A run never begins among files that are not its own."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="holds no run"):
        RunFolder.begin(tmp_path, manifest(), PLACED)
    with pytest.raises(UsageError, match="holds no run"):
        read_run(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("left", [(), (".cases.jsonl.part",), ("cases.jsonl",), ("cases.jsonl", ".run.json.part")])
def test_a_run_that_was_killed_while_it_began_begins_again(tmp_path: Path, left: tuple[str, ...]) -> None:
    """What was written before the manifest was is no other's, and does not stand in the way."""
    for name in ("run.lock", *left):
        (tmp_path / name).write_text("half of it")
    assert read_run(filled(tmp_path)).cases == PLACED


def test_what_lies_beside_the_files_is_no_matter(tmp_path: Path) -> None:
    """A run kept in the dataset's own folder goes on, though its files are among those passed over there."""
    path = filled(tmp_path / "run")
    RunFolder.begin(path, manifest(repairs={"files in the folders without questions, passed over": 5}), PLACED).close()
    assert read_run(path).manifest == manifest()


def test_a_new_run_does_not_go_on_with_another(tmp_path: Path) -> None:
    """Where a new run is wanted, the one that is there is left as it is."""
    path = filled(tmp_path / "run")
    with pytest.raises(UsageError, match="holds a run already"):
        RunFolder.begin(path, manifest(reasoners=("react",)), PLACED, is_new=True)
    assert read_run(path).manifest == manifest()


def test_a_full_disk_is_one_error_and_costs_one_result(tmp_path: Path) -> None:
    """The write that finds no room and the closing after it fail as errors of ours; the run goes on from before."""
    path = filled(tmp_path / "run")
    folder = RunFolder.going_on(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((path / "answered.jsonl").stat().st_size + 20, hard))
    try:
        with pytest.raises(StoreError, match=r"answered\.jsonl"):
            folder.append(ANSWERED)
        with pytest.raises(StoreError):
            folder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(read_run(path).answered) == 1
    RunFolder.going_on(path).close()


def test_one_process_writes_a_run_at_a_time(tmp_path: Path) -> None:
    """The second is told, and the first is not disturbed."""
    folder = RunFolder.begin(tmp_path / "run", manifest(), PLACED)
    with pytest.raises(StoreLocked, match="another process"):
        RunFolder.going_on(tmp_path / "run")
    folder.append(ANSWERED)
    folder.close()
    RunFolder.going_on(tmp_path / "run").close()
    assert len(read_run(tmp_path / "run").answered) == 1


def test_a_whole_run_is_written_as_it_was_measured(tmp_path: Path) -> None:
    """Writing a run into a new folder gives the very files."""
    path = filled(tmp_path / "run")
    write_run(tmp_path / "copy", read_run(path))

    for name in ("run.json", "cases.jsonl", "retrieved.jsonl", "answered.jsonl", "verdicts.jsonl"):
        assert (tmp_path / "copy" / name).read_bytes() == (path / name).read_bytes()
    with pytest.raises(UsageError, match="not empty"):
        write_run(tmp_path / "copy", read_run(path))


MOMENT = datetime(2024, 3, 3, 12)
MANIFEST = Manifest(
    "lme", "longmemeval", "0", ("lme.json",), ("direct", "goal-mem"), ("bm25",), "small", {}, {}, {}, {}, "0"
)  # fmt: skip
QUESTIONS = ("e47becba", "gpt4_2655b836", "0862e8bf_abs")


def answered(case: str, text: str | None, reasoner: str = "direct", backbone: str = "bm25") -> Answered:
    """An answer; None is an unknown one."""
    status = Status.UNKNOWN if text is None else Status.ANSWERED
    return Answered(case, reasoner, backbone, Trace(status, reasoner, "?", MOMENT, answer=text))


def run_of(*answers: Answered) -> Run:
    """A run of three questions, which lie in the order of their places."""
    cases = (Case(id_, "c", "?", "x", (), "multi-session", id_.endswith("_abs")) for id_ in QUESTIONS)
    return Run(MANIFEST, tuple(Placed(place, case) for place, case in enumerate(cases)), (), answers)


def read_by_the_scorer(file: Path) -> list[dict[str, Any]]:
    """Return what the published script gets: lines of a text file, each through json.loads, none skipped."""
    with open(file) as lines:  # noqa: PTH123 - as the script does, in the system's encoding
        return [json.loads(line) for line in lines.readlines()]


def test_the_scorer_finds_its_keys_in_every_file(tmp_path: Path) -> None:
    """A file for each reasoner and backbone, a line for each question in the run's order, the two keys and no other."""
    run = run_of(
        answered(QUESTIONS[1], "six weeks"),
        answered(QUESTIONS[0], "Business Administration"),
        answered(QUESTIONS[2], None),
        answered(QUESTIONS[0], "business", "goal-mem"),
        answered(QUESTIONS[0], "a degree", "direct", "hybrid"),
    )
    files = write_hypotheses(run, tmp_path / "out")

    assert [file.name for file in files] == [
        "hypotheses.direct.bm25.jsonl", "hypotheses.direct.hybrid.jsonl", "hypotheses.goal-mem.bm25.jsonl",
    ]  # fmt: skip
    entries = read_by_the_scorer(files[0])
    assert entries == [
        {"question_id": QUESTIONS[0], "hypothesis": "Business Administration"},
        {"question_id": QUESTIONS[1], "hypothesis": "six weeks"},
        {"question_id": QUESTIONS[2], "hypothesis": "Not mentioned"},
    ]
    assert read_by_the_scorer(files[1]) == [{"question_id": QUESTIONS[0], "hypothesis": "a degree"}]
    assert read_by_the_scorer(files[2]) == [{"question_id": QUESTIONS[0], "hypothesis": "business"}]


@pytest.mark.parametrize(
    "text", ['two\nlines and a "quote"', "a\u2028b\x85c\x0bd\x1ce\r\n", "日本 🙂", "C:\\new", "{}", "half \ud83d"]
)
def test_any_answer_is_one_line_in_any_encoding(tmp_path: Path, text: str) -> None:
    """Line breaks, other scripts and half a surrogate pair neither end a line nor depend on the system's encoding."""
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], text)), tmp_path)

    assert file.read_bytes().isascii()
    assert file.read_bytes().count(b"\n") == 1
    (entry,) = read_by_the_scorer(file)
    assert entry["hypothesis"] == text.replace("\ud83d", "?")
    assert entry["hypothesis"].encode("utf-8")


def test_writing_again_replaces_the_file(tmp_path: Path) -> None:
    """A run that went on has its file written whole, and nothing else lies beside it."""
    write_hypotheses(run_of(answered(QUESTIONS[0], "a")), tmp_path)
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], "a"), answered(QUESTIONS[1], "b")), tmp_path)

    assert [entry["hypothesis"] for entry in read_by_the_scorer(file)] == ["a", "b"]
    assert list(tmp_path.iterdir()) == [file]


def test_other_datasets_have_none(tmp_path: Path) -> None:
    """Only LongMemEval's scorer reads such files; for other formats nothing is written."""
    run = run_of(answered(QUESTIONS[0], "a"))

    assert write_hypotheses(replace(run, manifest=replace(MANIFEST, format="locomo")), tmp_path / "out") == []
    assert write_hypotheses(run_of(), tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


def test_a_rows_name_is_no_path(tmp_path: Path) -> None:
    """A run from elsewhere cannot make goalmem write outside the folder."""
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], "a", "../../x", "/etc")), tmp_path / "out")

    assert file.parent == tmp_path / "out"
    assert file.name == "hypotheses.______x._etc.jsonl"


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        write_hypotheses(run_of(answered(QUESTIONS[0], "a")), tmp_path / "file")
