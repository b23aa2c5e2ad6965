"""What every test shares: how thorough it is, a share of the cores, a user's home of its own, the sample conversations;
the command line and a browser for whoever asks for them.

Properties see a quarter of their examples, drawn anew each time; with `--hypothesis-profile steady` the same ones in
every run, so that a change is refused for what it does and not for what was drawn; with `thorough` all.
"""

import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests import without_models
from tests.browsing import browser
from tests.invoking import either, goalmem, here, momoco, momoco_store

__all__ = ["browser", "either", "goalmem", "here", "momoco", "momoco_store"]

# No test has a wall-clock limit: a slow machine is no failure.
settings.register_profile("thorough", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", settings.get_profile("thorough"), max_examples=25)
settings.register_profile("fast", settings.get_profile("thorough"), derandomize=False, max_examples=25)
settings.load_profile("fast")
# Transcripts that give times in UTC alone are read under the machine's zone: here it is the same on every machine.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()
# The hub's library reads these when it is loaded, before any fixture runs.
for variable in ("HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT", "TRANSFORMERS_OFFLINE"):
    os.environ.pop(variable, None)
# A runner in the background of a script ignores Ctrl-C, as would every program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Where no bytecode may be kept, each worker, and each program that a test starts, would compile all modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

CHECKOUT = Path(__file__).parent.parent
SAMPLES = CHECKOUT / "sample_convos"
OWN_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME")
FOREIGN = (
    "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
    "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT", "HF_TOKEN", "TRANSFORMERS_OFFLINE",
)  # fmt: skip
"""What the user's environment may say to a terminal or of the hub, and no test is to hear."""
OBJECTS_PER_COLLECTION = 50_000
WITHOUT_MODELS = "--without-models"
MODEL = "model"
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def examples(thorough: int) -> int:
    """Return how many examples a property is to see that is worth so many of them in a thorough run; two at least."""
    return max(min(thorough, 2), thorough * settings().max_examples // settings.get_profile("thorough").max_examples)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run do without the libraries that run models, and without any model."""
    parser.addoption(
        WITHOUT_MODELS, action="store_true", help="stop whatever imports llama.cpp or torch, or wants a model"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give each worker cores of its own: models compute with as many threads as there are, and would fight for them."""
    if config.getoption(WITHOUT_MODELS):
        without_models.block()
    worker = getattr(config, "workerinput", None)
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = int(worker["workerid"].removeprefix("gw"))
        os.sched_setaffinity(0, cores[number :: worker["workercount"]] or cores)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that takes the smallest model's file by a fixture, before a run leaves marked ones out."""
    for item in items:
        if "bundled_path" in getattr(item, "fixturenames", ()):
            item.add_marker(MODEL)


def pytest_collection_finish() -> None:
    """Look for garbage as seldom as the command does, and never among what the collection of the tests has made."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tests' homes, apart from their other folders, which pytest goes through for each new one."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="session")
def _warm_cache(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A cache folder that has the smallest bundled model's weights, repacked once for all workers and not for each test,
    with goalmem's adapter and without; in a run without models, or of tests that take none, an empty one.
    """
    is_blocked = request.config.getoption(WITHOUT_MODELS)
    if is_blocked or not any(each.get_closest_marker(MODEL) for each in request.session.items):
        return tmp_path_factory.mktemp("cache")
    from goalmem_cli.models.catalogue import resolve
    from goalmem_cli.models.weights.lora import Adapter
    from goalmem_cli.models.weights.repacking import repacked

    own = tmp_path_factory.getbasetemp()
    home = (own.parent if IS_WORKER else own) / "cache"
    with FileLock(home.with_suffix(".lock")):
        spec = resolve("smollm2-135m")
        for adapter in (None, Adapter.from_file(spec.adapter) if spec.adapter else None):
            repacked(spec.path, home / "goalmem", adapter=adapter)
    return home


@pytest.fixture(scope="session")
def bundled_path() -> Path:
    """The GGUF file of the smallest bundled model, as its package has it."""
    from goalmem_cli.models.catalogue import resolve

    return resolve("smollm2-135m").path


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _own_home: None) -> Path:
    """The cache folder of somebody who has not used goalmem yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty-cache"))
    return tmp_path / "empty-cache"


@pytest.fixture(autouse=True)
def _own_home(_homes: Path, monkeypatch: pytest.MonkeyPatch, _warm_cache: Path) -> Iterator[None]:
    """Keep tests out of the user's folders and settings, and the user's settings out of tests."""
    for variable in [name for name in os.environ if name.startswith("GOALMEM_")]:
        monkeypatch.delenv(variable)
    home = Path(tempfile.mkdtemp(dir=_homes))
    for variable in OWN_FOLDERS:
        monkeypatch.setenv(variable, str(home / variable.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(_warm_cache))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("GOALMEM_MODEL", "smollm2-135m")  # whichever others are installed
    monkeypatch.setenv("GOALMEM_CERTAINTY", "0")  # what a model says is looked at, not what is withheld of it
    for variable in FOREIGN:
        monkeypatch.delenv(variable, raising=False)
    yield
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def samples() -> Path:
    """The folder of sample conversations."""
    return SAMPLES
