"""A real OpenAI-compatible server, llama-cpp-python's own, with the bundled model."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
import yaml

from goalmem_cli.errors import ContextOverflow, ModelMissing
from goalmem_cli.main import run
from goalmem_cli.ports import JsonShape
from tests.conftest import CHECKOUT, SAMPLES
from tests.models.faulty_server import CITE, ONE_LINE, asks, opened


@pytest.fixture(scope="module")
def llama_server(bundled_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama-cpp-python's server with the bundled model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    words = ["--model", bundled_path, "--model_alias", "smol", "--n_ctx", "4096", "--host", "127.0.0.1", "--port", port]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "llama_cpp.server", *map(str, words)], stdout=stream, stderr=stream
        )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        while True:
            assert process.poll() is None, log.read_text("utf-8")
            try:
                httpx2.get(f"{url}/models", trust_env=False).raise_for_status()
                break
            except httpx2.TransportError:
                threading.Event().wait(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def test_a_real_server_is_held_to_the_schema(llama_server: str) -> None:
    """llama-cpp-python's server takes the schema in an object's form; several replies fit, in order, with their tokens."""
    with opened(llama_server, timeout=600) as model:
        schemas: Sequence[dict[str, Any]] = [
            {**CITE, "properties": {"fact": {"type": "string", "enum": [f"F{number}", f"G{number}"]}}}
            for number in range(2)
        ]
        replies = model.complete([asks(shape=JsonShape(schema)) for schema in schemas])
        for reply, schema in zip(replies, schemas, strict=True):
            jsonschema.validate(json.loads(reply.text), schema)
            assert reply.is_complete and reply.prompt_tokens > 20 and reply.completion_tokens > 3
        (line,) = model.complete([asks(shape=ONE_LINE)])
        assert line.text.startswith("Answer: ")
        assert (model.name, model.context) == ("smol", 8192)


def test_a_real_server_overflows(llama_server: str) -> None:
    """A prompt longer than the context of a real server is a ContextOverflow; a wrong name of a model is missing."""
    with opened(llama_server, timeout=600) as model, pytest.raises(ContextOverflow, match="4096"):
        model.complete([asks("dog " * 5000, ONE_LINE)])
    with pytest.raises(ModelMissing) as raised:
        opened(f"{llama_server}#other")
    assert "smol" in raised.value.hint


def short_prompts(folder: Path) -> Path:
    """A folder with the prompt of `direct` without its examples, which a small model on two cores reads slowly."""
    prompt = yaml.safe_load((CHECKOUT / "prompts" / "read.yaml").read_text("utf-8"))
    (folder / "prompts").mkdir()
    fields = prompt["output"]["schema"]["properties"]
    fields["facts"]["maxItems"], fields["answer"]["maxLength"] = 1, 12
    short = yaml.safe_dump({**prompt, "system": "Answer from the facts, as JSON.", "examples": []}, sort_keys=False)
    (folder / "prompts" / "read.yaml").write_text(short, "utf-8")
    return folder / "prompts"


@pytest.mark.slow
def test_a_question_is_asked_of_a_real_server(
    llama_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`goalmem ask --model http://...` reaches an outcome through the server, whose tokens are counted."""
    store = ["--store", str(tmp_path / "store")]
    assert run(["ingest", str(SAMPLES / "momoco.json"), *store, "--quiet"]) == 0
    capsys.readouterr()
    words = ["ask", "Is Momoco a cafe?", *store, "--model", llama_server, "--context", "4096", "--json"]
    code = run([*words, "--reasoner", "direct", "--budget", "2", "--prompts", str(short_prompts(tmp_path))])
    document = json.loads(capsys.readouterr().out)
    assert code == {"answered": 0, "unknown": 1, "failed": 4}[document["status"]]
    assert document["model"] == f"{llama_server}#smol"
    assert document["usage"]["prompt_tokens"] > 50 and document["usage"]["completion_tokens"] > 5
