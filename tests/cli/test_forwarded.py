"""What somebody only passed on is its author's, not theirs: as shown to a model, in the checks, and in the proof."""

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.ports import Request
from tests.invoking import Goalmem, scripted
from tests.reasoners.scripting import claims, plan, proved, wants

CHAT: dict[str, Any] = {
    "name": "Ana", "type": "personal_chat", "id": 322,
    "messages": [
        {"id": 1, "type": "message", "date_unixtime": "1773570600", "from": "Ana", "text": "I am vegan since March."},
        {"id": 2, "type": "message", "date_unixtime": "1773570660", "from": "Ben", "text": "Good to know."},
        {"id": 3, "type": "message", "date_unixtime": "1773570720", "from": "Marta", "text": "Hello to all of you."},
    ],
}  # fmt: skip


def asked(goalmem: Goalmem, tmp_path: Path, who: str, seen: list[str], **first: object) -> dict[str, object]:
    """Return the trace of asking since when somebody is vegan, where the first message has this beside its text."""
    messages = [{**CHAT["messages"][0], **first}, *CHAT["messages"][1:]]
    (tmp_path / "result.json").write_text(json.dumps({**CHAT, "messages": messages}), "utf-8")
    assert goalmem("ingest", str(tmp_path / "result.json"), "--quiet").code == 0
    return since_when_vegan(goalmem, who, seen)


def since_when_vegan(goalmem: Goalmem, who: str, seen: list[str]) -> dict[str, object]:
    """Return the trace of asking since when somebody is vegan, and keep what the model was shown."""
    goal = f"({who}) is vegan since (x:month)"
    reply = proved(claims(1, "vegan since March", x="March"), plan=plan(goal, goal), status="settled", wording="March")
    stop = proved(plan=plan(goal, goal), open=[wants(1, why="nobody says")], status="stop")
    left = [reply]

    def model(request: Request) -> str:
        seen.append(request.growing + request.tail)
        return (left.pop(0) if left else stop)(request)

    words = ("ask", f"Since when is {who} vegan?", "--json", "--certainty", "0", "--max-breadth", "1")
    return json.loads(goalmem(*words, factories=scripted(*[model] * 9)).out)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("who", "first", "answer", "line"),
    [
        ("Ana", {}, "March", "Ana: I am vegan"),
        ("Marta", {"forwarded_from": "Marta"}, "March", "Marta (forwarded by Ana): [forwarded from Marta] I am vegan"),
        ("Ana", {"forwarded_from": "Marta"}, None, "Marta (forwarded by Ana): [forwarded from Marta] I am vegan"),
        ("Ana", {"forwarded_from": None}, None, "an unknown author (forwarded by Ana): [forwarded from an unknown"),
        ("Ben", {"forwarded_from": "Marta"}, None, "Marta (forwarded by Ana): [forwarded from Marta] I am vegan"),
    ],
)
def test_i_is_who_wrote_it(
    goalmem: Goalmem, tmp_path: Path, who: str, first: dict[str, object], answer: str | None, line: str
) -> None:
    """The model is told who wrote and who sent it; a claim of the sender from it is refused, one of its author holds."""
    seen: list[str] = []
    trace = asked(goalmem, tmp_path, who, seen, **first)
    assert line in seen[0]
    assert trace["answer"] == answer, trace
    fact = next(each for each in trace["facts"].values() if "vegan" in each["text"])  # type: ignore[attr-defined]
    assert fact["forwarded_by"] == ("Ana" if first else "")
    shown = goalmem("trace", "show", "last", "--markdown").out
    assert ("forwarded by Ana" in shown) is bool(first)


def test_the_sender_still_said_it_when_it_is_searched(goalmem: Goalmem, tmp_path: Path) -> None:
    """A search by speaker finds what they passed on, with its mark."""
    asked(goalmem, tmp_path, "Ana", [], forwarded_from="Marta")
    (hit,) = json.loads(goalmem("search", "vegan", "--speaker", "Ana", "--json").out)["hits"]
    assert (hit["speaker"], hit["text"]) == ("Ana", "[forwarded from Marta] I am vegan since March.")
