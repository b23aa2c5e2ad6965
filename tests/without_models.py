"""A run as on a machine that has neither a library that runs models nor a model: `pytest --without-models`.

Whoever imports such a library, or looks for an installed model, is stopped by an error that is no `ImportError`: neither
`pytest.importorskip` nor a fallback of the package takes it for an absence, so that no test passes by being skipped.
What is left is the table of word vectors, which is part of the package.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution
from types import ModuleType

from goalmem_cli.models.bundled import BUNDLED
from goalmem_cli.models.embedding.sentence import MINILM_PACKAGE

LIBRARIES = frozenset(("llama_cpp", "torch", "sentence_transformers", "transformers", "model2vec"))
PACKAGES = frozenset(
    [
        MINILM_PACKAGE,
        *(model.parts.package.format(n=n) for model in BUNDLED.values() for n in range(1, model.parts.count + 1)),
    ]
)


class ModelWanted(AssertionError):
    """Something asked for what is not there in this run."""


class _NoLibrary(MetaPathFinder):
    """Finds no library that runs models, and lets nobody else find one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse the libraries, and leave all else to the other finders."""
        if fullname.partition(".")[0] in LIBRARIES:
            raise ModelWanted(f"{fullname} is imported in a run without models")
        return None


class _NoModel(Distribution):
    """Stands in for the look-up of what is installed."""

    @classmethod
    def from_name(cls, name: str) -> Distribution:
        """Refuse the packages of models, and look the others up."""
        if name in PACKAGES:
            raise ModelWanted(f"the model of {name} is looked for in a run without models")
        return _from_name(name)


_from_name = Distribution.from_name


def block() -> None:
    """Take the libraries and the models away from this process, for good."""
    loaded = LIBRARIES.intersection(sys.modules)
    if loaded:
        raise ModelWanted(f"loaded before they could be blocked: {', '.join(sorted(loaded))}")
    sys.meta_path.insert(0, _NoLibrary())
    Distribution.from_name = _NoModel.from_name  # type: ignore[method-assign]
