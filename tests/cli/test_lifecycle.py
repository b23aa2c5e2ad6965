"""Forgetting, exporting, removing and re-embedding, as the command line does them."""

import json
from pathlib import Path

import numpy as np
import pytest

from goalmem_cli.models.embedding.embedders import STATIC_FOLDER, load_embedder
from tests.conftest import SAMPLES
from tests.invoking import Goalmem


def test_forgetting_asks_first(momoco: Goalmem) -> None:
    """Where nobody can be asked it takes --yes, and until then everything stays."""
    outcome = momoco("forget", "momoco-01")
    assert outcome.code == 2
    assert "23 turns" in outcome.err
    assert "--yes" in outcome.err.splitlines()[-1]
    assert momoco("search", "matcha", "-q").code == 0


def test_a_forgotten_conversation_is_gone(momoco: Goalmem, tmp_path: Path) -> None:
    """The counts are said, nothing is found any more, and no file holds the text."""
    outcome = momoco("forget", "momoco-01", "--yes")
    assert outcome.code == 0
    assert outcome.out.startswith("forgot 23 turns, 1 whole conversation (momoco-01)")
    assert momoco("search", "matcha", "-q").code == 1
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"Momoco" in path.read_bytes()]
    assert momoco("stores", "verify", "-q").code == 0


@pytest.mark.model
def test_a_dry_run_forgets_nothing(momoco: Goalmem) -> None:
    """`--dry-run` says what would go, and of the traces what they are to whoever reads that."""
    said = momoco("forget", "--speaker", "ben", "--dry-run").out
    assert said.startswith("would forget ")
    assert said.endswith(", 0 kept proofs that quote it\n")
    assert momoco("ask", "Which drink with matcha in it did Alice order?", "--reasoner", "direct").code in (0, 1)
    assert momoco("forget", "momoco-01", "--dry-run").out.endswith(", 1 kept proof that quotes it\n")
    document = json.loads(momoco("forget", "--speaker", "ben", "--dry-run", "--json").out)
    assert (document["is_done"], document["turns"] > 0, document["conversations"]) == (False, True, [])
    assert json.loads(momoco("stores", "show", "--json").out)["stats"]["turns"] == 23


def test_what_is_given_together_narrows(momoco: Goalmem) -> None:
    """A speaker before a time: the other speaker's turns and the later ones stay."""
    assert momoco("forget", "--speaker", "Ben", "--before", "2023-05-10", "--yes").code == 0
    document = json.loads(momoco("stores", "show", "--json").out)
    turns = {speaker["name"]: speaker["turns"] for speaker in document["conversations"][0]["speakers"]}
    assert turns["Alice"] > turns["Ben"] > 0
    assert momoco("stores", "verify", "-q").code == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "no turns are named"),
        (("no-such-chat",), "no-such-chat"),
        (("--speaker", "Zoe"), "Zoe"),
        (("--before", "soon"), "--before"),
    ],
)
def test_forgetting_the_wrong_thing_is_a_usage_error(momoco: Goalmem, words: tuple[str, ...], named: str) -> None:
    """A name that is not there deletes nothing, and says so."""
    outcome = momoco("forget", *words, "--yes")
    assert outcome.code == 2
    assert named in " ".join(outcome.error_lines)


def test_nothing_of_the_kind_is_exit_1(momoco: Goalmem) -> None:
    """As grep: nothing was found to forget."""
    assert momoco("forget", "--before", "1999", "--yes").code == 1


@pytest.mark.parametrize(
    ("text", "is_warned"),
    [
        ("# Installing\n\nRun it.\n\n# Licence\n\nFree.\n", True),
        ("**Ana:** Where?\n\n**Ben:** Here.\n\n**Ana:** Good.\n\n**Ben:** Indeed.\n", False),
        ("**Ana:** Hi.\n\n**Ben:** Hello.\n\n**Ana:** At six.\n", False),
        ("**User:** Where?\n\n**Assistant:** Here.\n", False),
    ],
)
def test_documents_that_an_earlier_version_took_for_chats_are_named(
    goalmem: Goalmem, tmp_path: Path, text: str, *, is_warned: bool
) -> None:
    """`stores show` says which conversations look so, and how one goes."""
    (tmp_path / "read.md").write_text(text, "utf-8")
    assert goalmem("ingest", str(tmp_path / "read.md"), "--format", "markdown").code == 0
    outcome = goalmem("stores", "show")
    assert (outcome.code, "it seems, and not from chats: read" in outcome.err) == (0, is_warned)


def test_an_export_is_read_back(momoco: Goalmem, tmp_path: Path) -> None:
    """On stdout and in a file it is the same, and another store made of it gives it again."""
    shown = momoco("stores", "export")
    file = tmp_path / "memory.jsonl"
    assert momoco("stores", "export", "--out", str(file)).code == 0
    assert [json.loads(line) for line in file.read_text("utf-8").splitlines()] == [
        json.loads(line) for line in shown.out.splitlines()
    ]
    other = ("--store", str(tmp_path / "other"))
    assert "goalmem, 1 conversation, 23 turns" in momoco("ingest", str(file), *other).out.replace("locomo", "goalmem")
    assert momoco("stores", "export", *other).out == shown.out
    assert momoco("stores", "verify", "-q", *other).code == 0
    assert "nothing new" in momoco("ingest", str(file)).out


