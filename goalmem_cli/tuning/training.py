"""Knows torch, transformers and peft: loads the bundled model's weights and trains a low-rank adapter on them.

Matrices are multiplied in bfloat16 where that is faster: 500 tokens a second instead of 250, on two cores that have
its instructions. Weights, the adapter and attention (slower in bfloat16 on a processor) stay in float32.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from goalmem_cli.tuning.batches import Tokens

ATTENTION = "goalmem_float32"
DECIDED, DECISION = ("unify", "unify none"), 2.0
"""The kinds whose replies decide by their first token, and what that token weighs besides: without it, whether a fact
proves a subgoal was a seventh of the loss, and was hardly learnt."""
LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class Course:
    """How to train. One of `minutes` and `steps` ends it; the learning rate falls to 0 towards that end."""

    minutes: float | None = None
    steps: int | None = None
    seed: int = 1
    rank: int = 16
    alpha: int = 32
    rate: float = 4e-4
    warmup: float = 0.03
    clip: float = 1.0
    tokens: int = 1024
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    save_minutes: float = 10.0


@dataclass(slots=True)
class Progress:
    """What has been trained so far; the losses are means over the reply tokens since the last report."""

    steps: int = 0
    examples: int = 0
    tokens: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    losses: dict[str, float] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)


def device() -> torch.device:
    """Return the GPU where there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_base(path: Path) -> Any:
    """Return the GGUF file's model, its weights dequantised to float32."""
    AttentionInterface.register(ATTENTION, _attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)
    model: Any = AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation=ATTENTION
    )
    return model.to(device())


def with_adapter(model: Any, course: Course) -> Any:
    """Return the model with a new adapter over all linear layers, which alone is trained."""
    torch.manual_seed(course.seed)
    torch.set_num_threads(course.threads)
    config = LoraConfig(
        r=course.rank, lora_alpha=course.alpha, target_modules=list(LAYERS), bias="none", task_type="CAUSAL_LM"
    )
    return get_peft_model(model, config)


def load_trained(path: Path, folder: Path) -> Any:
    """Return the GGUF file's model with the adapter that `train` saved in the folder."""
    return PeftModel.from_pretrained(load_base(path), str(folder))


def train(
    model: Any, supply: Iterator[list[Tokens]], course: Course, folder: Path, report: Callable[[Progress], None]
) -> Progress:
    """Train the adapter, save it in the folder every few minutes and at the end, and `report` now and then."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=course.rate, weight_decay=0.0, betas=(0.9, 0.99))
    model.train()
    done, started = Progress(), time.monotonic()
    reported = saved = 0.0
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    while (share := _share(done, course)) < 1:
        done.rate = course.rate * _height(share, course.warmup)
        for group in optimiser.param_groups:
            group["lr"] = done.rate
        batch = next(supply)
        losses = _losses(model, batch)
        torch.autograd.backward(_loss(batch, losses))
        torch.nn.utils.clip_grad_norm_(weights, course.clip)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        _count(done, batch, losses, sums, counts)
        done.seconds = time.monotonic() - started
        if done.seconds - reported >= 20 or _share(done, course) >= 1:
            done.losses = {kind: sums[kind] / counts[kind] for kind in sorted(counts)}
            report(done)
            sums.clear()
            counts.clear()
            reported = done.seconds
        if done.seconds - saved >= 60 * course.save_minutes:
            save(model, folder)
            saved = done.seconds
    save(model, folder)
    return done


def save(model: Any, folder: Path) -> None:
    """Save the adapter in the folder; the vocabulary, which is not trained, is not looked for."""
    model.save_pretrained(folder, save_embedding_layers=False)


def mean_losses(model: Any, examples: Sequence[Tokens], most: int) -> dict[str, float]:
    """Return the mean loss of the reply tokens by kind, of examples that are not trained on."""
    model.eval()
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    ordered = sorted(examples, key=len)
    with torch.no_grad():
        while ordered:
            size = max(1, most // len(ordered[-1]))
            batch, ordered = ordered[-size:], ordered[:-size]
            for example, losses in zip(batch, _losses(model, batch), strict=True):
                sums[example.kind] += float(losses.sum())
                counts[example.kind] += len(losses)
    model.train()
    return {kind: sums[kind] / counts[kind] for kind in sorted(counts)}


def _share(done: Progress, course: Course) -> float:
    """Return how much of the course is over; all of one that has no steps or no time."""
    made, wanted = (
        (done.steps, course.steps) if course.steps is not None else (done.seconds, 60 * (course.minutes or 0))
    )
    return made / wanted if wanted else 1.0


def _height(share: float, warmup: float) -> float:
    """Return the learning rate as a share of its height: up in a line, down in half a cosine."""
    if share < warmup:
        return max(share / warmup, 0.05)
    return 0.5 * (1 + math.cos(math.pi * (share - warmup) / (1 - warmup)))


def _loss(batch: Sequence[Tokens], losses: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the mean over a batch's reply tokens, each weighing 1 by the root of its reply's length, decisions more.

    A plan has fifty tokens, a refusal two, and the refusal is as hard to learn: by plain means plans would be all.
    """
    roots = [math.sqrt(len(each)) for each in losses]
    decided = [DECISION if example.kind in DECIDED else 0.0 for example in batch]
    parts = [each.mean() * root + each[0] * weight for each, root, weight in zip(losses, roots, decided, strict=True)]
    return torch.stack(parts).sum() / (sum(roots) + sum(decided))


