"""The cases after public reports: what a careful reader gets of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.transcripts import conversations_in, transcript_files
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.source import Source

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
    assert {chat.name: [(turn.speaker, turn.text) for turn in chat.turns] for chat in read} == RIGHT[name]
