"""Train a low-rank adapter on a bundled model's weights, with torch, transformers and peft.

Matrices are multiplied in bfloat16 if that is faster: 500 tokens a second instead of 250 on two cores with bfloat16
instructions. Weights, the adapter and attention (slower in bfloat16 on a processor) stay in float32. On a GPU the base
weights are in bfloat16 too, and batches are larger.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from goalmem_cli.errors import InputError
from goalmem_cli.lab.tuning.batches import Row, Tokens, rows_of

ATTENTION = "goalmem_float32"
STATE = "state.pt"
"""The file beside the adapter with the state of the optimiser and the progress."""
PADDING = -1
"""The block number of padding tokens."""
LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class Course:
    """How to train. Either `minutes` or `steps` ends it, and the learning rate falls to 0 at that end."""

    minutes: float | None = None
    steps: int | None = None
    seed: int = 1
    rank: int = 16
    alpha: int = 32
    layers: tuple[str, ...] = LAYERS
    rate: float = 4e-4
    warmup: float = 0.03
    clip: float = 1.0
    tokens: int = 1024
    dropout: float = 0.0
    decay: float = 0.0
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    save_minutes: float = 10.0


@dataclass(slots=True)
class Progress:
    """The progress of a training; `losses` are means over the reply tokens since the last report.

    `left_out` counts the steps without an update, since their gradient was not finite.
    """

    steps: int = 0
    examples: int = 0
    tokens: int = 0
    left_out: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    losses: dict[str, float] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)


def device() -> torch.device:
    """Return the GPU if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def machine() -> str:
    """Return the GPU's name, or "cpu" without one."""
    return torch.cuda.get_device_name() if device().type == "cuda" else "cpu"


def load_base(path: Path) -> Any:
    """Return the model of a GGUF file with dequantised weights: bfloat16 on a GPU, else float32."""
    AttentionInterface.register(ATTENTION, _attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)
    model: Any = AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=_kind(), attn_implementation=ATTENTION
    )
    return model.to(device())


def _kind() -> torch.dtype:
    return torch.bfloat16 if device().type == "cuda" else torch.float32


def room() -> int:
    """Return the default number of tokens in a batch; small on a processor, where large batches save no time."""
    return 32_768 if device().type == "cuda" else 1024


@dataclass(slots=True)
class Run:
    """A training: the model with its adapter, the optimiser with its state, and the progress."""

    model: Any
    optimiser: torch.optim.Optimizer
    done: Progress = field(default_factory=Progress)


def with_adapter(model: Any, course: Course) -> Any:
    """Return the model with a new adapter on the course's linear layers; only the adapter is trained."""
    torch.manual_seed(course.seed)
    torch.set_num_threads(course.threads)
    config = LoraConfig(
        r=course.rank, lora_alpha=course.alpha, lora_dropout=course.dropout, target_modules=list(course.layers),
        bias="none", task_type="CAUSAL_LM",
    )  # fmt: skip
    return get_peft_model(model, config)


def load_trained(path: Path, folder: Path, *, is_trainable: bool = False) -> Any:
    """Return the GGUF file's model with the adapter that `train` saved in the folder."""
    return PeftModel.from_pretrained(load_base(path), str(folder), is_trainable=is_trainable)


def begun(path: Path, course: Course) -> Run:
    """Return a new training of the GGUF file's model."""
    return started(with_adapter(load_base(path), course), course)


