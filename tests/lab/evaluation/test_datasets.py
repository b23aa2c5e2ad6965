"""Datasets from files and folders, in every layout."""

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.lab.evaluation.datasets.loading import LAYOUTS, read_dataset
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts import FORMATS
from goalmem_cli.transcripts.reading.drafts import STRETCH_TURNS
from tests.conftest import examples
from tests.lab.evaluation.test_beam import chat as beam_chat
from tests.lab.evaluation.test_came import question as came_question
from tests.lab.evaluation.test_came import trajectory
from tests.lab.evaluation.test_multihop import musique, pairs
from tests.lab.evaluation.test_time_questions import complex_tr, semantic
from tests.transcripts.layouts import LONGMEMEVAL, REALTALK

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "x", "D1:1", "[", "1"])
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner))
PLANNED: dict[str, object] = {
    "question": "Who?",
    "answer": "A",
    "evidence": ["D1:1"],
    "category": 4,
    "goal": "(A) is (x:person)",
    "answer_variables": ["x"],
    "subgoals": [{"text": "(A) is (x:person)", "facts": ["D1:1"], "bindings": {"x": "A"}}],
    "refinements": [{"of": 0, "query": "A", "text": "(A) is there", "facts": [], "bindings": {}}],
}
NAMED = REALTALK | {
    "events_session_1": {"agent_a": [{"sub-event": "Kate sits."}], "agent_b": [{"sub-event": "Bo sits."}]}
}


def sample(name: str, *texts: str, is_asked: bool = True) -> dict[str, object]:
    """Return a LoCoMo sample of that id with the texts, and a question about the first."""
    turns = [{"speaker": "A", "dia_id": f"D1:{number}", "text": text} for number, text in enumerate(texts, 1)]
    asked = [{"question": f"Who is {name}?", "answer": "A", "evidence": ["D1:1"], "category": 4}]
    return {"sample_id": name, "conversation": {"session_1": turns}, **({"qa": asked} if is_asked else {})}


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a document, as what holds it and its key or index."""
    keys = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in keys:
        yield value, key
        yield from _places(inner)


def written(path: Path, document: object) -> Path:
    """Write the document as JSON and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_layout_is_recognised(tmp_path: Path, name: str) -> None:
    """A file of each layout is one dataset, of which every conversation that a case names can be had."""
    documents = {"locomo": sample("s", "x"), "longmemeval": [LONGMEMEVAL], "realtalk": REALTALK}
    documents |= {"tot": [semantic("Who?", "E12")], "complex-tr": [complex_tr("a", ["Acme"])]}
    documents |= {
        "musique": [musique("2hop__1_2")],
        "2wiki": [pairs("a", evidences=[])],
        "hotpotqa": [pairs("a", level="hard")],
    }
    if name == "beam":
        path = beam_chat(tmp_path / "set", {"abstention": [{"question": "Who?"}]})
    else:
        path = trajectory(tmp_path / "set", came_question()) if name == "came" else tmp_path / "set.json"
    if name in documents:
        written(path, documents[name])
    for form in (None, name):
        dataset = read_dataset([path], form)

        assert (dataset.name, dataset.format, len(dataset.cases)) == ("set", name, 1)
        assert dataset.cases[0].category in dataset.categories
        (conversation,) = dataset.conversations({dataset.cases[0].conversation})
        assert (conversation.own_id or conversation.name) == conversation.name == dataset.cases[0].conversation
        assert set(dataset.cases[0].evidence) <= {turn.label for turn in conversation.turns}
    assert name in FORMATS


def test_several_paths_are_one_dataset(tmp_path: Path) -> None:
    """Files are read in the order they are named in; the digest is of their contents in that order, not their names."""
    paths = [written(tmp_path / "talks" / f"{name}.json", sample(name, "x")) for name in ("b", "a")]
    dataset = read_dataset(paths)

    assert [case.id for case in dataset.cases] == ["b:1", "a:1"]
    assert dataset.name == "talks"
    moved = [shutil.copy(path, tmp_path / f"{number}.json") for number, path in enumerate(paths)]
    assert read_dataset([Path(path) for path in moved]).digest == dataset.digest
    assert read_dataset(paths[::-1]).digest != dataset.digest
    other = written(tmp_path / "elsewhere" / "c.json", sample("c", "x"))
    assert read_dataset([*paths, other]).name == "b+2"
    assert read_dataset([other, other]).name == "c"


