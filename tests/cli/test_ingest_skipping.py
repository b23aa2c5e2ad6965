"""`goalmem ingest` on files of which one record cannot be read."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.invoking import Goalmem

GOOD = {"role": "user", "content": "I moved to Leeds."}
LATER = {"role": "assistant", "content": "Noted."}
OTHER = {"uuid": "a", "chat_messages": [{"uuid": "n", "sender": "human", "text": "I moved to York."}]}
CLAUDE = {"uuid": "a", "chat_messages": [{"uuid": "m", "sender": "human", "text": "I moved to Leeds."}]}
SHAREGPT = {"conversations": [{"from": "human", "value": "I moved to Leeds."}, {"from": "gpt", "value": "Noted."}]}
TELEGRAM = {"type": "message", "id": 1, "from": "Ana", "date": "2024-05-01T09:00:00", "text": "I moved to Leeds."}
AGENT = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "I moved to Leeds."}}


def lines(*values: object) -> str:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)


def locomo(*turns: object) -> str:
    return json.dumps([{"sample_id": "s", "conversation": {"session_1": [*turns]}}, {"sample_id": "t"}])


CASES: Mapping[str, tuple[str, str, int, list[str]]] = {
    "claude conversation": ("a.json", json.dumps([{"uuid": "b"}, CLAUDE, 7]), 1, ["[0].chat_messages", "[2]"]),
    "openai message": ("a.json", json.dumps([GOOD, {"role": 5}, {"content": "x"}, LATER]), 2, ["[1].role", "[2].role"]),
    "openai conversation": (
        "a.json",
        json.dumps([{"messages": [GOOD]}, {"messages": 7, "id": "x"}, {"id": "y"}, {"messages": [LATER]}]),
        2,
        ["[1].messages", "[2].messages"],
    ),
    "openai conversation's name": (
        "a.json",
        json.dumps([{"id": [], "messages": [GOOD] * 3}, {"messages": [LATER], "id": "z"}]),
        1,
        ["[0].id"],
    ),
    "openai-jsonl line": ("a.jsonl", lines(GOOD, '{"role": "us', LATER), 2, ["line 2, column 10"]),
    "sharegpt message": (
        "a.json",
        json.dumps([SHAREGPT, {"conversations": [{"from": 1}, {"from": "human", "value": "Fix tax."}]}, None]),
        3,
        ["[1].conversations[0].from", "[2]"],
    ),
    "sharegpt line": ("a.jsonl", lines(SHAREGPT, "{", {"conversations": [{"from": "human", "value": "Fix tax."}]}), 3, ["line 2, column 2"]),
    "telegram message": (
        "a.json",
        json.dumps({"type": "personal_chat", "id": 1, "messages": [TELEGRAM, 3, {**TELEGRAM, "from": {}}]}),
        1,
        ["messages[1]", "messages[2].from"],
    ),
    "agent log line": ("a.jsonl", lines(AGENT, "{broken", {**AGENT, "message": {}}, AGENT), 2, ["line 2, column 2", "line 3, message.role"]),
    "locomo turn": ("a.json", locomo({"speaker": "Ana", "text": "Hi."}, {"text": "x"}), 1, ["[0].conversation.session_1[1].speaker", "[1]"]),
    "document that breaks off": ("a.json", json.dumps([GOOD, LATER])[:-20], 1, ["line 1, column 74"]),
    "an id given twice": ("a.json", json.dumps([CLAUDE, OTHER]), 1, ["[1]"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_bad_record_is_skipped_and_named(goalmem: Goalmem, tmp_path: Path, case: str) -> None:
    """The rest is stored, each record is named with its place, and a preview says the same; so many are an error."""
    name, text, turns, places = CASES[case]
    file = tmp_path / name
    file.write_text(text)
    preview = goalmem("ingest", "--dry-run", "--json", str(file))
    outcome = goalmem("ingest", "--json", str(file))
    document = json.loads(outcome.out)
    assert json.loads(preview.out) == document
    assert (outcome.code, preview.code) == (5, 5)
    assert (
        f"error: {file}: {len(places)} of {turns + len(places)} messages or records were not understood" in outcome.err
    )
    assert [row["new_turns"] for row in document["files"]] == [turns]
    assert [(row["path"], row["place"]) for row in document["skipped"]] == [(str(file), place) for place in places]
    word = "record" if len(places) == 1 else "records"
    assert f"warning: {file}: {len(places)} {word} could not be read and left out" in outcome.err
    assert all(f"{file}: {place}: " in outcome.err for place in places)


@pytest.mark.parametrize("case", CASES)
def test_strict_input_refuses_the_file(goalmem: Goalmem, tmp_path: Path, case: str) -> None:
    """The first bad record is the error, as a file's only error always was."""
    name, text, _, places = CASES[case]
    file = tmp_path / name
    file.write_text(text)
    outcome = goalmem("ingest", "--strict-input", str(file))
    assert outcome.code == 5
    assert outcome.error_lines[0].startswith(f"{file}: {places[0]}: ")


