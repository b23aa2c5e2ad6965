"""The mail that another one holds below what its sender wrote: one that is forwarded, or that was answered before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.transcripts.readers.quotes import MARK, Head, head_of_mail

_RULE = re.compile(r"\s*_{10,}\s*")


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A mail that another one passes on; `author` is blank where it does not say whose it is, `sent` is as written."""

    author: str
    sent: str
    body: str

    @property
    def text(self) -> str:
        """What it says behind a mark that says whose it is and when it was sent."""
        by = ", ".join(filter(None, (self.author or "an unknown author", self.sent)))
        return f"[forwarded from {by}] {self.body}"


def earlier_in(lines: Sequence[str], *, is_forward: bool) -> tuple[int, int, Forwarded | None]:
    """Return the line with which an earlier mail begins, the line behind it, and that mail where it is forwarded.

    It goes to the end, unless it stands behind `>`. The line behind the last stands for none. `is_forward` says that
    the subject calls it one.
    """
    for at, line in enumerate(lines):
        if line.startswith(">"):
            continue
        is_rule = _RULE.fullmatch(line) is not None
        head = head_of_mail(lines, at + 1 if is_rule and lines[at + 1 :] else at, is_in_mail=True)
        if head is None and not is_rule:
            continue
        if head is None or not (is_forward or head.is_forward):
            return at, len(lines), None
        end = _end(lines, head)
        body = lines[head.end : end]
        if end < len(lines) or lines[head.end - 1].startswith(">"):
            body = [MARK.sub("", line, count=1) for line in body]
        return at, end, Forwarded(head.author, head.sent, "\n".join(line.rstrip() for line in body).strip())
    return len(lines), len(lines), None


def _end(lines: Sequence[str], head: Head) -> int:
    if not lines[head.end - 1].startswith(">"):
        return len(lines)
    behind = range(head.end, len(lines))
    return next((at for at in behind if lines[at].strip() and not lines[at].startswith(">")), len(lines))
