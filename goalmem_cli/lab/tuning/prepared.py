"""Examples prepared for training: as tokens in one file, so that fitting needs neither the corpus nor a store.

Some conversations are set aside: their examples tell which course is better, and are not trained on; those held out
for good tell how good it is, and choose nothing.
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
"""One conversation in so many is set aside."""
PARTS = ("trained", "aside", "held_out")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is trained on, what is set aside for choosing, what is held out, and what the card says of it all.

    `base` is the digest (`file_digest`) of the model's file whose tokens they are; where that file was packed,
    `vocabulary` has the number that each token has in the whole one.
    """

    trained: tuple[Tokens, ...]
    aside: tuple[Tokens, ...]
    held_out: tuple[Tokens, ...]
    about: Mapping[str, object]
    base: str
    vocabulary: tuple[int, ...] = ()

    @property
    def available(self) -> Counter[str]:
        """How many examples of each kind there are to train on."""
        return Counter(example.kind for example in self.trained)


def is_aside(conversation: str) -> bool:
    """Say whether a conversation is set aside, by its name alone: the same ones in every preparation."""
    return crc32(conversation.encode()) % ASIDE == 0


def write(prepared: Prepared, path: Path) -> None:
    """Write one compressed file: tokens in 32 bits, their lengths, kinds, groups and parts.

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
    """Return what `write` wrote.

    Raises:
        InputError: the file is missing, or is another.
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
    """Return the examples if there are any to train on and any held out.

    Raises:
        InputError: there are none.
    """
    if not prepared.trained or not prepared.held_out:
        missing = "conversation to train on" if not prepared.trained else "held-out conversation to check on"
        raise InputError(path, "", f"there is no {missing}", f"held out are {', '.join(held_out)}")
    return prepared