def test_a_folder_gives_its_datasets_files(tmp_path: Path) -> None:
    """Notes, other transcripts and conversations without questions are passed over, and counted."""
    folder = tmp_path / "corpus"
    for name in ("one", "two"):
        written(folder / f"{name}.json", sample(name, "x"))
    written(folder / "plain.json", sample("plain", "x", is_asked=False))
    written(folder / "chat.json", [{"role": "user", "content": "x"}])
    (folder / "SPEC.md").write_text("# The form\n", "utf-8")
    (folder / "check.py").write_text("print()\n", "utf-8")
    dataset = read_dataset([folder])

    assert dataset.name == "corpus"
    assert [case.conversation for case in dataset.cases] == ["one", "two"]
    assert dataset.repairs == {Repair.NO_QUESTIONS: 3}


def test_the_labels_of_a_trajectory_are_nothing_to_speak_of(tmp_path: Path) -> None:
    """Found beside it they are not passed over; a file of their name that belongs to none is, and one named is refused."""
    labels = trajectory(tmp_path / "came" / "traj-0", came_question()) / "labels.jsonl"
    labels.write_text('{"turn": "1", "scope": "x"}\n', "utf-8")
    assert read_dataset([tmp_path / "came"]).repairs == {}
    (tmp_path / "came" / "labels.jsonl").write_text('{"turn": "1", "scope": "x"}\n', "utf-8")
    assert read_dataset([tmp_path / "came"]).repairs == {Repair.NO_QUESTIONS: 1}
    with pytest.raises(InputError):
        read_dataset([labels])


def test_trajectories_are_found_in_folders(tmp_path: Path) -> None:
    """A folder of trajectories is one dataset; a trajectory is named by its folder or by either of its files."""
    for name in ("traj-0", "traj-1"):
        trajectory(tmp_path / "came" / name, came_question())
    written(tmp_path / "came" / "benchmark_meta.json", [{"id": "traj-0", "task": "travel_planning"}])
    dataset = read_dataset([tmp_path / "came"])

    assert [case.id for case in dataset.cases] == ["traj-0:type_1-Day1", "traj-1:type_1-Day1"]
    assert [talk.name for talk in dataset.conversations(["traj-1"])] == ["traj-1"]
    assert (dataset.name, dataset.repairs) == ("came", {Repair.NO_QUESTIONS: 1})
    one = tmp_path / "came" / "traj-1"
    named = [read_dataset([path]) for path in (one, one / "turns.jsonl", one / "questions.jsonl")]
    assert {(found.name, found.digest, len(found.cases)) for found in named} == {("traj-1", named[0].digest, 1)}
    assert read_dataset([tmp_path / "came"], "came").cases == dataset.cases


def test_only_the_conversations_wanted_are_given(tmp_path: Path) -> None:
    """Conversations come by name, from whichever file has them, long ones in the reader's stretches, any number of times."""
    path = written(tmp_path / "a.json", [sample("s1", "x"), sample("s2", "y"), sample("s3", "z")])
    turns = [{"role": "user", "content": "x", "has_answer": number == 0} for number in range(2 * STRETCH_TURNS + 1)]
    haystack = {"haystack_sessions": [turns], "haystack_session_ids": ["s"], "haystack_dates": None}
    long = [LONGMEMEVAL | haystack | {"question_id": name} for name in ("q1", "q2")]
    dataset = read_dataset([path])
    long_dataset = read_dataset([written(tmp_path / "long.json", long)])

    for _ in range(2):
        assert [talk.name for talk in dataset.conversations({"s3", "s1"})] == ["s1", "s3"]
        stretches = list(long_dataset.conversations(["q1"]))
        assert [(talk.name, talk.continues) for talk in stretches] == [("q1", False), ("q1", True)]
        assert sum(len(talk.turns) for talk in stretches) == len(turns)
    assert list(dataset.conversations([])) == []


def test_a_name_in_two_files_is_an_error(tmp_path: Path) -> None:
    """Two files with conversations of one name are told apart by nothing: the error names both."""
    paths = [written(tmp_path / f"{name}.json", sample("same", name)) for name in ("a", "b")]
    with pytest.raises(InputError, match="'same'") as caught:
        read_dataset(paths)

    assert str(paths[0]) in caught.value.reason
    assert caught.value.path == str(paths[1])
    assert caught.value.hint


def test_mixed_formats_are_an_error(tmp_path: Path) -> None:
    """One dataset has one form of questions; the error names a file of either."""
    paths = [written(tmp_path / "a.json", sample("s", "x")), written(tmp_path / "b.json", [LONGMEMEVAL])]
    for named in (paths, [tmp_path]):
        with pytest.raises(InputError, match="longmemeval") as caught:
            read_dataset(named)
        assert str(paths[0]) in caught.value.reason
        assert caught.value.path == str(paths[1])


