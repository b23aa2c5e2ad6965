"""What a command is asked to measure, as it was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.queries import QueryKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured, as it was typed."""

    files: tuple[Path, ...]
    reasoners: tuple[str, ...]
    backbones: tuple[str, ...]
    limit: int | None = None
    categories: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    only: Path | None = None
    sample: str = "stratified"
    queries: tuple[str, ...] = ()
    is_retrieval_only: bool = False
    scope: str | None = None
    shard: str = "1/1"
    out: Path | None = None
    is_resumed: bool = True
    category_names: str = "official"
    parallel: int | None = None

    @property
    def only_retrieves(self) -> bool:
        """Whether nothing is answered: kinds of query are only compared by what they find."""
        return self.is_retrieval_only or bool(self.queries)

    @property
    def sees_domain(self) -> bool:
        """Whether a question sees all conversations of its domain, and not only its own."""
        return self.scope == "domain" or (self.scope is None and bool(self.queries))

    @property
    def kinds(self) -> tuple[QueryKind, ...]:
        """What to retrieve with.

        Raises:
            UsageError: there is no such kind of query.
        """
        from goalmem_cli.lab.evaluation.queries import QueryKind

        known = [kind.value for kind in QueryKind]
        return tuple(QueryKind(one_of(name, known, "--queries")) for name in self.queries or (QueryKind.QUESTION,))

    @property
    def part(self) -> tuple[int, int]:
        """Which shard of how many.

        Raises:
            UsageError: it is not written like 2/5.
        """
        number, slash, of = self.shard.partition("/")
        is_short = len(self.shard) < 20  # Python reads no number of thousands of digits
        if not (slash and is_short and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise UsageError(f"--shard {self.shard!r} names no part", "write 2/5 for the second of five")
        return int(number), int(of)


def listed(typed: str | None, flag: str) -> tuple[str, ...]:
    """Return the names that are typed with commas between, each once; none where the flag was not typed.

    Raises:
        UsageError: it was typed and names nothing.
    """
    names = tuple(dict.fromkeys(name.strip() for name in (typed or "").split(",") if name.strip()))
    if typed is not None and not names:
        raise UsageError(f"{flag} {typed!r} names nothing", "write names with commas between, or leave the flag out")
    return names


def one_of(name: str, known: Sequence[str] | Mapping[str, object], flag: str) -> str:
    """Return the name, which is one of the known ones.

    Raises:
        UsageError: it is none.
    """
    if name not in known:
        raise UsageError(f"{flag}: there is no {name!r}", f"choose from {', '.join(known)}")
    return name


def ascending_sizes(text: str, flag: str, example: str) -> list[int]:
    """Return the sizes that are typed with commas between.

    Raises:
        UsageError: they are no ascending numbers of at least a hundred.
    """
    names = listed(text, flag)
    sizes = [int(name) for name in names if name.isdecimal() and len(name) < 10]
    if len(sizes) < len(names) or sizes[0] < 100 or sizes != sorted(set(sizes)):
        raise UsageError(f"{flag} {text!r} is no list of sizes", f"write numbers from 100 on, ascending: {example}")
    return sizes
