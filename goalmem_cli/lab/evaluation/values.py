"""Parse values in JSON or Python notation from Test of Time's labels and from replies to its prompts."""

from __future__ import annotations

import ast
import json
import re

ANSWER, EXPLANATION = "answer", "explanation"
"""The keys of a reply in the benchmark's form; only the answer counts."""

_OPENING = re.compile(r"\{")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def written(text: str) -> object:
    """Return the first JSON object in the text, or a dictionary or list in Python notation; else the text."""
    for opening in _OPENING.finditer(text):
        try:
            return json.JSONDecoder().raw_decode(text, opening.start())[0]
        except (ValueError, RecursionError):
            continue
    found = _OBJECT.search(text)
    literal = text.strip() if text.lstrip().startswith("[") else found[0] if found else ""
    try:
        value = ast.literal_eval(literal) if literal else text
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return text
    return value if isinstance(value, dict | list) else text


def value_of(value: object) -> object:
    """Return the relevant part of a reply or label: its `answer`, else its only value, else all but the explanation."""
    if not isinstance(value, dict):
        return value
    if ANSWER in value:
        return value[ANSWER]
    kept = {key: each for key, each in value.items() if key != EXPLANATION}
    return next(iter(kept.values())) if len(kept) == 1 else kept
