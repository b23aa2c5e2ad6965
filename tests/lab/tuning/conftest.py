"""What the tests of tuning share: the sample conversations with their examples, and the bundled vocabulary."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk, read_corpus
from goalmem_cli.lab.tuning.rendering import Variety, render
from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook
from goalmem_cli.wiring import load_embedder, open_prompts
from tests.lab.tuning.samples import NAMES, write_corpus


@pytest.fixture(scope="session")
def talks(tmp_path_factory: pytest.TempPathFactory) -> list[Talk]:
    """The sample conversations that have gold plans."""
    return read_corpus(write_corpus(tmp_path_factory.mktemp("tuning") / "corpus", {name: name for name in NAMES}))


@pytest.fixture(scope="session")
def book() -> PromptBook:
    """The prompts of the bundled model."""
    return open_prompts(None, "compact")


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The embedder that training retrieves with."""
    return load_embedder("static")


@pytest.fixture(scope="session")
def examples(talks: list[Talk], book: PromptBook, embedder: Embedder) -> list[Example]:
    """One copy of the examples of the samples, under new names."""
    return list(render(talks, book, embedder, 1))


@pytest.fixture(scope="session")
def plain(talks: list[Talk], book: PromptBook, embedder: Embedder) -> list[Example]:
    """Three copies of the examples of the samples, under the samples' own names."""
    return [example for seed in (7, 8, 9) for example in render(talks, book, embedder, seed, Variety(names=False))]


@pytest.fixture(scope="session")
def base(bundled_path: Path) -> Path:
    """The weights that adapters are trained for."""
    return bundled_path


@pytest.fixture(scope="session")
def vocabulary(base: Path) -> Iterator[PromptTokens]:
    """The bundled model's vocabulary."""
    tokens = PromptTokens(base)
    yield tokens
    tokens.close()
