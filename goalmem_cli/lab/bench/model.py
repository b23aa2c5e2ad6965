"""Measure a model's speed with several weight types, thread counts, batch sizes, and flash attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from goalmem_cli.lab.bench.talk import made_up_conversations
from goalmem_cli.lab.bench.timing import Progress, timed, unwatched
from goalmem_cli.lab.bench.writing import FREE, written
from goalmem_cli.models.in_process.llama import PARALLEL, TOKENS_PER_BATCH, LlamaModel, usable_threads
from goalmem_cli.models.weights.repacking import repacked
from goalmem_cli.ports import Request

SHIPPED = "as shipped"
KINDS = ("Q8_0", "Q4_0")
BATCHES = (64, 128, 256, 512, 1024, 2048)

_CONTEXT = 4096
_PROMPT_TOKENS = 1000
_REPLY_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Setup:
    """How a model computes: weight type, threads, tokens evaluated at a time, and flash attention."""

    weights: str = SHIPPED
    threads: int = 1
    batch: int = TOKENS_PER_BATCH
    flash_attention: bool = True


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """Tokens per second: reading a prompt, writing one reply, and writing eight replies at once (in total)."""

    setup: Setup
    prompt: float
    written: float
    written_at_once: float


def measure_model(
    shipped: Path,
    folder: Path,
    *,
    threads: int | None = None,
    kinds: Sequence[str] = KINDS,
    batches: Sequence[int] = BATCHES,
    prompt_tokens: int = _PROMPT_TOKENS,
    rounds: int = 3,
    report: Progress = unwatched,
) -> list[ModelSpeed]:
    """Measure a file's weights in each type, and all other choices with the first of `kinds`.

    Repacked weights are made in `folder`. Every setup is measured `rounds` times in turn, and its best result counts,
    because other load can only slow it down. `report` receives the number of measurements done.

    Raises:
        ModelError: the model cannot be used.
    """
    files = {SHIPPED: shipped} | {kind: repacked(shipped, folder, kind=kind) for kind in kinds}
    setups = list(_setups(list(files), usable_threads(threads), batches))
    best: dict[Setup, ModelSpeed] = {}
    for done in range(rounds * len(setups)):
        setup = setups[done % len(setups)]
        speed = measure_setup(files[setup.weights], setup, prompt_tokens=prompt_tokens)
        best[setup] = _faster(best.get(setup, speed), speed)
        report(done + 1, rounds * len(setups))
    return list(best.values())


def measure_setup(path: Path, setup: Setup, *, prompt_tokens: int = _PROMPT_TOKENS) -> ModelSpeed:
    """Load a file's model in the given setup, and measure it on generated text.

    Raises:
        ModelError: the model cannot be used.
    """
    with closing(
        LlamaModel.from_file(
            path, context=_CONTEXT, threads=setup.threads, parallel=PARALLEL, batch=setup.batch,
            flash_attention=setup.flash_attention,
        )
    ) as model:  # fmt: skip
        request = Request("speed", "", (), _prompt(model, prompt_tokens), "", FREE, 1)
        model.complete([replace(request, growing="Hello.")])  # the first batch allocates memory
        begun = []
        seconds = timed(lambda: begun.extend(model.complete([request])))
        evaluated = begun[0].prompt_tokens - begun[0].cached_tokens
        reply = replace(request, max_tokens=1 + _REPLY_TOKENS)
        alone, at_once = written(model, [reply]), written(model, [reply] * PARALLEL)
        return ModelSpeed(setup, evaluated / seconds, alone.tokens_per_second, at_once.tokens_per_second)


def _setups(kinds: Sequence[str], threads: int, batches: Sequence[int]) -> Iterator[Setup]:
    """Yield every weight type, then setups that differ from the usual one in one respect."""
    yield from (Setup(kind, threads) for kind in kinds)
    usual = Setup(kinds[1], threads) if len(kinds) > 1 else Setup(kinds[0], threads)
    yield from (replace(usual, threads=fewer) for fewer in range(1, threads))
    yield from (replace(usual, batch=batch) for batch in batches if batch != usual.batch)
    yield replace(usual, flash_attention=False)


def _prompt(model: LlamaModel, tokens: int) -> str:
    """Return generated text of about `tokens` tokens."""
    (conversation,) = made_up_conversations(tokens // 10)
    said = ""
    for turn in conversation.turns:
        said += f"{turn.speaker}: {turn.text}\n"
        if model.count_tokens(said) >= tokens:
            break
    return said


def _faster(left: ModelSpeed, right: ModelSpeed) -> ModelSpeed:
    return ModelSpeed(
        left.setup,
        max(left.prompt, right.prompt),
        max(left.written, right.written),
        max(left.written_at_once, right.written_at_once),
    )
