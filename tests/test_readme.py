"""README and manual: their commands run, and what they list is what there is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from goalmem_cli.config import KEYS
from goalmem_cli.guide import NAMES, page, pages
from goalmem_cli.json_records import plain
from goalmem_cli.reasoners.catalogue import REASONERS
from goalmem_cli.transcripts import FORMATS
from goalmem_cli.wiring import Factories
from tests.cli.test_commands import every_command
from tests.conftest import CHECKOUT

README = (CHECKOUT / "README.md").read_text("utf-8")
WHOLE = "\n".join([README, *(entry.text for entry in pages())])
# Enough to prove that a command works; the bundled model takes minutes for all that its default bounds allow.
BOUNDS = {"GOALMEM_MAX_BREADTH": "1", "GOALMEM_MAX_DEPTH": "0", "GOALMEM_BUDGET": "4"}
EXAMPLES = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MOST_LINES = 220
MAY_END_IN_UNKNOWN = " ask "


def commands(text: str) -> list[str]:
    """Return every command line of the page's examples, but what installs goalmem: `.ci/run` does that."""
    lines = "\n".join(EXAMPLES.findall(text)).splitlines()
    return [line for line in lines if line.strip() and "pip install" not in line]


@pytest.fixture(scope="module")
def samples_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store of the samples is that the first page makes, for the others to copy."""
    return tmp_path_factory.mktemp("samples") / "store"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", *NAMES])
def test_every_example_runs(name: str, tmp_path: Path, samples_store: Path) -> None:
    """In a shell, one after another, with the sample conversations in the store and the bundled model."""
    (tmp_path / "sample_convos").symlink_to(CHECKOUT / "sample_convos")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = {**os.environ, **BOUNDS, "PATH": path, "GOALMEM_STORE": str(tmp_path / "store"), "COLUMNS": "80"}
    lines = commands(README if name == "README" else page(name).text)
    assert lines
    if not samples_store.exists():
        lines = [
            f"goalmem ingest sample_convos --quiet --store {samples_store}",
            f"cp -r {samples_store} store",
            *lines,
        ]
    else:
        shutil.copytree(samples_store, tmp_path / "store")
    for line in lines:
        done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, env=shell, capture_output=True, text=True)
        assert done.returncode in ({0, 1, 4} if MAY_END_IN_UNKNOWN in line else {0}), (line, done.stderr)
        assert "error: " not in done.stderr or done.returncode == 4, (line, done.stderr)


def test_the_readme_stays_short() -> None:
    """What is longer stands in the manual."""
    assert README.count("\n") <= MOST_LINES


def test_the_readme_s_figures_are_those_of_the_manual() -> None:
    """Each number with its interval stands on the page of figures too, where its command is."""
    numbers = re.findall(r"\d\.\d{3}(?: \[[\d., ]+\])?", README[README.index("## Figures") : README.index("## How")])
    assert len(numbers) > 6
    assert [number for number in numbers if number not in page("figures").text] == []


def test_every_command_is_mentioned() -> None:
    """Who reads the README has seen every command; who reads the manual too, every subcommand."""
    names = {words[0] for words in every_command() if len(words) == 1}
    assert [name for name in names if f"goalmem {name}" not in README] == []
    missing = [" ".join(words) for words in every_command() if f"goalmem {' '.join(words)}".strip() not in WHOLE]
    defaults = {
        "stores list", "models list", "embedder show", "prompts list", "trace list", "eval run", "sources list", "people list",
            "goals list", "rules list",
    }  # fmt: skip
    assert set(missing) == defaults


def test_the_page_for_developers_names_what_there_is() -> None:
    """AGENTS.md is one page, and each file, folder and page of the manual that it names exists."""
    text = (CHECKOUT / "AGENTS.md").read_text("utf-8")
    paths = re.findall(r"(?<![\w/])((?:goalmem_cli|tests|\.ci)(?:/[\w.]+)+)", text)

    assert text.count("\n") <= MOST_LINES
    assert len(paths) > 10
    assert [path for path in paths if not (CHECKOUT / path).exists()] == []
    assert [name for name in re.findall(r"`goalmem guide\s(\w+)`", text) if name not in NAMES] == []


def test_every_page_is_listed_and_short() -> None:
    """The README names each with its title, and a page of the manual is no book."""
    assert [entry.name for entry in pages() if f"| {entry.title} |" not in README] == []
    assert [entry.name for entry in pages() if entry.text.count("\n") > MOST_LINES] == []
    files = {file.stem for file in (CHECKOUT / "goalmem_cli" / "guide").glob("*.md")}
    assert files == set(NAMES)


def test_pages_are_named_as_they_are_called() -> None:
    """Wherever a text sends its reader to a page, there is one."""
    named = set(re.findall(r"`goalmem guide (\w+)`", WHOLE)) - {"PAGE"}
    assert named <= set(NAMES)


def test_every_setting_reasoner_and_backbone_is_listed() -> None:
    """The keys of the settings files are those of `Settings`; ways to answer and to search have their row."""
    rows = re.findall(r"^\| (`.*?`) \|", page("settings").text, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(KEYS)
    assert [name for name in REASONERS if f"| `{name}` |" not in page("proofs").text] == []
    assert [name for name in Factories().backbones() if f"`{name}`" not in page("backbones").text] == []


def test_every_setting_of_backbones_and_reasoners_is_listed_with_its_default() -> None:
    """A row names one or several settings, and the defaults in the same order, as a settings file has them."""
    listed: dict[str, dict[str, str]] = {}
    for part in re.split(r"^### ", page("parameters").text, flags=re.MULTILINE)[1:]:
        said = listed.setdefault(part.partition("\n")[0].strip("`"), {})
        for names, defaults in re.findall(r"^\| (`.*?`) \| (.*?) \| .* \|$", part, re.MULTILINE):
            said.update(zip(re.findall(r"`(\w+)`", names), defaults.replace("`", "").split(", "), strict=True))
    kinds = {name: entry.settings for name, entry in REASONERS.items()}
    kinds |= {name: entry.settings for name, entry in Factories().backbones().items()}  # remem is both
    for name, kind in kinds.items():
        defaults = listed.get(name.removeprefix("paper:"), {}) | listed.get(name, {})  # a recipe lists what differs
        said = {slot: yaml.safe_load(default) for slot, default in defaults.items()}
        assert said == plain(kind()), name


def test_every_format_is_in_the_list() -> None:
    """The table of formats names each of them."""
    assert [name for name in FORMATS if f"`{name}`" not in page("formats").text] == []


def test_the_two_commands_install_what_there_is() -> None:
    """The extras that the README installs are in pyproject.toml."""
    pyproject = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    extras = re.findall(r"pip install '\.\[([\w,]+)\]'", README)
    assert len(extras) == 2
    assert [extra for each in extras for extra in each.split(",") if f"\n{extra} = [" not in pyproject] == []
