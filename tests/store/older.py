"""What earlier versions of goalmem left: `fixtures/NAME.tar.xz` has a `store`, and from version 2 on a `run` of `eval`
and `memory.jsonl`, the store's export.

Each was made by the commit beside its name, with its own code and the static embedder: `goalmem ingest
momoco-again.md`, two `goalmem ask` by the scripted models of its `tests/cli/test_ask.py`, `SessionNotes(store).index`
where there was a ledger, and `goalmem eval momoco.json --reasoner direct --limit 2 --sample first --judge same` by the
scripted model of its `test_eval.py`. The number is that of the last step of `migrations` which the store has seen.

`fixtures/milvus-1.tar.xz` has `memory.db`, the memory in an embedded Milvus that the first commit with one made (`MILVUS`)
by the same `ingest`. Its number is that of `milvus.schema`.
"""

import tarfile
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
TRANSCRIPT = FIXTURES / "momoco-again.md"
READ_FROM = "/tmp/momoco-again.md"  # noqa: S108 - where the transcript lay when the fixtures were made


@dataclass(frozen=True)
class Older:
    """A version: how many steps its store has seen, what its traces say of themselves, and who made it."""

    name: str
    steps: int
    traces: int
    commit: str

    @property
    def has_notes(self) -> bool:
        """Whether a backbone derived from the turns, too."""
        return self.steps >= 4

    @property
    def has_run(self) -> bool:
        """Whether it has a run and an export."""
        return self.steps >= 2

    def unpacked(self, folder: Path) -> Path:
        """Return the folder, with what the version left in it."""
        with tarfile.open(FIXTURES / f"{self.name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        return folder


OLDER = (
    Older("version-1", 1, 1, "3ddb9e6"),
    Older("version-2", 2, 1, "4e624dd"),
    Older("version-3", 3, 1, "741161f"),
    Older("version-4", 4, 1, "c222b5d"),
    Older("version-5", 5, 2, "5251b27"),
    Older("version-6", 6, 2, "c2c9995"),
    Older("version-7", 7, 2, "60e9f0e"),
    Older("version-8-traces-3", 8, 3, "71777fb"),
    Older("version-8", 8, 4, "5b54eb9"),
    Older("version-9-traces-5", 9, 5, "fda2bca9"),
    Older("version-9-traces-6", 9, 6, "352ae5fa"),
    Older("version-9", 9, 7, "2a9f0ee"),
    Older("version-10", 10, 8, "91ac0faf"),
)
NOTES = Older("notes", 11, 9, "ea81dfe9")
"""A store with what people note, and its `talk.json`, by the models of `test_goals.py`: `goalmem ask` and `goals add
--name home` of "Where does Ana live now?", `people merge` of a number with Ben, `people name` Benjamin, `forget` of
Nora and Tom, who said one text in one instant, and `forget --speaker Nora --always`.
"""
MILVUS = Older("milvus-1", 0, 0, "40825807")
