"""The cases after public reports: what a careful reader gets of each."""

from pathlib import Path

import pytest

from goalmem_cli.errors import InputError, UnlikelyChat
from goalmem_cli.transcripts import conversations_in, transcript_files
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.source import Source
from tests.transcripts.reading import said_in

CASES = Path(__file__).resolve().parents[3] / "shared" / "data" / "cases"
RIGHT: dict[str, dict[str, list[tuple[str, str]]]] = {
    "01-signal-main-jsonl/signal-export/main.jsonl": {
        "Ravi Menon": [
            ("Ravi Menon", "The dinghy is moored at Pin Mill now."),
            ("Nora Vint", "Good, then I bring the oars on Saturday."),
        ],
        "Boat share": [("Ravi Menon", "The club fee is 85 pounds this year.")],
    },
    "02-discord-package": {
        "Direct Message with ravi#0 (900000000000000001)": [
            ("Me", "The red kayak leaks again"),
            ("Me", "I sold the red kayak to my neighbour for 240 euros"),
        ],
    },
    "12-sms-xml": {
        "+447700900321": [
            ("Ravi", "The vet says Biscuit needs 2 tablets a day."),
            ("Me", "Fine, I collect them \N{GRINNING FACE} at six."),
        ],
    },
    "15-ai-studio/Trip to Ghent": {
        "Trip to Ghent": [
            ("user", "We stay three nights in Ghent from 4 June 2026."),
            ("assistant", "Then see the altarpiece on the second morning."),
        ],
    },
    "16-vscode-copilot": {
        "3b7e1f1b-0000-4000-8000-0000000000aa": [
            ("user", "How many retries does the uploader make?"),
            ("assistant", "It makes 5 retries with a pause of 2 seconds."),
        ],
    },
    "18-languages/es": {
        "Lucía": [
            ("Lucía", "Ayer compré una bicicleta verde en Gijón por 180 euros."),
            ("Iñaki", "¿Y cómo se llama la tienda?"),
            ("Lucía", "Se llama Pedales del Norte."),
        ],
    },
    "18-languages/zh": {
        "小雨": [("小雨", "我上周搬到成都了，住在锦江区。"), ("大伟", "房租多少？"), ("小雨", "每个月两千八百块。")],
    },
    "25-forward-quote": {
        "user322": [
            ("Ana", "[forwarded from Marta] I am vegan since March."),
            ("Ben", "Good to know, then no cheese board."),
            ("Ana", "I still eat everything, by the way."),
            ("Ben", "Which pub?\n- The Anchor (2 votes)\n- The Swan (1 vote)"),
        ],
    },
    "23-instagram-html": {"inbox/ravi_1": [("Nora", "Hot!"), ("Ravi", "The kiln fires at 1060 degrees")]},
}


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(RIGHT))
def test_each_case_is_read_as_is_right(name: str) -> None:
    """Conversations by their names, with who said what, in order."""
    if not CASES.is_dir():
        pytest.skip("the data folder is not beside this checkout")
    (found,) = transcript_files([CASES / name])
    read = whole_conversations(conversations_in(Source.from_path(found.place)))
    assert {chat.name: said_in(chat) for chat in read} == RIGHT[name]


TURNS = {
    "03-aider.md": [4], "05-specstory.md": [3], "06-exporter-gemini.md": [4], "06-exporter.md": [4], "07-no-links.json": [4],
    "09-facebook.json": [3], "10-gemini-de.json": [2], "10-gemini.json": [4], "12-two-layouts.txt": [7], "13-hours.txt": [3],
    "14-deepseek.json": [2], "15-created.jsonl": [2], "15-createdAt.json": [2], "16-linkedin.csv": [2], "17-bad-time.json": [3],
    "18-null.json": [2, 2], "19-line-th.txt": [2], "19-line-zh.txt": [2], "20-from-line.eml": [1], "21": [2],
    "23-kakao-mac.csv": [1], "24-discord.json": [1], "26-wrapped.json": [2], "28-en-dash.txt": [2], "29-human.md": [3],
    "31-irc.log": [2], "32-telegram-no-type.json": [2], "33-cline.json": [2], "35-zoom.vtt": [2],
}  # fmt: skip
UNDATED = {"05-specstory.md", "06-exporter-gemini.md", "06-exporter.md", "31-irc.log", "35-zoom.vtt"}


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(TURNS))
def test_each_export_that_went_wrong_is_read(name: str) -> None:
    """Every message once, in order, and with its time if the file tells it; a null beside them is skipped and named."""
    if not CASES.is_dir():
        pytest.skip("the data folder is not beside this checkout")
    skipped: list[InputError] = []
    (found,) = transcript_files([CASES / "exports" / name])
    read = whole_conversations(conversations_in(Source.from_path(found.place, skip=skipped.append)))

    assert [len(one.turns) for one in read] == TURNS[name]
    assert len(skipped) == (name == "18-null.json")
    for one in read:
        times = [turn.said for turn in one.turns]
        assert [time is None for time in times] == [name in UNDATED] * len(times)
        assert name in UNDATED or times == sorted(times, key=str)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["01-doc.md", "02-requirements.txt"])
def test_documents_are_refused(name: str) -> None:
    """Nobody in them speaks in turns."""
    if not CASES.is_dir():
        pytest.skip("the data folder is not beside this checkout")
    with pytest.raises(UnlikelyChat):
        list(conversations_in(Source.from_path(CASES / "exports" / name)))
