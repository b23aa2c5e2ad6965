"""The settings that a program gives by name when it opens a memory."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from goalmem_cli.config import Parameters


class Words(TypedDict, total=False):
    """The settings that `open` takes, by the names and with the meanings of `goalmem_cli.config.Settings`."""

    embedder: str | None
    model: str
    context: int | None
    threads: int | None
    seed: int
    backbone: str
    backbones: Parameters
    reasoner: str
    reasoners: Parameters
    planning: str | None
    max_breadth: int
    max_depth: int
    max_subgoals: int
    max_steps: int
    certainty: int | None
    budget: int
    fact_tokens: int | None
    strict: bool | None
    checks: bool
    sift: bool
    lean: bool
    rules: bool | None
    keep_prompts: bool
    redact: bool
    timezone: str | None
    prompts: str | Path | None
    parallel: int
    timeout: int
    model_cache: int
    adapter: str | None
    trust_remote_code: bool
