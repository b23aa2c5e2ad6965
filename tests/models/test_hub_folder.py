"""Where downloads are looked for without loading the hub's library: where that library keeps them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = "from huggingface_hub.constants import HF_HUB_CACHE\nprint(HF_HUB_CACHE)"


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"HF_HOME": "/srv/home"},
        {"HF_HUB_CACHE": "/srv/hub", "HF_HOME": "/srv/home"},
        {"XDG_CACHE_HOME": "/srv/xdg"},
    ],
)
def test_the_folder_is_the_librarys(told: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says."""
    from goalmem_cli.models.catalogue import _hub_folder

    monkeypatch.delenv("XDG_CACHE_HOME")
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    said = subprocess.run([sys.executable, "-c", SCRIPT], env=os.environ, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(_hub_folder(None))
