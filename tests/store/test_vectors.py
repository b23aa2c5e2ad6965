"""The gate for vectors: what says nothing is an error that names the embedder and the text."""

import numpy as np
import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.store.indexes.vectors import sound
from goalmem_cli.testing import HashEmbedder

TEXTS = ["Ben: a latte", "Ann: tea", f"Ben: {'x' * 500}"]


def test_sound_rows_pass_unchanged() -> None:
    """What an embedder makes of texts with and without words passes as it is, in one piece of float32."""
    texts = [*TEXTS, "!!!"]
    rows = HashEmbedder().embed(texts)
    assert np.array_equal(sound(rows, texts, "hash"), rows)
    strided = sound(np.asfortranarray(rows), texts, "hash")
    assert strided.dtype == np.float32
    assert strided.flags.c_contiguous
    assert sound(HashEmbedder().embed([]), [], "hash").shape == (0, 64)


@pytest.mark.parametrize(
    ("value", "what"),
    [(0.0, "only zeros"), (np.nan, "no finite numbers"), (np.inf, "no finite numbers"), (1e300, "no finite numbers")],
)
def test_a_row_that_says_nothing_is_an_error(value: float, what: str) -> None:
    """Zeros, NaN, infinity and numbers that float32 cannot hold are refused by name; the text is shown shortened."""
    rows = HashEmbedder().embed(TEXTS).astype(np.float64)
    rows[2] = value
    with pytest.raises(ModelError) as raised:
        sound(rows, TEXTS, "bad-model")  # type: ignore[arg-type]
    assert (raised.value.exit_code, bool(raised.value.hint)) == (4, True)
    assert "bad-model" in raised.value.message
    assert what in raised.value.message
    assert "Ben: xxx" in raised.value.message
    assert len(raised.value.message) < 200


def test_every_wrong_row_is_counted() -> None:
    """The first text is shown, the others are counted."""
    rows = np.zeros((3, 4), dtype=np.float32)
    rows[0, 0] = 1
    with pytest.raises(ModelError, match="'Ann: tea' and 1 more"):
        sound(rows, TEXTS, "bad-model")


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3,), (3, 4, 1)])
def test_another_number_of_rows_is_an_error(shape: tuple[int, ...]) -> None:
    """A row too few would put every text behind it under another's vector."""
    with pytest.raises(ModelError, match="for 3 texts"):
        sound(np.ones(shape, dtype=np.float32), TEXTS, "bad-model")
