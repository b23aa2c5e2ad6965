"""Examples as tokens in one file, so that training needs neither the corpus nor a store.

Some conversations are set aside: their losses compare courses. Held-out conversations only measure the result.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile
from zlib import crc32

import numpy as np

from goalmem_cli.errors import InputError
from goalmem_cli.lab.tuning.batches import Tokens

ASIDE = 20
"""One conversation in this many is set aside."""
PARTS = ("trained", "aside", "held_out")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The examples to train on, those set aside, those held out, and the facts for the card.

    `base` is the digest (`file_digest`) of the model file whose tokens they use. For a packed file, `vocabulary` has
    each token's number in the whole file.
    """

    trained: tuple[Tokens, ...]
    aside: tuple[Tokens, ...]
    held_out: tuple[Tokens, ...]
    about: Mapping[str, object]
    base: str
    vocabulary: tuple[int, ...] = ()

    @property
    def available(self) -> Counter[str]:
        """The number of training examples of each kind."""
        return Counter(example.kind for example in self.trained)


def is_aside(conversation: str) -> bool:
    """Return whether a conversation is set aside; it depends on the name alone, so it is the same every time."""
    return crc32(conversation.encode()) % ASIDE == 0


def write(prepared: Prepared, path: Path) -> None:
    """Write one compressed file: tokens as 32-bit numbers, with their lengths, kinds, groups and parts.

    Raises:
        OSError: it cannot be written.
    """
    members = [(part, example) for part in PARTS for example in getattr(prepared, part)]
    kinds = sorted({example.kind for _, example in members})
    tokens = [token for _, example in members for token in (*example.prompt, *example.reply)]
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(dict(prepared.about) | {"kinds": kinds})),
            base=np.array(prepared.base),
            vocabulary=np.array(prepared.vocabulary, dtype=np.uint32),
            tokens=np.array(tokens, dtype=np.uint32),
            lengths=np.array([(len(each.prompt), len(each.reply)) for _, each in members], dtype=np.uint16),
            kinds=np.array([kinds.index(example.kind) for _, example in members], dtype=np.uint8),
            groups=np.array([example.group for _, example in members]),
            parts=np.array([PARTS.index(part) for part, _ in members], dtype=np.uint8),
        )


def read(path: Path) -> Prepared:
    """Return the examples that `write` wrote.

    Raises:
        InputError: the file is missing, or has another format.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            tokens, lengths, kinds, groups, parts, base, vocabulary = (
                file[name].tolist() for name in ("tokens", "lengths", "kinds", "groups", "parts", "base", "vocabulary")
            )
    except (OSError, EOFError, BadZipFile, ValueError, KeyError) as error:
        raise InputError(path, "", f"these are no prepared examples: {error}", "make them with prepare") from error
    names = about.pop("kinds")
    found: dict[str, list[Tokens]] = {part: [] for part in PARTS}
    at = 0
    for (prompt, reply), kind, group, part in zip(lengths, kinds, groups, parts, strict=True):
        middle, end = at + prompt, at + prompt + reply
        found[PARTS[part]].append(Tokens(names[kind], tuple(tokens[at:middle]), tuple(tokens[middle:end]), group))
        at = end
    trained, aside, held_out = (tuple(found[part]) for part in PARTS)
    return Prepared(trained, aside, held_out, about, base, tuple(vocabulary))


def check(prepared: Prepared, path: Path, held_out: Sequence[str]) -> Prepared:
    """Return the examples unchanged, if there are some to train on and some held out.

    Raises:
        InputError: there are none.
    """
    if not prepared.trained or not prepared.held_out:
        missing = "conversation to train on" if not prepared.trained else "held-out conversation to check on"
        raise InputError(path, "", f"there is no {missing}", f"held out are {', '.join(held_out)}")
    return prepared
