"""The wheel: what is in it, and that it works away from the checkout."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from goalmem_cli.guide import NAMES
from tests.conftest import CHECKOUT, SAMPLES


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built with what is installed."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(CHECKOUT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("goalmem-*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as an installation lays it out."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_prompts_licence_and_table_are_in_the_wheel(wheel: Path) -> None:
    """What the package needs at run time is inside, the prompts under the package's own name for them."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    prompts = {
        f"goalmem_cli/prompt_files/{path.relative_to(CHECKOUT / 'prompts')}"
        for path in (CHECKOUT / "prompts").rglob("*.yaml")
    }
    assert prompts
    page = {f"goalmem_cli/lab/render/page_files/page.{ending}" for ending in ("html.j2", "css", "js")}
    assert names >= {f"goalmem_cli/guide/{name}.md" for name in NAMES}
    assert names >= prompts | page | {"goalmem_cli/py.typed", "goalmem_cli/models/static/model.safetensors"}
    notices = ("LICENSE", *(f"goalmem_cli/models/{name}/NOTICE" for name in ("adapter", "others", "static")))
    assert all(any(name.endswith(f"licenses/{notice}") for name in names) for notice in notices)
    assert not any(name.startswith(("tests/", "sample_convos/")) for name in names)
    assert not names & {f"goalmem_cli/lab/tuning/{name}.json" for name in ("talks", "assistants")}
    talks = (CHECKOUT / "goalmem_cli/lab/bench/languages").glob("*.json")
    assert names >= {str(path.relative_to(CHECKOUT)) for path in talks}


def test_the_table_is_small_enough_to_ship(wheel: Path) -> None:
    """The static embedding table stays under 10 MB."""
    with zipfile.ZipFile(wheel) as archive:
        assert archive.getinfo("goalmem_cli/models/static/model.safetensors").file_size < 10_000_000


@pytest.mark.slow
def test_the_unpacked_wheel_works_outside_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    """From another directory, with the wheel's content first on the path, a transcript is stored and searched."""

    def goalmem(*words: str) -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(unpacked), "GOALMEM_STORE": str(tmp_path / "store")}
        command = [sys.executable, "-m", "goalmem_cli", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False
        )

    where = "import goalmem_cli; print(goalmem_cli.__file__)"
    variables = os.environ | {"PYTHONPATH": str(unpacked)}
    found = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(str(unpacked))
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    assert goalmem("--version").stdout == f"goalmem {project['version']}\n"
    ingested = goalmem("ingest", str(SAMPLES / "momoco.json"))
    assert ingested.returncode == 0, ingested.stderr
    searched = goalmem("search", "What is the Kyoto Latte made with?", "-k", "1", "--json")
    assert json.loads(searched.stdout)["hits"][0]["turns"] == ["D2:1"]
    measured = goalmem("bench", "speed", "--only", "ask", "--questions", "1", "--model", "nothing.gguf")
    assert "nothing.gguf" in measured.stderr  # the sample conversations are there: only the model is missing
    checked = goalmem("prompts", "check")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith(str(unpacked / "goalmem_cli" / "prompt_files"))
