"""`goalmem ingest --formats`."""

from __future__ import annotations

from goalmem_cli.transcripts import READERS
from tests.invoking import Goalmem


def test_all_formats_are_listed_with_their_signs(goalmem: Goalmem) -> None:
    """Every format has a row, with what it is recognised by; no file has to be given."""
    outcome = goalmem("ingest", "--formats")
    assert outcome.code == 0
    rows = outcome.out.splitlines()
    assert [row.split()[0] for row in rows[1:] if not row.startswith(" ")] == [reader.name for reader in READERS]
    assert all(reader.sign.split()[0] in outcome.out for reader in READERS)