def started(model: Any, course: Course) -> Run:
    """Return a new training of the model."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return Run(model, torch.optim.AdamW(weights, lr=course.rate, weight_decay=course.decay, betas=(0.9, 0.99)))


def resumed(path: Path, folder: Path, course: Course) -> Run:
    """Return the training of the GGUF file's model that `train` last saved in the folder.

    Raises:
        InputError: nothing is saved there.
    """
    if not (folder / STATE).is_file():
        raise InputError(folder, "", "no training was saved there", "begin one without --resume")
    torch.manual_seed(course.seed)
    torch.set_num_threads(course.threads)
    run = started(load_trained(path, folder, is_trainable=True), course)
    state = torch.load(folder / STATE, weights_only=True)
    run.optimiser.load_state_dict(state["optimiser"])
    run.done = Progress(**state["done"])
    run.done.kinds = Counter(run.done.kinds)
    return run


def train(
    run: Run,
    supply: Iterator[list[Row]],
    course: Course,
    folder: Path,
    report: Callable[[Progress], None],
    look: Callable[[], object] = lambda: None,
) -> Progress:
    """Train the adapter and return the progress; save it in the folder every few minutes and at the end.

    `supply` starts from the first batch: a resumed training skips the batches that it had. `report` is called every 20
    seconds and at the end. `look` is called after each save but the last, and its time does not count.
    """
    weights = [weight for weight in run.model.parameters() if weight.requires_grad]
    run.model.train()
    done, before, begin = run.done, run.done.seconds, time.monotonic()
    reported = saved = before
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    supply = islice(supply, done.steps, None)
    while (share := _share(done, course)) < 1:
        done.rate = course.rate * _height(share, course.warmup)
        for group in run.optimiser.param_groups:
            group["lr"] = done.rate
        batch = next(supply)
        losses = _losses(run.model, batch)
        torch.autograd.backward(_loss(batch, losses))
        if torch.isfinite(torch.nn.utils.clip_grad_norm_(weights, course.clip)):
            run.optimiser.step()
            _count(done, batch, losses, sums, counts)
        else:
            done.left_out += 1
        run.optimiser.zero_grad(set_to_none=True)
        done.steps += 1
        done.seconds = before + time.monotonic() - begin
        if done.seconds - reported >= 20 or _share(done, course) >= 1:
            done.losses = {kind: sums[kind] / counts[kind] for kind in sorted(counts)}
            report(done)
            sums.clear()
            counts.clear()
            reported = done.seconds
        if done.seconds - saved >= 60 * course.save_minutes:
            save(run, folder)
            saved, looked = done.seconds, time.monotonic()
            look()
            begin += time.monotonic() - looked
    save(run, folder)
    return done


def save(run: Run, folder: Path) -> None:
    """Save the adapter, the optimiser's state and the progress, replacing the folder once all is written.

    The vocabulary is not saved, since it is not trained.
    """
    new, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    run.model.save_pretrained(new, save_embedding_layers=False)
    done = asdict(run.done) | {"kinds": dict(run.done.kinds)}
    torch.save({"optimiser": run.optimiser.state_dict(), "done": done}, new / STATE)
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def mean_losses(model: Any, examples: Sequence[Tokens], most: int) -> dict[str, float]:
    """Return the mean loss of the reply tokens for each kind, without training on these examples."""
    was_training = model.training
    model.eval()
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    ordered = sorted(rows_of(examples), key=len)
    with torch.no_grad():
        while ordered:
            size = max(1, most // len(ordered[-1]))
            batch, ordered = ordered[-size:], ordered[:-size]
            _add(batch, _losses(model, batch), sums, counts)
    model.train(was_training)
    return {kind: sums[kind] / counts[kind] for kind in sorted(counts)}


def _share(done: Progress, course: Course) -> float:
    """Return the completed share of the course; 1.0 for a course without steps or time."""
    made, wanted = (
        (done.steps, course.steps) if course.steps is not None else (done.seconds, 60 * (course.minutes or 0))
    )
    return made / wanted if wanted else 1.0


def _height(share: float, warmup: float) -> float:
    """Return the learning rate as a share of its maximum: a linear rise, then half a cosine down to 0."""
    if share < warmup:
        return max(share / warmup, 0.05)
    return 0.5 * (1 + math.cos(math.pi * (share - warmup) / (1 - warmup)))


def _examples(batch: Sequence[Row]) -> list[Tokens]:
    return [example for row in batch for example in row.examples]


def _loss(batch: Sequence[Row], losses: torch.Tensor) -> torch.Tensor:
    """Return the weighted mean loss of a batch's reply tokens; a token's weight is 1 / sqrt(length of its reply).

    A plan has fifty tokens and a refusal four, and both are equally hard to learn. With equal weights plans would
    dominate.
    """
    weights = [1 / math.sqrt(len(example.reply)) for example in _examples(batch) for _ in example.reply]
    return losses @ torch.tensor(weights, device=losses.device) / sum(weights)


def _losses(model: Any, batch: Sequence[Row]) -> torch.Tensor:
    """Return the (reply tokens,) cross-entropy losses, example by example; prompt tokens have no loss."""
    place, laid = device(), [_laid(row) for row in batch]
    width = max(map(len, batch))

    def even(parts: list[list[int]], filling: int) -> torch.Tensor:
        return torch.tensor([part + [filling] * (width - len(part)) for part in parts], device=place)

    ids, positions = even([each.tokens for each in laid], 0), even([each.positions for each in laid], 0)
    blocks = even([each.blocks for each in laid], PADDING)
    rows = [row for row, each in enumerate(laid) for _ in each.says]
    columns = [column for each in laid for column in each.says]
    wanted = torch.tensor([token for example in _examples(batch) for token in example.reply], device=place)
    is_packed = any(len(row.examples) > 1 for row in batch)
    how: dict[str, Any] = {"attention_mask": _seen(blocks), "position_ids": positions} if is_packed else {}
    with _precision(place):
        causal = model.get_base_model()
        shared = min(row.shared for row in batch)
        hidden = causal.model(input_ids=ids, use_cache=False, shared=shared, **how)[0]
        logits = causal.lm_head(hidden[rows, columns])
        return torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="none")


class _Laid(NamedTuple):
    """A row laid out as tokens with their positions and blocks; `says` are the places that predict the reply tokens.

    Block 0 is the shared prompt. Each example continues it in its own block, with positions that count from its end.
    """

    tokens: list[int]
    positions: list[int]
    blocks: list[int]
    says: list[int]


def _laid(row: Row) -> _Laid:
    """Return the row as one sequence: the shared tokens, then each example's own tokens with positions and block."""
    tokens = list(row.examples[0].prompt[: row.shared])
    positions, blocks = list(range(row.shared)), [0] * row.shared
    says: list[int] = []
    for number, example in enumerate(row.examples, 1):
        own = [*example.prompt[row.shared :], *example.reply]
        says += range(len(tokens) + len(own) - len(example.reply) - 1, len(tokens) + len(own) - 1)
        tokens += own
        positions += range(row.shared, row.shared + len(own))
        blocks += [number] * len(own)
    return _Laid(tokens, positions, blocks, says)


