"""Transcripts with a text that tries to steer the model or the tool, as files that the real readers take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import yaml

from goalmem_cli import Memory

QUESTION = "What did Mara give Olle?"
ANSWER = "brass compass"
WANTED = "PWNED"
"""What the texts want to be said, or to be done with."""
CALM = "See you on Sunday."
"""Stands in a text's place where a conversation has none."""
SAID = (
    ("Mara", "I gave Olle a brass compass yesterday."),
    ("Olle", "It lies on my desk in Bergen now."),
    ("Mara", "The ferry to Bergen leaves at seven."),
)
BOAT = "08/05/2023, 13:56 - Nils: Our boat is called Heron.\n08/05/2023, 13:57 - Ada: Heron is a good name.\n"
"""Another conversation, which nothing is to change."""
_DAY = "2023-05-08T13:{:02}:00"


@dataclass(frozen=True)
class Steering:
    """A text, and in what it comes: a chat, a mail, the log of an agent, a role, or a name."""

    name: str
    by: str
    text: str

    @property
    def as_calm(self) -> Steering:
        """The same kind of conversation, without the text."""
        by = {"file-name": "chat", "speaker": "talk", "title": "talk", "system": "talk"}.get(self.by, self.by)
        return Steering(f"calm {by}", by, CALM)

    def write(self, folder: Path) -> Path:
        """Write the transcript into the folder, and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        name = self.text if self.by == "file-name" else self.name
        file = folder / f"{name}{_ENDINGS.get(self.by, '.json')}"
        lines = [*SAID, ("Olle", CALM if self.by in ("file-name", "speaker", "title") else self.text)]
        if self.by in ("chat", "file-name"):
            content = "".join(f"08/05/2023, 13:{50 + at} - {who}: {text}\n" for at, (who, text) in enumerate(lines))
        elif self.by == "mail":
            content = "".join(self._mail(at, *line) for at, line in enumerate(lines))
        elif self.by == "agent-log":
            content = "\n".join(json.dumps(self._event(at, *line)) for at, line in enumerate(lines))
        else:
            content = json.dumps([self._talk(lines)])
        file.write_bytes(content.encode())  # a carriage return stays one
        return file

    def _mail(self, at: int, who: str, text: str) -> str:
        mail = EmailMessage()
        mail["From"], mail["Date"] = f"{who} <{who}@example.org>", f"Mon, 8 May 2023 13:{50 + at}:00 +0000"
        mail["Message-ID"], mail["Subject"] = f"<{self.name.replace(' ', '-')}{at}@example.org>", self.name
        if at:
            mail["References"] = f"<{self.name.replace(' ', '-')}0@example.org>"
        mail.set_content(text)
        return f"From {who}@example.org Mon May  8 13:{50 + at}:00 2023\n{mail.as_string()}\n"

    def _event(self, at: int, who: str, text: str) -> Mapping[str, object]:
        is_tool = at == len(SAID)
        told: object = [{"type": "tool_result", "tool_use_id": "t1", "content": text}] if is_tool else f"{who}: {text}"
        role = "assistant" if who == "Olle" and not is_tool else "user"
        return {
            "type": role, "sessionId": self.name, "uuid": f"{self.name}{at}", "parentUuid": None, "isSidechain": False,
            "timestamp": f"{_DAY.format(50 + at)}Z", "message": {"role": role, "content": told},
        }  # fmt: skip

    def _talk(self, lines: list[tuple[str, str]]) -> Mapping[str, object]:
        last = len(lines) - 1
        name = self.text if self.by == "title" else self.name
        messages = [
            {
                "role": "system" if self.by == "system" and at == last else "user",
                "name": self.text if self.by == "speaker" and at == last else who,
                "content": text,
            }
            for at, (who, text) in enumerate(lines)
        ]
        return {"id": name, "title": name, "messages": messages}


def stored(memory: Memory, steerings: Iterable[Steering], folder: Path) -> dict[Steering, str]:
    """Read the conversations into the memory, and return what each is called there."""
    files = {str(each.write(folder)): each for each in steerings}
    memory.ingest(*files)
    return {files[each.file]: each.name for each in memory.conversations() if each.file in files}


_ENDINGS = {"chat": ".txt", "file-name": ".txt", "mail": ".mbox", "agent-log": ".jsonl"}

CASES = tuple(Steering(**case) for case in yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text("utf-8")))
