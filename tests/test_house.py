"""What a command loads: `goalmem --help` nothing heavy, `goalmem ask` no torch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT, SAMPLES

HEAVY = {
    "duckdb", "tantivy", "numpy", "llama_cpp", "torch", "model2vec", "sentence_transformers", "transformers", "jinja2",
    "jsonschema", "huggingface_hub", "llm", "click",
}  # fmt: skip
ONE_FOLDER = {
    "duckdb": "store", "tantivy": "store", "llama_cpp": "models", "sentence_transformers": "models",
    "model2vec": "models", "typer": "cli", "rich": "render",
}  # fmt: skip
PROBE = """
import sys
from goalmem_cli.cli.main import run
code = run({words!r})
print(code, *sorted({{name.split(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


def loaded_by(*words: str) -> tuple[str, set[str]]:
    """Return a command's exit code and the libraries it loaded, in a process of its own."""
    code = PROBE.format(words=list(words))
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    status, *modules = ran.stderr.splitlines()[-1].split()
    return status, set(modules)


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("ask", "--help"), ("chat", "--help"), ("ingest", "-h")]
)
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    """Help and version answer without a database, a model or an array library."""
    status, modules = loaded_by(*words)
    assert status == "0"
    assert not HEAVY & modules
    assert "rich" not in modules


def test_a_trace_is_shown_without_a_database(tmp_path: Path) -> None:
    """Past traces are files: no database is opened to list them."""
    status, modules = loaded_by("trace", "--store", str(tmp_path))
    assert status == "0"
    assert not {"duckdb", "tantivy", "llama_cpp", "torch"} & modules


def test_asking_with_the_default_embedder_never_loads_torch(tmp_path: Path) -> None:
    """Ingesting, searching and asking work on the static table and llama.cpp alone."""
    store = ("--store", str(tmp_path))
    unwanted = {"torch", "sentence_transformers", "transformers"}
    for words in (
        ("ingest", str(SAMPLES / "momoco.json"), *store),
        ("search", "Kyoto Latte", *store),
        ("ask", "Is Momoco a cafe?", *store, "--max-breadth", "1", "--max-depth", "0", "--budget", "4"),
    ):
        status, modules = loaded_by(*words)
        assert status in {"0", "1", "4"}
        assert not unwanted & modules
    assert "llama_cpp" in modules


@pytest.mark.parametrize(("library", "folder"), ONE_FOLDER.items())
def test_each_library_is_known_in_one_folder(library: str, folder: str) -> None:
    """A library's name stands in the imports of one folder only."""
    imports = re.compile(rf"^\s*(?:import|from) {library}\b", re.MULTILINE)
    package = CHECKOUT / "goalmem_cli"
    users = {
        path.relative_to(package).parts[0] for path in package.rglob("*.py") if imports.search(path.read_text("utf-8"))
    }
    assert users == {folder}


def test_files_and_functions_stay_small() -> None:
    """No file of the package is over 400 lines."""
    long = {
        str(path): count
        for path in (CHECKOUT / "goalmem_cli").rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > 400
    }
    assert not long
