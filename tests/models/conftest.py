"""What the tests of models share: the bundled model, loaded once, and the means to make small GGUF files."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.weights.repacking import repacked


@pytest.fixture(scope="session")
def bundled(bundled_path: Path) -> Iterator[LlamaModel]:
    """The bundled model with a context that suits small prompts."""
    model = LlamaModel.from_file(bundled_path, context=1024, threads=1)
    yield model
    model.close()


@pytest.fixture(scope="module")
def weights(bundled_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model as it is run, which takes half the time of the file that is shipped."""
    return repacked(bundled_path, tmp_path_factory.mktemp("made"))


@pytest.fixture
def notes() -> list[str]:
    """What is said to the user meanwhile."""
    return []


def gguf_text(text: str) -> bytes:
    """A GGUF string."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def small_gguf(shapes: tuple[tuple[int, ...], ...] = ((4, 8),), extra: bytes = b"", extra_entries: int = 0) -> bytes:
    """A GGUF file with a few metadata values and float32 tensors of the given shapes, whose data is left out."""
    entries = [
        gguf_text("general.architecture") + struct.pack("<I", 8) + gguf_text("llama"),
        gguf_text("llama.context_length") + struct.pack("<II", 4, 4096),
        gguf_text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + gguf_text("a") + gguf_text("b"),
        gguf_text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 2) + struct.pack("<ff", 0.5, 1.5),
    ]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(entries) + extra_entries) + b"".join(entries) + extra
    for number, shape in enumerate(shapes):
        head += gguf_text(f"tensor{number}") + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", 0, 0)
    return head
