"""Where a format has times in UTC alone, a zone says whose day it is; the instant stays what a turn is known by."""

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import goalmem_cli
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.bench.reading_speed import layout_of
from goalmem_cli.library.memory import Memory
from goalmem_cli.library.zones import Zone
from goalmem_cli.records import Turn
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked
from goalmem_cli.transcripts import FORMATS
from tests.conftest import SAMPLES
from tests.invoking import Goalmem
from tests.transcripts.reading import read_bytes

TEXT = "I cannot sleep. My driving test is today at ten."
SUMMER = datetime(2026, 7, 14, 22, 30, tzinfo=UTC)  # half past midnight in Berlin
WINTER = datetime(2026, 1, 14, 23, 30, tzinfo=UTC)  # again
IN_UTC_ALONE = {
    "chatgpt", "grok", "mistral", "fireflies", "rocketchat", "open-webui", "chatlab", "llama-ui", "ai-studio", "copilot-cli", "claude", "facebook",
    "discord-package", "signal-jsonl", "gemini", "slack", "google-chat", "teams", "opencode", "gemini-cli", "agent-log",
    "vscode-copilot", "openai", "openai-jsonl", "sms-backup", "specstory", "sillytavern", "cline",
    "goose", "x-archive", "matrix", "mattermost", "discord",  # the last where it has Z
}  # fmt: skip
IN_UTC_AS_TOLD = {"goalmem", "telegram", "telegram-html", "mail", "deepseek", "oasst"}
DISCORD = """{"guild": {"id": "1", "name": "Boats"}, "channel": {"id": "2", "name": "harbour"}, "messages": [
{"id": "5", "type": "Default", "timestamp": "%s", "timestampEdited": null, "content": "My driving test is today.",
 "author": {"id": "7", "name": "ana", "nickname": "Ana"}}]}"""


def export(path: Path, *moments: datetime) -> Path:
    """Write a conversation as ChatGPT exports it, with a message at each of the moments."""
    entries: dict[str, object] = {}
    for number, moment in enumerate(moments):
        message = {
            "id": f"m{number}", "author": {"role": "user"}, "create_time": moment.timestamp(),
            "content": {"content_type": "text", "parts": [f"{TEXT} {number}"]},
        }  # fmt: skip
        parent = f"m{number - 1}" if number else None
        entries[f"m{number}"] = {"id": f"m{number}", "message": message, "parent": parent, "children": []}
    path.write_text(json.dumps({"conversation_id": "c1", "title": "Night", "mapping": entries}), "utf-8")
    return path


def opened(folder: Path, **settings: Any) -> Memory:
    """Open a memory there."""
    return goalmem_cli.open(folder, factories=faked(ScriptedModel([]), HashEmbedder()), **settings)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """An empty memory."""
    return opened(tmp_path / "store")


def said_in(memory: Memory, name: str = "c1") -> list[str]:
    """Return when each turn was said by its speaker's clock."""
    return [turn.local.isoformat() for turn in memory.turns(name) if turn.local is not None]


def day_of_today(memory: Memory) -> list[str]:
    """Return the days that "today" is in the messages about it, in their order."""
    hits = sorted(memory.search("driving test", k=9), key=lambda hit: hit.unit.place)
    times: list[Any] = [hit.unit.attributes["times"] for hit in hits]
    return [since for ((_, since, _),) in times]


@pytest.mark.parametrize(
    ("zone", "days", "said"),
    [
        ("Europe/Berlin", ["2026-07-15", "2026-01-15"], ["2026-07-15T00:30:00+02:00", "2026-01-15T00:30:00+01:00"]),
        ("America/New_York", ["2026-07-14", "2026-01-14"], ["2026-07-14T18:30:00-04:00", "2026-01-14T18:30:00-05:00"]),
        ("Asia/Kathmandu", ["2026-07-15", "2026-01-15"], ["2026-07-15T04:15:00+05:45", "2026-01-15T05:15:00+05:45"]),
        ("UTC", ["2026-07-14", "2026-01-14"], ["2026-07-14T22:30:00+00:00", "2026-01-14T23:30:00+00:00"]),
    ],
)  # fmt: skip
def test_today_is_the_speakers(memory: Memory, tmp_path: Path, zone: str, days: list[str], said: list[str]) -> None:
    """Half past midnight is of the day that begins, at the offset of that date, in summer and in winter."""
    memory.ingest(export(tmp_path / "conversations.json", SUMMER, WINTER), timezone=zone)
    assert said_in(memory) == said
    assert day_of_today(memory) == days
    assert memory.stats().timezones == {zone: 2}


