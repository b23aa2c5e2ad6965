"""Chooses how turns refer to entities (CAME-Bench's referential remodelling), so that every reference can be resolved.

An entity may be a pronoun only right after a turn of the same place that spoke of no other one like it; a number
counts those introduced in the place that the turns before have turned to.
"""

from __future__ import annotations

import random
from typing import TypeAlias

from goalmem_cli.lab.bench.came.records import Form, Mention

Group: TypeAlias = tuple[str, ...]
"""What the entities of one count have in common, such as being options for one dinner."""

_WEIGHTS = {Form.PRONOUN: 3.0, Form.ORDINAL: 3.0, Form.NAME: 2.0}


class Discourse:
    """What has been introduced so far, and what the turn before spoke of."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._introduced: dict[Group, list[str]] = {}
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def next_turn(self, *, is_elsewhere: bool) -> None:
        """Begin a turn; one about another place can have no pronoun for what the turn before spoke of."""
        self._before = {} if is_elsewhere else self._now
        self._now = {}

    def refer(self, group: Group, *entities: str) -> tuple[Mention, ...]:
        """Return how the turn refers to entities of a group; one that is not introduced yet is named, and then is.

        Entities are alike whose groups begin alike; two in one turn leave none that a pronoun could mean.
        """
        known = self._introduced.setdefault(group, [])
        mentions = tuple(self._mention(group, known, entity, is_alone=len(entities) == 1) for entity in entities)
        if len(entities) == 1:
            self._now[group[0]] = entities[0]
        return mentions

    def _mention(self, group: Group, known: list[str], entity: str, *, is_alone: bool) -> Mention:
        if entity not in known:
            known.append(entity)
            return Mention(entity, Form.NAME, len(known))
        forms = [Form.ORDINAL, Form.NAME]
        if is_alone and self._before.get(group[0]) == entity:
            forms.append(Form.PRONOUN)
        form = self._chance.choices(forms, [_WEIGHTS[form] for form in forms])[0]
        return Mention(entity, form, known.index(entity) + 1)