def test_a_file_of_which_nothing_can_be_read_is_an_error(goalmem: Goalmem, tmp_path: Path) -> None:
    """The first record that cannot be read says what is wrong with it."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps([{"uuid": "b", "chat_messages": 3}, {"uuid": "c"}]))
    outcome = goalmem("ingest", str(file))
    assert outcome.code == 5
    assert f"{file}: [0].chat_messages: expected an array" in outcome.err


def test_a_heading_that_may_be_a_date_refuses_the_file(goalmem: Goalmem, tmp_path: Path) -> None:
    """Skipping it would make a speaker of the date."""
    file = tmp_path / "a.md"
    file.write_text("## 08/05/2023\n**Ana:** Hi.\n")
    outcome = goalmem("ingest", "--format", "markdown", str(file))
    assert outcome.code == 5
    assert "line 1: '08/05/2023' is not a date that can be read one way only" in outcome.err


def test_many_bad_records_are_counted(goalmem: Goalmem, tmp_path: Path) -> None:
    """Three are named; the document has all of them."""
    file = tmp_path / "a.jsonl"
    file.write_text(lines(GOOD, *["{"] * 30))
    outcome = goalmem("ingest", "--json", str(file))
    assert outcome.code == 5
    assert outcome.err.count("not JSON") == 3
    assert "and 27 more" in outcome.err
    assert len(json.loads(outcome.out)["skipped"]) == 30


def test_a_bad_day_of_a_slack_export_is_skipped(goalmem: Goalmem, tmp_path: Path) -> None:
    """The other days, and the other messages of a day, are read."""
    message = {"type": "message", "user": "U1", "text": "hi", "ts": "1704057307.1"}
    days = {"01": lines([message, {**message, "ts": "1"}]), "02": "[", "03": lines([{**message, "ts": "1704257307.1"}])}
    (tmp_path / "slack" / "general").mkdir(parents=True)
    for name in ("users", "channels"):
        (tmp_path / "slack" / f"{name}.json").write_text("[]")
    for day, text in days.items():
        (tmp_path / "slack" / "general" / f"2024-01-{day}.json").write_text(text)
    outcome = goalmem("ingest", "--json", str(tmp_path / "slack"))
    document = json.loads(outcome.out)
    assert (outcome.code, document["files"][0]["new_turns"]) == (5, 2)
    assert [(Path(row["path"]).name, row["place"]) for row in document["skipped"]] == [
        ("2024-01-01.json", "[1].ts"), ("2024-01-02.json", "line 1, column 2"),
    ]  # fmt: skip


def test_an_export_of_a_store_is_read_whole_or_not(goalmem: Goalmem, tmp_path: Path) -> None:
    """A line that is left out could be the one that says whose the next turns are."""
    head = [{"goalmem": 1}, {"conversation": "A", "format": "openai"}]
    turn = {"turn": {"session": 0, "ordinal": 0, "speaker": "x", "text": "said by B"}}
    file = tmp_path / "export.jsonl"
    file.write_text(lines(*head, {"turn": {**turn["turn"], "text": "of A"}}, '{"conversation": "B"', turn))
    outcome = goalmem("ingest", str(file))
    assert outcome.code == 5
    assert "line 4" in outcome.err
    assert "said by B" not in goalmem("search", "said").out


def test_a_few_bad_records_among_many_are_no_error(goalmem: Goalmem, tmp_path: Path) -> None:
    """Two in a hundred are borne, three are not; what is good is stored either way."""
    for bad, code in ((2, 0), (3, 5)):
        file = tmp_path / f"{bad}.jsonl"
        file.write_text(lines(*[GOOD] * 98, *["{"] * bad))
        outcome = goalmem("ingest", "--json", str(file))
        assert (outcome.code, json.loads(outcome.out)["files"][0]["turns"]) == (code, 98)


def test_strict_input_stores_nothing_of_a_long_file(goalmem: Goalmem, tmp_path: Path) -> None:
    """Not even the stretches before the bad record, though they were read well."""
    file = tmp_path / "a.jsonl"
    file.write_text(lines(*[GOOD] * 11_000, "{"))
    assert goalmem("ingest", "--strict-input", str(file)).code == 5
    assert goalmem("stores", "list", "--json").code == 0
    outcome = goalmem("ingest", "--json", str(file))
    assert json.loads(outcome.out)["files"][0]["new_turns"] == 11_000