def test_two_questions_of_one_id_are_an_error(tmp_path: Path) -> None:
    """Results are kept by id."""
    with pytest.raises(InputError, match="two questions are called 'q1'"):
        read_dataset([written(tmp_path / "a.json", [LONGMEMEVAL, LONGMEMEVAL])])


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", json.dumps(sample("s", "x", is_asked=False)), "holds no questions"),
        ("a.json", '[{"role": "user", "content": "x"}]', "in the format openai"),
        ("a.json", '{"x": 1}', "in none of the accepted formats"),
        ("a.json", "[1,", "not JSON"),
        ("a.json", "", "empty"),
    ],
)
def test_what_is_no_dataset_is_an_error(tmp_path: Path, name: str, text: str, reason: str) -> None:
    """A file that was named must have questions: the error says what it has instead, and what to do."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=reason) as caught:
        read_dataset([path])

    assert caught.value.path == str(path)
    assert caught.value.hint


def test_a_folder_without_questions_is_an_error(tmp_path: Path) -> None:
    """A folder of transcripts alone is no dataset, nor is one without files, or none at all."""
    written(tmp_path / "a" / "a.json", sample("s", "x", is_asked=False))
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "a", tmp_path / "empty", tmp_path / "absent"):
        with pytest.raises(InputError) as caught:
            read_dataset([path])
        assert caught.value.path == str(path)


def test_turns_without_questions_are_an_error(tmp_path: Path) -> None:
    """A trajectory's turns alone are read as such, and the file that is missing is named."""
    folder = trajectory(tmp_path / "traj-0", came_question())
    (folder / "questions.jsonl").unlink()
    with pytest.raises(InputError, match=r"questions\.jsonl"):
        read_dataset([folder / "turns.jsonl"])


def test_text_that_cannot_be_written_is_cleaned(tmp_path: Path) -> None:
    """A lone surrogate in a question's text or id is replaced, as it is in the conversation's."""
    path = written(tmp_path / "a.json", [LONGMEMEVAL | {"question_id": "q\ud800", "answer": "\udfff"}])
    dataset = read_dataset([path])

    assert (dataset.cases[0].id, dataset.cases[0].answer) == ("q\ufffd", "\ufffd")
    assert [talk.name for talk in dataset.conversations({"q\ufffd"})] == ["q\ufffd"]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_whatever_is_wrong_is_an_input_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A dataset with any value replaced by any other is read, or refused with the file and the place."""
    folder = tmp_path_factory.mktemp("spoilt")
    name = data.draw(st.sampled_from(sorted(LAYOUTS)))
    documents = {"locomo": sample("s", "x") | {"qa": [PLANNED]}, "longmemeval": LONGMEMEVAL, "realtalk": NAMED}
    documents["beam"] = {"event_ordering": [{"question": "x", "source_chat_ids": [[0], 2], "rubric": ["y"]}]}
    document = copy.deepcopy(documents.get(name, came_question()))
    places = list(_places(document))
    for holder, key in data.draw(st.lists(st.sampled_from(places), max_size=2)):
        holder[key] = data.draw(VALUES)
    if name == "beam":
        path = beam_chat(folder / "t", document)
    else:
        path = trajectory(folder / "t", document) if name == "came" else written(folder / "a.json", [document])
    try:
        dataset = read_dataset([path], name)
    except InputError as error:
        assert error.path.startswith(str(folder))
    else:
        assert all(case.category in dataset.categories for case in dataset.cases)
        wanted = {case.conversation for case in dataset.cases}
        assert {talk.name for talk in dataset.conversations(wanted)} == wanted


def test_standard_input_is_no_dataset() -> None:
    """A dataset is read more than once."""
    with pytest.raises(InputError, match="standard input"):
        read_dataset([Path("-")])


def test_an_unknown_format_is_a_usage_error(tmp_path: Path) -> None:
    """Formats of transcripts without questions are none of a dataset's."""
    with pytest.raises(UsageError, match="whatsapp") as caught:
        read_dataset([tmp_path], "whatsapp")
    assert "longmemeval" in caught.value.hint


def test_the_samples_are_a_dataset() -> None:
    """The sample conversations with questions can be evaluated as they come."""
    dataset = read_dataset([ROOT / "sample_convos"])

    assert {case.conversation for case in dataset.cases} >= {"momoco-01"}
    assert all(case.plan is not None for case in dataset.cases)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_the_corpus_is_one_dataset() -> None:
    """All 78 conversations with their 780 plans, called after the folder, six domains of thirteen."""
    dataset = read_dataset([SHARED / "corpus"])
    conversations = {case.conversation for case in dataset.cases}

    assert (dataset.name, len(dataset.cases), len(conversations)) == ("corpus", 780, 78)
    assert all(case.plan is not None for case in dataset.cases)
    assert {case.domain for case in dataset.cases} == {
        "assistant",
        "family",
        "friends",
        "messaging",
        "planning",
        "work",
    }
    assert {talk.name for talk in dataset.conversations(conversations)} == conversations
    assert dataset.repairs == {Repair.NO_QUESTIONS: 1}
