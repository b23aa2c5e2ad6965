"""A run's folder: what is reported is kept, nothing is done twice, and another run is refused."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError, StoreError, StoreLocked, UsageError
from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run, write_run
from goalmem_cli.lab.evaluation.runs.run import Answered, Retrieved, Verdict
from goalmem_cli.lab.evaluation.runs.sampling import choose
from goalmem_cli.records import Question
from tests.lab.evaluation.runs import CASES, Echo, manifest
from tests.reasoners.scripting import MOMENT

PLACED = choose(CASES)
ANSWERED = Answered(
    "tea-01/1", "echo", "hybrid", Echo().answer(Question("What did Ana order? [é\u2028\ud800]", MOMENT))
)
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
