"""An adapter as a part of the weights: what comes out is what llama.cpp makes of both, and nothing else is changed."""

import shutil
from pathlib import Path

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from goalmem_cli.config import Settings
from goalmem_cli.errors import ModelError
from goalmem_cli.loading import load_model
from goalmem_cli.models.bundled import ADAPTERS, SMOLLM2
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.lora import Adapter
from goalmem_cli.models.weights.repacking import made_weights, merge, repacked
from tests.models.adapters import write_adapter

SHIPPED = ADAPTERS / SMOLLM2.adapter


@pytest.fixture(scope="module")
def plain(bundled_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model's weights in Q8_0."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "weights").mkdir()
    (folder / "weights" / f"SmolLM2-135M-Instruct-{file_digest(bundled_path)}-Q8_0-0123.gguf").touch()
    return repacked(bundled_path, folder)


def numbers(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return the (rows, columns) numbers of a file's matrices, as llama.cpp's own package reads them."""
    found = gguf.GGUFReader(path).tensors
    return {each.name: gguf.quants.dequantize(each.data, each.tensor_type) for each in found if len(each.shape) == 2}


def test_the_adapters_change_is_added(plain: Path, tmp_path: Path) -> None:
    """Every number is what llama.cpp computes with the adapter beside, but for half a step of its block and its rounding."""
    merged = Path(shutil.copy(plain, tmp_path / "merged.gguf"))
    merge(merged, Adapter.from_file(SHIPPED))
    before, after, changes = numbers(plain), numbers(merged), numbers(SHIPPED)
    factor = 2.0  # alpha 32 by rank 16

    for name in ("blk.0.attn_q.weight", "blk.7.attn_v.weight", "blk.15.ffn_up.weight", "blk.29.ffn_down.weight"):
        wanted = before[name] + factor * changes[f"{name}.lora_b"] @ changes[f"{name}.lora_a"]
        step = np.abs(wanted.reshape(len(wanted), -1, 32)).max(axis=-1).repeat(32, axis=-1) / 127
        assert (np.abs(after[name] - wanted) <= 0.57 * step).all()
        assert (np.abs(after[name] - before[name]) > step).mean() > 0.01


def test_only_what_the_adapter_changes_is_changed(plain: Path, tmp_path: Path) -> None:
    """The header and the other tensors are the same to the byte."""
    merged = Path(shutil.copy(plain, tmp_path / "merged.gguf"))
    merge(merged, Adapter.from_file(SHIPPED))
    before, after = (np.fromfile(path, dtype=np.uint8) for path in (plain, merged))
    changed = {name.removesuffix(".lora_a") for name in read_header(SHIPPED).tensors if name.endswith(".lora_a")}
    ends = [*sorted(tensor.start for tensor in read_header(plain).tensors.values()), len(before)]

    assert len(before) == len(after)
    assert (before[: ends[0]] == after[: ends[0]]).all()
    for name, tensor in read_header(plain).tensors.items():
        part = slice(tensor.start, next(end for end in ends if end > tensor.start))
        assert (before[part] == after[part]).all() == (name not in changed)


def test_an_adapter_that_changes_nothing_leaves_the_numbers(plain: Path, tmp_path: Path) -> None:
    """At scale 0 every weight comes out as it was: quantising again loses nothing."""
    merged = Path(shutil.copy(plain, tmp_path / "merged.gguf"))
    merge(merged, Adapter.from_file(SHIPPED, 0.0))
    tensor = read_header(plain).tensors["blk.0.ffn_down.weight"]
    size = tensor.shape[0] * tensor.shape[1] // 32 * 34
    before, after = (
        np.fromfile(path, dtype=np.int8)[tensor.start :][:size].reshape(-1, 34) for path in (plain, merged)
    )

    scales = [np.ascontiguousarray(each[:, :2]).view("<f2").astype(np.float32) for each in (before, after)]
    numbers = [each[:, 2:] * scale for each, scale in zip((before, after), scales, strict=True)]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-3)


def test_an_adapter_for_other_weights_is_refused(plain: Path, tmp_path: Path) -> None:
    """Where a matrix has another shape or is not there, that is said, by name."""
    merged = Path(shutil.copy(plain, tmp_path / "merged.gguf"))
    wide = Adapter.from_file(write_adapter(tmp_path / "wide.gguf", layers=1, wider=64))
    with pytest.raises(ModelError, match=r"changes blk\.0"):
        merge(merged, wide)


@pytest.mark.usefixtures("empty_cache")
def test_the_shipped_adapter_is_loaded_as_a_part_of_the_weights(bundled_path: Path) -> None:
    """One file lies in the cache, which is named by both; what the model tells of itself has both."""
    notes: list[str] = []
    for _ in range(2):
        loaded = load_model(Settings(Path("store"), model=SMOLLM2.name, context=512, threads=1), notes.append)
        loaded.close()
    ((made, _),) = made_weights(model_cache())

    assert file_digest(bundled_path) in made.name and loaded.adapter[:32] in made.name
    assert loaded.digest == f"{file_digest(made)}+{loaded.adapter}"
    assert len(notes) == 1


def test_weights_that_another_adapter_changed_make_room(bundled_path: Path, plain: Path, tmp_path: Path) -> None:
    """An update leaves no file of the last adapter behind; other weights stay, the merged ones as plain ones are made."""
    name = f"SmolLM2-135M-Instruct-{file_digest(bundled_path)}-Q8_0"
    folder = tmp_path / "weights"
    folder.mkdir()
    for other in (f"{name}-0123.gguf", f"{name}.gguf", "Other-4567-Q8_0-0123.gguf"):
        (folder / other).touch()
    adapter = Adapter.from_file(SHIPPED)
    made = repacked(bundled_path, tmp_path, adapter=adapter)

    left = {f"{name}-{adapter.digest[:32]}.gguf", f"{name}.gguf", "Other-4567-Q8_0-0123.gguf"}
    assert {path.name for path in folder.iterdir()} == left
    assert made.name in left
    assert {path.name for path in plain.parent.iterdir()} == {plain.name, f"{plain.stem}-0123.gguf"}
