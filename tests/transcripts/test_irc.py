"""Logs of IRC, as seven programs write them."""

from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import UnknownFormat
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.files import transcript_files
from tests.transcripts.reading import detect, read_bytes, said_in

LOGS = {
    "WeeChat": (
        "2026-02-01 10:00:05\t-->\tmira (~m@pier.example) has joined #boats\n"
        "2026-02-01 10:00:05\t@mira\tIs the boat late?\n"
        "2026-02-01 10:00:09\totto\tBy an hour: <fog>\n"
        "2026-02-02 09:00:00\t *\totto waves\n"
        "2026-02-02 09:00:01\t--\tMode #boats [+o otto] by mira\n"
    ),
    "irssi": (
        "--- Log opened Sun Feb 01 10:00:00 2026\n"
        "10:00 -!- mira [~m@pier.example] has joined #boats\n"
        "10:00 <@mira> Is the boat late?\n"
        "10:00 < otto> By an hour: <fog>\n"
        "--- Day changed Mon Feb 02 2026\n"
        "09:00  * otto waves\n"
        "--- Log closed Mon Feb 02 09:10:00 2026\n"
    ),
    "mIRC": (
        "Session Start: Sun Feb 01 10:00:00 2026\n"
        "[10:00] <mira> Is the \x0304boat\x03 late?\n"
        "[10:00] <otto> By an hour: <fog>\n"
        "Session Start: Mon Feb 02 08:00:00 2026\n"
        "[09:00] * otto waves\n"
        "[09:01] *** mira sets mode: +o otto\n"
    ),
    "HexChat": (
        "**** BEGIN LOGGING AT Sun Feb  1 10:00:00 2026\n\n"
        "Feb 01 10:00:05 *\tNow talking on #boats\n"
        "Feb 01 10:00:05 <mira>\tIs the boat late?\n"
        "Feb 01 10:00:09 <otto>\tBy an hour: <fog>\n"
        "Feb 02 09:00:00 <otto>\totto waves\n"
        "**** ENDING LOGGING AT Mon Feb  2 09:10:00 2026\n"
    ),
    "Limnoria": (
        "2026-02-01T10:00:05  <mira> Is the boat late?\n"
        "2026-02-01T10:00:09  <otto> By an hour: <fog>\n"
        "2026-02-02T09:00:00  * otto waves\n"
        "2026-02-02T09:00:01  *** otto has quit IRC\n"
    ),
    "BotBot": (
        "2026-02-01T10:00:05 <mira> Is the boat late?\n"
        "2026-02-01T10:00:09 <otto> By an hour: <fog>\n"
        "2026-02-02T09:00:00 <otto> otto waves\n"
        "2026-02-02T09:00:01 * otto has quit\n"
    ),
}
WITH_SECONDS = {"WeeChat", "HexChat", "Limnoria", "BotBot"}
SAID = [("mira", "Is the boat late?"), ("otto", "By an hour: <fog>"), ("otto", "otto waves")]


@pytest.mark.parametrize("name", sorted(LOGS))
def test_a_log_as_golden(name: str) -> None:
    """Nicks without their marks, what they say and do, and the day, which stands in a line of its own in some."""
    (chat,) = read_bytes(LOGS[name].encode(), "#boats.log")

    first, second = (5, 9) if name in WITH_SECONDS else (0, 0)
    times = [datetime(2026, 2, 1, 10, 0, first), datetime(2026, 2, 1, 10, 0, second), datetime(2026, 2, 2, 9)]
    assert (chat.name, chat.format) == ("#boats", "irc")
    assert said_in(chat) == SAID
    assert [turn.said for turn in chat.turns] == times
    assert [turn.session for turn in chat.turns] == [0, 0, 1]
    assert len({turn.own_id for turn in chat.turns}) == 3
    notices = {"WeeChat": 2, "irssi": 1, "mIRC": 1, "HexChat": 1, "Limnoria": 1, "BotBot": 1}[name]
    assert chat.notes == (f"notices left out: {notices}",)


def test_a_channel_of_znc_is_a_folder(tmp_path: Path) -> None:
    """A file a day, whose name has the day; the same words at the same time twice are two turns."""
    folder = tmp_path / "libera" / "#boats"
    folder.mkdir(parents=True)
    (folder / "2026-02-02.log").write_text("[09:00:00] * otto waves\n[09:00:01] <otto> Hm.\n", "utf-8")
    (folder / "2026-02-01.log").write_text(
        "[10:00:04] *** Joins: mira (~m@pier.example)\n[10:00:05] <mira> Late?\n[10:00:05] <mira> Late?\n", "utf-8"
    )
    (chat,) = read_file(folder)

    assert chat.name == "#boats"
    assert [(turn.text, turn.said) for turn in chat.turns] == [
        ("Late?", datetime(2026, 2, 1, 10, 0, 5)), ("Late?", datetime(2026, 2, 1, 10, 0, 5)),
        ("otto waves", datetime(2026, 2, 2, 9)), ("Hm.", datetime(2026, 2, 2, 9, 0, 1)),
    ]  # fmt: skip
    assert len({turn.own_id for turn in chat.turns}) == 4
    assert [found.place for found in transcript_files([tmp_path])] == [folder]
    alone = read_file(folder / "2026-02-02.log")[0]
    assert [turn.own_id for turn in alone.turns] == [turn.own_id for turn in chat.turns[2:]]


def test_a_log_that_does_not_say_the_day_has_no_times() -> None:
    """A clock alone, or a day without its year, is not guessed at."""
    for log in (
        "[10:36] <mira> Late?\n[10:37] <otto> No.\n",
        "[14 Jan 10:36] <mira> Late?\n[14 Jan 10:37] <otto> No.\n",
    ):
        (chat,) = read_bytes(log.encode(), "boats.log")
        assert [(turn.speaker, turn.said) for turn in chat.turns] == [("mira", None), ("otto", None)]
    for name in ("#boats_20260201.log", "#boats_20260201.log.txt"):
        (dated,) = read_bytes(b"[10:36] <mira> Late?\n[10:37] <otto> No.\n", name)
        assert dated.turns[0].said == datetime(2026, 2, 1, 10, 36)


def test_bytes_that_are_no_utf8_are_windows_1252() -> None:
    """Rooms mix encodings; a byte that is none is shown as U+FFFD, and no log is lost for it."""
    log = b"[10:36] <mira> caf\xe9 caf\xc3\xa9?\n[10:37] <otto> \x81\n[10:38] <otto> No.\n"
    for name in ("boats.log", "boats.log.txt", "boats.log.gz"):
        (chat,) = read_bytes(log, name)
        assert [turn.text for turn in chat.turns] == ["café café?", "\ufffd", "No."]
    with pytest.raises(UnknownFormat, match="not UTF-8"):
        read_bytes(log, "boats.txt")
    with pytest.raises(UnknownFormat, match="not UTF-8"):
        read_bytes(log, "boats.log.json")


@pytest.mark.parametrize("name", sorted(LOGS))
def test_it_is_detected(name: str) -> None:
    """By any ending, from standard input too."""
    assert {detect(file, LOGS[name].encode()) for file in ("a.log", "a.txt", "a.weechatlog", "-")} == {"irc"}
