"""What every test shares: a user's home of its own, and the sample conversations."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test has a wall-clock limit: a slow machine is no failure.
settings.register_profile("goalmem", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("goalmem")
# A runner in the background of a script ignores Ctrl-C, as would every program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

CHECKOUT = Path(__file__).parent.parent
SAMPLES = CHECKOUT / "sample_convos"
OWN_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME")


@pytest.fixture(scope="session")
def _warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that has the bundled model's weights, so that they are repacked once and not for each test."""
    from goalmem_cli.models.catalogue import resolve
    from goalmem_cli.models.weights.repacking import repacked

    home = tmp_path_factory.mktemp("cache")
    repacked(resolve("bundled").path, home / "goalmem")
    return home


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _own_home: None) -> Path:
    """The cache folder of somebody who has not used goalmem yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty-cache"))
    return tmp_path / "empty-cache"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, _warm_cache: Path) -> None:
    """Keep tests out of the user's folders and settings, and the user's settings out of tests."""
    import os

    for variable in [name for name in os.environ if name.startswith("GOALMEM_")]:
        monkeypatch.delenv(variable)
    home = tmp_path_factory.mktemp("home")
    for variable in OWN_FOLDERS:
        monkeypatch.setenv(variable, str(home / variable.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(_warm_cache))
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def samples() -> Path:
    """The folder of sample conversations."""
    return SAMPLES