def test_the_clock_goes_forward_at_its_instant(memory: Memory, tmp_path: Path) -> None:
    """A minute before and at the hour at which Berlin's clocks go from two to three."""
    forward = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    memory.ingest(
        export(tmp_path / "conversations.json", forward - timedelta(minutes=1), forward), timezone="Europe/Berlin"
    )
    assert said_in(memory) == ["2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00"]


@pytest.mark.parametrize("own", ["Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin"])
def test_the_default_is_the_machines(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    """The zone that the environment names, in any of the ways in which it may."""
    monkeypatch.setenv("TZ", own)
    memory.ingest(export(tmp_path / "conversations.json", SUMMER))
    assert day_of_today(memory) == ["2026-07-15"]
    assert memory.stats().timezones == {"Europe/Berlin": 1}


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """A machine whose zone is told in this way."""
    if not hasattr(time, "tzset"):
        pytest.skip("the system has no such zones")
    before = os.environ["TZ"]
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.setenv("TZ", before)
    time.tzset()


@pytest.mark.parametrize("_clock", [":/missing/zone"], indirect=True)
@pytest.mark.usefixtures("_clock")
def test_a_machine_whose_zone_is_missing_is_in_utc(memory: Memory, tmp_path: Path) -> None:
    """As the system has it, and that is said: the system gives it a blank name."""
    memory.ingest(export(tmp_path / "conversations.json", SUMMER))
    assert memory.stats().timezones == {"UTC": 1}


@pytest.mark.parametrize("_clock", ["BLN-1BLS,M3.5.0,M10.5.0/3"], indirect=True)
@pytest.mark.usefixtures("_clock")
def test_a_machine_whose_zone_has_no_name(memory: Memory, tmp_path: Path) -> None:
    """Its clock counts all the same, under what the system calls it."""
    memory.ingest(export(tmp_path / "conversations.json", SUMMER, WINTER))
    assert said_in(memory) == ["2026-07-15T00:30:00+02:00", "2026-01-15T00:30:00+01:00"]
    assert memory.stats().timezones == {"BLN": 2}


def test_a_setting_names_the_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts more than the machine's, and less than what is said for one reading."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    file = export(tmp_path / "conversations.json", SUMMER)
    set_up = opened(tmp_path / "store", timezone="Europe/Berlin")
    set_up.ingest(file)
    assert set_up.stats().timezones == {"Europe/Berlin": 1}
    set_up.ingest(file, timezone="America/Lima")
    assert set_up.stats().timezones == {"America/Lima": 1}


@pytest.mark.parametrize("zone", ["Europe/Berln", "Europe", "../../etc/passwd", "/etc/localtime", "a\0b", "x" * 300])
def test_a_zone_that_there_is_not(goalmem: Goalmem, memory: Memory, tmp_path: Path, zone: str) -> None:
    """It is a usage error of one line, wherever it is named, and nothing is stored."""
    file = export(tmp_path / "conversations.json", SUMMER)
    outcome = goalmem("ingest", str(file), "--timezone", zone)
    assert outcome.code == UsageError.exit_code
    assert "no time zone" in outcome.error_lines[0]
    with pytest.raises(UsageError, match="no time zone"):
        memory.ingest(file, timezone=zone)
    with pytest.raises(UsageError, match="no time zone"):
        opened(tmp_path / "other", timezone=zone)
    assert not (tmp_path / "store" / "memory.duckdb").exists()


def test_a_zone_that_there_is_not_in_the_environment(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The variable is named."""
    monkeypatch.setenv("GOALMEM_TIMEZONE", "Europe/Berln")
    outcome = goalmem("ingest", str(export(tmp_path / "conversations.json", SUMMER)))
    assert outcome.code == UsageError.exit_code
    assert "GOALMEM_TIMEZONE" in outcome.error_lines[0]


def test_the_command_says_which_zone_was_used(goalmem: Goalmem, tmp_path: Path) -> None:
    """`stores show` counts the turns of each, and `--explain` shows times by that clock."""
    file = export(tmp_path / "conversations.json", SUMMER, WINTER)
    explained = goalmem("ingest", "--explain", str(file), "--timezone", "Europe/Berlin")
    assert "15 Jul 2026 00:30 +0200" in explained.out
    assert goalmem("ingest", str(file), "--timezone", "Europe/Berlin").code == 0
    assert goalmem("ingest", str(SAMPLES / "momoco.json")).code == 0
    shown = goalmem("stores", "show").out
    assert [line.split(maxsplit=1)[1] for line in shown.splitlines() if line.startswith("timezones")] == [
        "Europe/Berlin (2 turns)"
    ]
    assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["timezones"] == {"Europe/Berlin": 2}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("UTC", "Europe/Berlin"),  # stored as by a version that knew no zones
        ("Europe/Berlin", "UTC"),
        ("Europe/Berlin", "America/New_York"),
        ("Asia/Tokyo", "Asia/Tokyo"),
    ],
)
def test_under_another_zone_nothing_new_is_stored(memory: Memory, tmp_path: Path, first: str, then: str) -> None:
    """Each turn is the same by its instant, and "today" goes by the zone that was named last."""
    file = export(tmp_path / "conversations.json", SUMMER, WINTER)
    memory.ingest(file, timezone=first)
    before = [(turn.id, turn.said, turn.own_id) for turn in memory.turns("c1")]
    (again,) = memory.ingest(file, timezone=then)
    assert (again.error, again.new_turns, again.replaced) == (None, 0, ())
    assert [(turn.id, turn.said, turn.own_id) for turn in memory.turns("c1")] == before
    assert memory.stats().timezones == {then: 2}
    assert memory.kept.verify() == []
    alone = opened(tmp_path / "alone")
    alone.ingest(file, timezone=then)
    assert day_of_today(memory) == day_of_today(alone)
    assert said_in(memory) == said_in(alone)


def test_what_is_stored_in_utc_is_what_it_was_before_zones(memory: Memory, tmp_path: Path) -> None:
    """On a machine in UTC no byte of a turn differs from what versions before stored: its identity and attributes."""
    memory.ingest(export(tmp_path / "conversations.json", SUMMER))
    (turn,) = memory.turns("c1")
    assert turn.attributes == {}
    assert turn == Turn("c1", 0, 0, "user", f"{TEXT} 0", SUMMER, "m0", "user")
    assert turn.id == "24ffc8f75c666430ae33d9a2362bde56"


def test_a_machine_that_travels_moves_nothing(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read at home stays under its zone when it has grown and is read elsewhere, until somebody names one."""
    file = tmp_path / "conversations.json"
    monkeypatch.setenv("TZ", "Europe/Berlin")
    memory.ingest(export(file, SUMMER))
    monkeypatch.setenv("TZ", "America/New_York")
    later = SUMMER + timedelta(days=1)
    (grown,) = memory.ingest(export(file, SUMMER, later))
    assert grown.new_turns == 1
    assert said_in(memory) == ["2026-07-15T00:30:00+02:00", "2026-07-15T18:30:00-04:00"]
    monkeypatch.setenv("TZ", "UTC")
    memory.ingest(file)
    assert memory.stats().timezones == {"America/New_York": 1, "Europe/Berlin": 1}
    memory.ingest(file, timezone="Europe/Berlin")
    assert memory.stats().timezones == {"Europe/Berlin": 2}


def test_a_machine_that_travels_moves_no_turn_of_joined_windows(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What two windows share stays under the zone of the first, whichever of them is read again elsewhere."""
    lines = [
        json.dumps({
            "role": ("user", "assistant")[number % 2], "content": f"{TEXT} {number} " + "and so on " * 9,
            "created_at": f"2026-07-14T22:{number:02}:00Z",
        })
        for number in range(30)
    ]  # fmt: skip
    for zone, stretch in (("Europe/Berlin", slice(0, 20)), ("America/New_York", slice(8, 30))):
        monkeypatch.setenv("TZ", zone)
        folder = tmp_path / str(stretch.start)
        folder.mkdir()
        (folder / "chat.jsonl").write_text("\n".join(lines[stretch]), "utf-8")
        memory.ingest(folder)
    zones = {"Europe/Berlin": 20, "America/New_York": 10}
    assert memory.stats().timezones == zones
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    for number in (0, 8):
        (again,) = memory.ingest(tmp_path / str(number))
        assert (again.new_turns, memory.stats().timezones) == (0, zones)


def test_utc_that_somebody_named_stays(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a zone as any other: what nobody named gives way to it, and it to none that nobody named."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    file = export(tmp_path / "conversations.json", SUMMER)
    memory.ingest(file, timezone="UTC")
    memory.ingest(file)
    assert memory.stats().timezones == {"UTC": 1}
    assert said_in(memory) == ["2026-07-14T22:30:00+00:00"]
    memory.ingest(file, timezone="Asia/Tokyo")
    memory.ingest(file, timezone="Etc/UTC")
    assert memory.stats().timezones == {"Etc/UTC": 1}
    assert day_of_today(memory) == ["2026-07-14"]


@pytest.mark.parametrize("own", ["Europe/Berln", ":Europe/Berln", "Berlin", "../etc/passwd"])
def test_a_machine_whose_zone_is_misspelt(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    """The system would take it for UTC and say nothing; here it is said, and whoever names a zone needs none of it."""
    monkeypatch.setenv("TZ", own)
    file = str(export(tmp_path / "conversations.json", SUMMER))
    refused = goalmem("ingest", file)
    assert refused.code == UsageError.exit_code
    assert f"TZ is {own!r}" in refused.error_lines[0]
    assert goalmem("ingest", file, "--timezone", "Europe/Berlin").code == 0


def test_an_export_of_the_memory_keeps_its_zones(memory: Memory, tmp_path: Path) -> None:
    """Read into another memory on another machine, it is as it was."""
    memory.ingest(export(tmp_path / "conversations.json", SUMMER), timezone="Europe/Berlin")
    memory.ingest(SAMPLES / "sourdough.jsonl", timezone="UTC")
    memory.export(tmp_path / "all.jsonl")
    copy = opened(tmp_path / "copy")
    copy.ingest(tmp_path / "all.jsonl", timezone="Asia/Tokyo")
    assert [copy.turns(name) for name in ("c1", "sourdough")] == [memory.turns(name) for name in ("c1", "sourdough")]
    assert copy.stats().timezones == memory.stats().timezones


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str) -> None:
    """A zone counts where times are in UTC alone; what a format tells of a clock stays, and so does what has none."""
    said = SUMMER.replace(tzinfo=None)
    texts = ("My driving test is today at ten.", "You will pass it.", "Thank you, Ben.", "Good night.")
    turns = [Turn("c", 0, at, ("Ana", "Ben")[at % 2], text, said, f"m{at}") for at, text in enumerate(texts)]
    ending, text = layout_of(name, turns)
    if name in ("ai-studio", "copilot-cli"):  # which write Z
        text = text.replace("+00:00", "Z")
    (first, *_) = read_bytes(text.encode(), f"talk{ending}", name)
    turn = Zone.named("Europe/Berlin").told(first).turns[0]
    assert turn.said == first.turns[0].said
    if name in IN_UTC_ALONE:
        assert turn.local is not None
        assert turn.local.isoformat() == "2026-07-15T00:30:00+02:00"
        assert turn.timezone == "Europe/Berlin"
    else:
        assert turn == first.turns[0]
        assert turn.attributes == first.turns[0].attributes
        assert (turn.said is not None and turn.said.tzinfo is not None) == (name in IN_UTC_AS_TOLD)


@pytest.mark.parametrize("stamp", ["2026-07-14T22:30:00+00:00", "2026-07-15T04:00:00+05:30"])
def test_an_offset_that_is_written_is_kept(memory: Memory, tmp_path: Path, stamp: str) -> None:
    """Also that of a clock in UTC; where the same is exported again elsewhere, nothing is new and nothing is replaced."""
    file = tmp_path / "channel.json"
    file.write_text(DISCORD % stamp, "utf-8")
    memory.ingest(file, timezone="Europe/Berlin")
    assert said_in(memory, "2") == [stamp]
    before = memory.turns("2")
    file.write_text(DISCORD % "2026-07-14T15:30:00-07:00", "utf-8")
    (again,) = memory.ingest(file)
    assert (again.new_turns, again.replaced) == (0, ())
    assert memory.turns("2") == before


def test_what_was_stored_with_an_offset_is_known_in_utc_alone(memory: Memory, tmp_path: Path) -> None:
    """A file without ids, and a channel with them: nothing is new, and the clock that was told once stays."""
    for file, text in (
        ("chat.jsonl", '{"role": "user", "content": "Now", "created_at": "%s"}'),
        ("c.json", DISCORD),
    ):
        path = tmp_path / file
        path.write_text(text % "2026-07-14T15:30:00-07:00", "utf-8")
        memory.ingest(path)
        before = [(turn, turn.attributes) for one in memory.conversations() for turn in memory.turns(one.name)]
        path.write_text(text % "2026-07-14T22:30:00Z", "utf-8")
        (again,) = memory.ingest(path)
        assert (again.error, again.new_turns, again.replaced) == (None, 0, ())
        assert [(turn, turn.attributes) for one in memory.conversations() for turn in memory.turns(one.name)] == before


def test_pages_that_are_exported_in_other_zones_are_one_chat(memory: Memory, tmp_path: Path) -> None:
    """Telegram's pages have no id of the chat: their turns are known by their instants, wherever the file lies."""
    for number, (clock, offset) in enumerate([("15.07.2026 00:3", "+02:00"), ("14.07.2026 22:3", "+00:00")]):
        said = [
            f"""<div class="message default clearfix" id="message{at}"><div class="body">
            <div class="pull_right date details" title="{clock}{at}:00 UTC{offset}">0:3{at}</div>
            <div class="from_name">{who}</div><div class="text">{text}</div></div></div>"""
            for at, (who, text) in enumerate([("Ana", "My driving test is today."), ("Ben", "You will pass.")], 1)
        ]
        (tmp_path / f"{number}").mkdir()
        file = tmp_path / f"{number}" / "messages.html"
        file.write_text(
            f"""<html><body><div class="page_wrap"><div class="page_header"><div class="content">
            <div class="text bold">Ana</div></div></div><div class="page_body chat_page"><div class="history">
            {"".join(said)}</div></div></div></body></html>""",
            "utf-8",
        )
        (done,) = memory.ingest(file, timezone="Asia/Tokyo")
        assert (done.error, done.new_turns, done.replaced) == (None, 2 * (number == 0), ())
    assert said_in(memory, "Ana") == ["2026-07-15T00:31:00+02:00", "2026-07-15T00:32:00+02:00"]


def test_samples_are_read_alike_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them has times in UTC alone."""
    read: list[object] = []
    for zone in ("UTC", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        memory = opened(tmp_path / zone.replace("/", "-"))
        memory.ingest(SAMPLES)
        read.append(
            {one.name: [(turn, turn.attributes) for turn in memory.turns(one.name)] for one in memory.conversations()}
        )
    assert read[0] == read[1]
    assert len(str(read[0])) > 1000