def _losses(model: Any, batch: Sequence[Tokens]) -> list[torch.Tensor]:
    """Return each example's losses, one a reply token; the vocabulary is only scored where a reply token follows."""
    width = max(map(len, batch))
    place = device()
    ids = torch.zeros((len(batch), width), dtype=torch.long)
    mask = torch.zeros((len(batch), width), dtype=torch.long)
    rows: list[int] = []
    columns: list[int] = []
    wanted: list[int] = []
    for row, example in enumerate(batch):
        whole = example.prompt + example.reply
        ids[row, : len(whole)] = torch.tensor(whole)
        mask[row, : len(whole)] = 1
        rows += [row] * len(example.reply)
        columns += range(len(example.prompt) - 1, len(whole) - 1)
        wanted += example.reply
    with _precision(place):
        causal = model.get_base_model()
        hidden = causal.model(input_ids=ids.to(place), attention_mask=mask.to(place), use_cache=False)[0]
        logits = causal.lm_head(hidden[rows, columns])
        losses = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(wanted, device=place), reduction="none")
    return list(torch.functional.split(losses, [len(example.reply) for example in batch]))


def _precision(place: torch.device) -> AbstractContextManager[object]:
    """Return the context in which matrices are multiplied in bfloat16, where that is faster."""
    is_half = place.type == "cuda" or _is_half_faster()
    return torch.autocast(place.type, dtype=torch.bfloat16) if is_half else nullcontext()


@cache
def _is_half_faster() -> bool:
    """Say whether this processor multiplies in bfloat16 faster than in float32; some only imitate it, far slower."""
    return _seconds(torch.bfloat16) < _seconds(torch.float32)


def _seconds(kind: torch.dtype) -> float:
    """Return the least time of a product of the model's size."""
    left, right = torch.ones((512, 576), dtype=kind), torch.ones((576, 1536), dtype=kind)
    times = []
    for _ in range(8):
        started = time.perf_counter()
        torch.mm(left, right)
        times.append(time.perf_counter() - started)
    return min(times)


def _attend(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None,
    **settings: Any,
) -> tuple[torch.Tensor, None]:  # fmt: skip
    """Return scaled dot-product attention, on a processor in float32, whatever the matrices around it are in."""
    if query.device.type != "cpu":
        return sdpa_attention_forward(module, query, key, value, mask, **settings)
    with torch.autocast("cpu", enabled=False):
        return sdpa_attention_forward(module, query.float(), key.float(), value.float(), mask, **settings)


def _count(
    done: Progress,
    batch: Sequence[Tokens],
    losses: Sequence[torch.Tensor],
    sums: dict[str, float],
    counts: Counter[str],
) -> None:
    done.steps += 1
    done.examples += len(batch)
    done.tokens += sum(map(len, batch))
    for example, loss in zip(batch, losses, strict=True):
        done.kinds[example.kind] += 1
        sums[example.kind] += float(loss.detach().sum())
        counts[example.kind] += len(loss)
