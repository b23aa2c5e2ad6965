"""Choose how turns refer to entities (CAME-Bench's referential remodelling), so that each reference can be resolved.

An entity may be a pronoun only right after a turn in the same place that mentioned no similar entity. A number counts
the entities introduced in the place that the conversation has moved to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from goalmem_cli.lab.bench.came.records import Form, Mention

Group: TypeAlias = tuple[str, ...]
"""What the entities of one numbering share, such as being options for one dinner; [0] is their sort."""

_WEIGHTS = {Form.PRONOUN: 3.0, Form.ORDINAL: 3.0, Form.NAME: 2.0}


class Discourse:
    """The entities introduced so far, and the only one of each sort in the previous turn."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._introduced: dict[Group, list[str]] = {}
        self._before: dict[str, str] = {}

    def refer(self, entities: Sequence[tuple[str, Group]], *, is_elsewhere: bool) -> tuple[Mention, ...]:
        """Return how a turn refers to its entities; a new entity is named and thereby introduced.

        After a change of place nothing can be a pronoun, nor can two similar entities.
        """
        likes = Counter(group[0] for _, group in entities)
        alone = {group[0]: entity for entity, group in entities if likes[group[0]] == 1}
        known = set() if is_elsewhere else alone.items() & self._before.items()
        self._before = alone
        return tuple(self._mention(entity, group, (group[0], entity) in known) for entity, group in entities)

    def _mention(self, entity: str, group: Group, can_be_pronoun: bool) -> Mention:
        known = self._introduced.setdefault(group, [])
        if entity not in known:
            known.append(entity)
            return Mention(entity, Form.NAME, len(known))
        forms = [Form.ORDINAL, Form.NAME, *([Form.PRONOUN] if can_be_pronoun else [])]
        form = self._chance.choices(forms, [_WEIGHTS[form] for form in forms])[0]
        return Mention(entity, form, known.index(entity) + 1)
