"""What somebody quotes or pastes is its author's, not theirs: as shown to a model, in the checks, and in the proof."""

import json
from pathlib import Path

import pytest

from goalmem_cli.transcripts.readers import quotes
from tests.cli.test_forwarded import since_when_vegan
from tests.invoking import Goalmem

MAIL = "From: Marta <m@example.org>\nSent: Monday\nTo: Ana\nSubject: Food\n\nI am vegan since March."
COPIED = "Look:\n[10:32, 3/5/2023] Marta: I am vegan since March.\n[10:33, 3/5/2023] Ben: Me too."


def chat(tmp_path: Path, text: str) -> str:
    """Return the path of a chat in which Ana says this."""
    file = tmp_path / "WhatsApp Chat with Ben.txt"
    lines = (
        f"31/12/2023, 21:15 - Ana: {text}",
        "31/12/2023, 21:16 - Ben: Good to know.",
        "31/12/2023, 21:17 - Marta: Hi.",
    )
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("text", "who", "answer", "line"),
    [
        ("I am vegan since March.", "Ana", "March", "Ana: I am vegan"),
        ("> I am vegan since March.\nOh", "Ana", None, "an unknown author (quoted by Ana): [quoted] I am vegan since"),
        (f"Look:\n{MAIL}", "Ana", None, "Marta (quoted by Ana): [quoted from Marta] From: Marta"),
        (f"Look:\n{MAIL}", "Marta", "March", "Marta (quoted by Ana): [quoted from Marta] From: Marta"),
        (f"Look:\n{MAIL}", "Ben", None, "Marta (quoted by Ana): [quoted from Marta] From: Marta"),
        (COPIED, "Marta", "March", "Marta (quoted by Ana): [quoted from Marta] [10:32, 3/5/2023] Marta: I am vegan"),
        (COPIED, "Ana", None, "Marta (quoted by Ana): [quoted from Marta] [10:32, 3/5/2023] Marta: I am vegan"),
        ("> So?\nI am vegan since March.", "Ana", "March", "Ana: I am vegan since March."),
    ],
)
def test_i_is_who_wrote_it(
    goalmem: Goalmem, tmp_path: Path, text: str, who: str, answer: str | None, line: str
) -> None:
    """The model is told who wrote it and who quotes it; a claim of the latter is refused, one of the author holds."""
    assert goalmem("ingest", chat(tmp_path, text), "--quiet").code == 0
    seen: list[str] = []
    trace = since_when_vegan(goalmem, who, seen)
    assert line in seen[0]
    assert trace["answer"] == answer, trace
    fact = next(each for each in trace["facts"].values() if "vegan" in each["text"])  # type: ignore[attr-defined]
    by = "Ana" if "quoted by" in line else ""
    assert (fact["quoted_by"], fact["forwarded_by"]) == (by, "")
    assert ("quoted by Ana" in goalmem("trace", "show", "last", "--markdown").out) is bool(by)


def test_a_chat_that_was_stored_before_is_not_stored_twice(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading it again tells whose the words are, and adds no turn; a third time changes nothing."""
    file = chat(tmp_path, f"Look:\n{MAIL}")

    def found() -> tuple[str, str]:
        hits = json.loads(goalmem("search", "vegan", "--json").out)["hits"]
        return next((hit["speaker"], hit["text"]) for hit in hits if "vegan" in hit["text"])

    with monkeypatch.context() as before:
        before.setattr(quotes, "quotes_in", lambda _: [])
        assert goalmem("ingest", file, "--quiet").code == 0
        assert found() == ("Ana", f"Look:\n{MAIL}")
    recipient = "To: Ana\n"
    for _ in range(2):
        assert goalmem("ingest", file, "--quiet").code == 0
        assert found() == ("Ana", f"[quoted from Marta] {MAIL.replace(recipient, '')}")
        (stored,) = json.loads(goalmem("stores", "show", "--json").out)["conversations"]
        assert stored["turns"] == 3
        assert goalmem("stores", "verify").code == 0


def test_who_is_quoted_has_the_name_that_the_user_gave(goalmem: Goalmem, tmp_path: Path) -> None:
    """As whoever says something has: the quoted author is the person of that name."""
    seen = list[str]()
    assert goalmem("ingest", chat(tmp_path, f"Look:\n{MAIL}")).code == 0
    assert goalmem("people", "name", "Marta", "Blau").code == 0
    assert since_when_vegan(goalmem, "Blau", seen)["answer"] == "March"
    assert "Blau (quoted by Ana)" in seen[0]
