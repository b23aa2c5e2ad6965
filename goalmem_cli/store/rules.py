"""Kept rules: forms of questions with the plans that settled them, in one file beside the memory.

A rule has no text of the memory: the constants of its question are taken out, and its other words are the question's
or the package's own. So `forget` leaves the file as it is. Each change is one atomic rename. Of two processes that
change it at once, the later one wins: a rule or a count that is lost is learned again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import StoreDamaged, StoreNewer
from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import content_if_there, replace_file
from goalmem_cli.store.privacy import RULES

SCHEMA_VERSION = 1
MOST_RULES = 300
_FAILURES_ALLOWED = 3


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A plan with open places, ``({1}) lives in (x:city)``, for questions of one form. Place 0 is the asker.

    `form` has the question's words in standard order, `text` as they were asked, both with the kinds of places. `tried`
    and `settled` count the later questions that began with it, and those that it settled; `calls` and `tokens` are what
    these cost.
    """

    form: str
    text: str
    goal: str
    subgoals: tuple[str, ...]
    answers: tuple[str, ...] = ()
    is_current: bool = False
    tried: int = 0
    settled: int = 0
    calls: int = 0
    tokens: int = 0

    @property
    def name(self) -> str:
        """The short name by which commands know it."""
        return content_hash("rule", self.form)[:8]

    @property
    def is_promising(self) -> bool:
        """Whether to try it again: it has not failed three times, or has settled half of its questions."""
        failed = self.tried - self.settled
        return failed < _FAILURES_ALLOWED or failed <= self.settled


class RuleFile:
    """The rules of a memory."""

    def __init__(self, folder: Path) -> None:
        """Take the memory's folder."""
        self.path = folder / RULES

    def all(self) -> list[KeptRule]:
        """Return the rules, the most used first.

        Raises:
            StoreDamaged: the file does not hold rules. StoreNewer: a newer version wrote it.
            StoreError: it cannot be read.
        """
        content = content_if_there(self.path)
        if content is None:
            return []
        try:
            document = json.loads(content)
            version = document["schema_version"]
            if isinstance(version, int) and version > SCHEMA_VERSION:
                raise StoreNewer(f"{self.path} was written by a newer goalmem", "update goalmem")
            return [rebuild(KeptRule, each) for each in document["rules"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StoreDamaged(
                f"{self.path}: not a file of rules: {error}", "delete it: rules are learned again"
            ) from error

    def save(self, rules: Iterable[KeptRule]) -> None:
        """Write these rules instead of all others, at most `MOST_RULES`, those that settled most.

        Raises:
            StoreError: the file cannot be written.
        """
        kept = sorted(rules, key=lambda rule: -rule.settled)[:MOST_RULES]
        document = {"schema_version": SCHEMA_VERSION, "rules": [plain(rule) for rule in kept]}
        replace_file(self.path, json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))

    def put(self, rule: KeptRule) -> None:
        """Add the rule, or replace the one of its form; raises as `all` and `save`."""
        self.save([rule, *(each for each in self.all() if each.form != rule.form)])

    def take(self, rules: Iterable[KeptRule]) -> None:
        """Add the rules of forms that have none; raises as `all` and `save`."""
        own = self.all()
        if new := [each for each in rules if each.form not in {rule.form for rule in own}]:
            self.save([*own, *new])
