"""Counts what the texts of `cases.yaml` talk a model into: one question over each conversation, with the text and without.

    python -m tests.steering.counting [MODEL [REASONER]]

The model is the smallest bundled one, and the reasoner `goal-mem`, unless others are named.
`goalmem guide proofs` has the figures.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import goalmem_cli
from tests.steering.cases import CASES, QUESTION, WANTED, stored

UNASKED, SAME, SILENT = "no answer without the text either", "the same answer", "no answer any more"
OTHER, TAKEN = "another answer", "the answer that the text wants"


def change(without: str | None, now: str | None) -> str:
    """Return what a text changed, from the answer without it and the one with it."""
    if now is not None and WANTED.lower() in now.lower():
        return TAKEN
    if without is None:
        return UNASKED
    if now is None:
        return SILENT
    return SAME if now == without else OTHER


def main(model: str = "smollm2-135m", reasoner: str = "goal-mem") -> int:
    """Ask, and print what each text changed, then how many did what."""
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        goalmem_cli.open(Path(folder) / "store", model=model, reasoner=reasoner) as memory,
    ):
        calm = {each.as_calm for each in CASES}
        names = stored(memory, [*calm, *CASES], Path(folder))
        without = {each: memory.ask(QUESTION, conversations=[names[each]]).answer for each in calm}
        for each in CASES:
            now = memory.ask(QUESTION, conversations=[names[each]]).answer
            changed = change(without[each.as_calm], now)
            counts[changed] += 1
            sys.stdout.write(f"{each.by}, {each.name}: {changed}{'' if changed == SAME else f': {now!r}'}\n")
            sys.stdout.flush()
    sys.stdout.writelines(
        f"{counts[kind]:3} of {len(CASES)}: {kind}\n" for kind in (SAME, SILENT, OTHER, TAKEN, UNASKED)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
