"""`goalmem trace`: past proofs, listed, shown again, and written down to pass on."""

import json
from pathlib import Path

import pytest

from tests.cli.test_ask import QUESTION, failing, proving
from tests.invoking import Goalmem


def test_a_trace_is_kept_and_shown_again(momoco: Goalmem) -> None:
    """Every question asked is listed; a trace is shown as it was, as a tree or as JSON."""
    assert "no question" in momoco("trace").err
    asked = json.loads(momoco("ask", QUESTION, "--json", factories=proving()).out)
    momoco("ask", "Who?", "--max-breadth", "1", factories=failing())
    listed = json.loads(momoco("trace", "--json").out)["traces"]
    assert [(row["status"], row["question"]) for row in listed] == [("answered", QUESTION), ("unknown", "Who?")]
    assert json.loads(momoco("trace", "show", listed[0]["id"], "--json").out) == asked
    assert "answer: Kyoto Latte" in momoco("trace", "show", listed[0]["id"]).out
    assert "unknown: " in momoco("trace", "show").out
    assert listed[1]["id"] in momoco("trace", "list").out


@pytest.mark.parametrize("name", ["nothing", "../../etc/passwd", ""])
def test_a_trace_that_is_not_there_is_a_usage_error(momoco: Goalmem, name: str) -> None:
    """An id that is none, or a path, is refused."""
    momoco("ask", QUESTION, factories=proving())
    assert momoco("trace", "show", name).code == 2


def test_a_proof_is_written_as_page_and_picture(momoco: Goalmem, tmp_path: Path) -> None:
    """Both hold the whole proof, what was there before is replaced, and stdout stays empty."""
    momoco("ask", QUESTION, factories=proving())
    page, picture = tmp_path / "proof.html", tmp_path / "proof.svg"
    page.write_text("old", "utf-8")
    outcome = momoco("trace", "show", "--html", str(page), "--svg", str(picture))
    assert (outcome.code, outcome.out) == (0, "")
    assert "proof.svg holds the proof" in outcome.err
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert all("Kyoto Latte" in file.read_text("utf-8") for file in (page, picture))


def test_a_proof_is_printed_as_markdown(momoco: Goalmem) -> None:
    """It begins with the question; JSON beside it is refused."""
    momoco("ask", QUESTION, factories=proving())
    assert momoco("trace", "show", "--markdown").out.startswith(f"### {QUESTION}\n\n- goal: ")
    outcome = momoco("trace", "show", "--markdown", "--json")
    assert outcome.code == 2
    assert "--markdown and --json" in outcome.error_lines[0]


def test_prompts_are_kept_on_request(momoco: Goalmem) -> None:
    """Each prompt with its reply is printed as the model had it; without the request there is none, which is said."""
    momoco("ask", QUESTION, factories=proving())
    outcome = momoco("trace", "show", "--prompts")
    assert outcome.code == 2 and "--keep-prompts" in outcome.err

    momoco("ask", QUESTION, "--keep-prompts", factories=proving())
    kept = json.loads(momoco("trace", "show", "--json").out)["exchanges"]
    printed = momoco("trace", "show", "--prompts").out
    assert [each["step"] for each in kept] == [
        line.split()[2][:-1] for line in printed.split("\n") if line[:3] == "==="
    ]
    assert all(role in ("system", "user", "assistant") for each in kept for role, _ in each["messages"])
    assert QUESTION in printed and kept[-1]["reply"].strip() in printed


def test_a_trace_tells_where_the_time_went(momoco: Goalmem) -> None:
    """The seconds of the stages add up to about those of the question, and --verbose prints them."""
    outcome = momoco("ask", QUESTION, "--verbose", factories=proving())
    trace = json.loads(momoco("trace", "show", "--json").out)
    stages = {stage["name"]: stage for stage in trace["stages"]}

    assert {"searching", "embedding", "laying out facts", "checking and the rest"} <= stages.keys()
    assert sum(stage["seconds"] for stage in stages.values()) >= trace["usage"]["seconds"]
    assert (
        sum(stage["times"] for name, stage in stages.items() if name.startswith("model: ")) == trace["usage"]["calls"]
    )
    assert all(name in outcome.err and name in momoco("trace", "show", "--verbose").err for name in stages)


@pytest.mark.parametrize("option", ["--html", "--svg"])
@pytest.mark.parametrize("place", ["", "file/below.html", "n" * 300], ids=["a folder", "below a file", "too long"])
def test_a_file_that_cannot_be_written_is_one_error(momoco: Goalmem, tmp_path: Path, option: str, place: str) -> None:
    """It names the file and the option that chooses another, and leaves nothing behind."""
    momoco("ask", QUESTION, factories=proving())
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "file").write_text("old", "utf-8")
    outcome = momoco("trace", "show", option, str(folder / place))
    assert outcome.code == 3
    assert str(folder) in outcome.error_lines[0]
    assert option in outcome.error_lines[1]
    assert [(path.name, path.read_text("utf-8")) for path in folder.iterdir()] == [("file", "old")]


def test_page_and_picture_do_not_share_a_file(momoco: Goalmem, tmp_path: Path) -> None:
    """One name for both is refused before anything is written."""
    momoco("ask", QUESTION, factories=proving())
    outcome = momoco("trace", "show", "--html", str(tmp_path / "proof"), "--svg", str(tmp_path / "proof"))
    assert outcome.code == 2
    assert "--html and --svg" in outcome.error_lines[0]
    assert not (tmp_path / "proof").exists()