def test_tables_are_exported_as_parquet(momoco: Goalmem, tmp_path: Path) -> None:
    """A file a table, in a folder that is made."""
    assert momoco("stores", "export", "--parquet", str(tmp_path / "new" / "tables")).code == 0
    names = {path.name for path in (tmp_path / "new" / "tables").iterdir()}
    assert {"turns.parquet", "units.parquet", "conversations.parquet"} <= names
    both = momoco("stores", "export", "--parquet", "x", "--out", "y")
    assert both.code == 2


def test_a_removed_store_is_gone(momoco: Goalmem, tmp_path: Path) -> None:
    """It asks first; what goalmem did not write stays."""
    assert momoco("stores", "remove").code == 2
    (tmp_path / "store" / "notes.txt").write_text("mine")
    assert momoco("stores", "remove", "--yes").code == 0
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["notes.txt"]
    assert momoco("search", "matcha").code == 3


def test_a_damaged_store_can_be_removed_and_nothing_else_goes(momoco: Goalmem, tmp_path: Path) -> None:
    """Removing needs no readable database, and a copy that somebody made beside it is theirs."""
    database = tmp_path / "store" / "memory.duckdb"
    database.with_name("memory.duckdb.my-copy").write_bytes(database.read_bytes())
    database.write_bytes(b"garbage" * 4000)
    outcome = momoco("stores", "remove", "--yes")
    assert outcome.code == 0, outcome.err
    assert "cannot be read" in outcome.err
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["memory.duckdb.my-copy"]


@pytest.mark.slow
def test_another_embedder_takes_over(momoco: Goalmem, tmp_path: Path) -> None:
    """Distilling MiniLM gives the shipped table again; `use` embeds everything with it, as do later commands."""
    table = tmp_path / "table"
    assert momoco("embedder", "distil", "minilm", "--out", str(table), "-q").code == 0
    words = json.loads((STATIC_FOLDER / "tokenizer.json").read_bytes())
    assert json.loads((table / "tokenizer.json").read_bytes()) == words
    texts = ["a cat", "the cats sleep", "we paid 350 euros", *list(words["model"]["vocab"])[2000:3000]]
    rebuilt, shipped = (load_embedder(name).embed(texts) for name in (str(table), "static"))
    assert np.abs(rebuilt @ rebuilt.T - shipped @ shipped.T).max() < 0.02  # up to rounding
    outcome = momoco("embedder", "use", str(table))
    assert "23 units embedded" in outcome.out
    assert "already" in momoco("embedder", "use", str(table)).out
    document = json.loads(momoco("embedder", "--json").out)
    assert (document["embedder"], document["dimension"]) == (str(table.resolve()), 256)
    assert momoco("search", "matcha latte", "-q").code == 0
    assert momoco("stores", "verify", "-q").code == 0
    assert momoco("ingest", str(SAMPLES / "momoco.json")).out.rstrip().endswith("nothing new")


def test_what_deletes_says_first_what_goes_and_what_brings_it_back(
    momoco: Goalmem, samples: Path, tmp_path: Path
) -> None:
    """Also where the yes was given beforehand, and before anything is done."""
    refused = momoco("forget", "momoco-01")
    done = momoco("forget", "momoco-01", "--yes")
    assert (refused.code, done.code) == (2, 0)
    for said in (refused.err, done.err):
        assert "23 turns" in said and "this cannot be undone" in said and "ingest --restore-forgotten FILE" in said
    assert momoco("ingest", "--restore-forgotten", str(samples / "momoco.json")).code == 0
    left = momoco("forget", "momoco-01", "--leave-nothing", "--yes")
    assert "`goalmem ingest FILE`" in left.err
    removed = momoco("stores", "remove", "--yes")
    assert "0 turns" in removed.err and "this cannot be undone" in removed.err
    assert "made again when needed" in momoco("models", "cache", "--clear").err


def test_an_export_takes_no_others_place(momoco: Goalmem, tmp_path: Path) -> None:
    """A file of something else stays; an earlier export, or its tables, only gives way with --yes."""
    file = tmp_path / "letters.txt"
    file.write_text("Dear Ben", "utf-8")
    refused = momoco("stores", "export", "--out", str(file))
    assert (refused.code, file.read_text("utf-8")) == (2, "Dear Ben")
    assert "no exported store" in refused.error_lines[0]
    file.unlink()
    for option, place in (("--out", file), ("--parquet", tmp_path / "tables")):
        assert momoco("stores", "export", option, str(place)).code == 0
        refused = momoco("stores", "export", option, str(place))
        assert refused.code == 2 and "cannot be undone" in refused.err and "--yes" in refused.err
        assert f"Replace {place}?" in momoco("stores", "export", option, str(place), "--quiet").error_lines[0]
        assert momoco("stores", "export", option, str(place), "--yes").code == 0


def test_an_export_asks_only_where_its_own_tables_are(momoco: Goalmem, tmp_path: Path) -> None:
    """Somebody else's tables stay beside it; a file for a folder, or a folder for a file, is a wrong word."""
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "mine.parquet").write_bytes(b"mine")
    assert momoco("stores", "export", "--parquet", str(tables)).code == 0
    assert (tables / "mine.parquet").read_bytes() == b"mine"
    file = tmp_path / "memory.jsonl"
    assert momoco("stores", "export", "--out", str(file)).code == 0
    before = file.read_bytes()
    for option, place, told in (("--parquet", file, "is a file"), ("--out", tables, "is a folder")):
        refused = momoco("stores", "export", option, str(place), "--yes")
        assert refused.code == 2 and told in refused.error_lines[0]
    assert file.read_bytes() == before