def _seen(blocks: torch.Tensor) -> torch.Tensor:
    """Return the (rows, 1, width, width) attention mask: a token sees earlier ones of its block and of block 0."""
    width = blocks.shape[1]
    earlier = torch.ones((width, width), dtype=torch.bool, device=blocks.device).tril()
    alike = (blocks[:, :, None] == blocks[:, None, :]) | (blocks[:, None, :] == 0)
    return (alike & earlier)[:, None]


def _precision(place: torch.device) -> AbstractContextManager[object]:
    """Return the context that multiplies matrices in bfloat16, if that is faster."""
    is_half = place.type == "cuda" or _is_half_faster()
    return torch.autocast(place.type, dtype=torch.bfloat16) if is_half else nullcontext()


@cache
def _is_half_faster() -> bool:
    """Return whether this processor multiplies faster in bfloat16 than in float32; some only emulate it, far slower."""
    return _seconds(torch.bfloat16) < _seconds(torch.float32)


def _seconds(kind: torch.dtype) -> float:
    """Return the least time in seconds of a matrix product of the model's size."""
    left, right = torch.ones((512, 576), dtype=kind), torch.ones((576, 1536), dtype=kind)
    times = []
    for _ in range(8):
        started = time.perf_counter()
        torch.mm(left, right)
        times.append(time.perf_counter() - started)
    return min(times)


def _attend(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None,
    *, shared: int = 0, **settings: Any,
) -> tuple[torch.Tensor, None]:  # fmt: skip
    """Return scaled dot-product attention; on a processor it is always computed in float32.

    The first `shared` tokens see only each other. They are computed without a mask, at half the cost.
    """
    if shared and mask is not None:
        begin, _ = _attend(
            module, query[:, :, :shared], key[:, :, :shared], value[:, :, :shared], None, **settings
        )  # fmt: skip
        end, _ = _attend(module, query[:, :, shared:], key, value, mask[:, :, shared:], **settings)
        return torch.cat((begin, end), dim=1), None
    if query.device.type != "cpu":
        return sdpa_attention_forward(module, query, key, value, mask, **settings)
    with torch.autocast("cpu", enabled=False):
        return sdpa_attention_forward(module, query.float(), key.float(), value.float(), mask, **settings)


def _count(
    done: Progress, batch: Sequence[Row], losses: torch.Tensor, sums: dict[str, float], counts: Counter[str]
) -> None:
    """Add a batch's tokens, examples and losses to the progress and the sums."""
    done.tokens += sum(map(len, batch))
    kinds = [example.kind for example in _examples(batch)]
    done.examples += len(kinds)
    done.kinds.update(kinds)
    _add(batch, losses, sums, counts)


def _add(batch: Sequence[Row], losses: torch.Tensor, sums: dict[str, float], counts: Counter[str]) -> None:
    """Add each reply token's loss to the sum and count of its kind."""
    kinds = [example.kind for example in _examples(batch) for _ in example.reply]
    for kind, loss in zip(kinds, losses.tolist(), strict=True):
        sums[kind] += loss
        counts[kind] += 1
