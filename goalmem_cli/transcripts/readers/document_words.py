"""Recognises headings of documents among names of speakers. They count as speakers only if the format is named."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PARTS = frozenset(
    "abstract accepted achtung acknowledgements action actions added advantages ajouté alternatives answer"
    " antwort api approach argument arguments attribution author authors aws añadido background behoben beispiel"
    " benefits body bug bugs build caution caveats change changed changelog changes chores cli code command"
    " commands comment comments compatibility conclusion config configuration cons consequences constructor"
    " context contributing contributors copyright corregido corrigé cost created credits danger date decision"
    " definition dependencies deprecated deprecations description design details develop development docs"
    " documentation drivers duration edit ejemplo entfernt environment error errors event events evidence example"
    " examples exemple expected explanation exported extends faq feature features fields file files fix fixed"
    " fixes frage function functions geändert goal goals highlights hint hinweis hinzugefügt how image images"
    " impact implementation important improvements info input inputs install installation installing instructions"
    " interface interfaces internal internals introduction issue issues key licence license limitations link links"
    " list location maintenance members message method methods miscellaneous mitigation model module modules"
    " motivation name namespace new nota note notes notice objective observed open option options other others"
    " output outputs overview owner package packages parameter parameters params patch performance permissions"
    " platforms pregunta prerequisites problem problems procedure properties property pros purpose question"
    " questions rationale reason recommendation refactor references related release releases remark remarks"
    " remarque removals removed request requests required requirements response responses respuesta result results"
    " return returns revert reverts risk risks réponse sample scenario schema section security see setup"
    " severity signature solution source status step steps summary symptom symptoms syntax tags task tasks"
    " template test testing tests tip tips title to todo tool troubleshooting type types update updated updates"
    " upgrade url usage use value values variables version versions warning warnings what when where why"
    " wichtig".split()
)
_WORD = re.compile(r"[^\W\d_]+")


def are_parts(names: Sequence[str]) -> bool:
    """Return whether over a quarter of the names are what documents call their parts: examples, notes, changes.

    "Q" and "A" together always count: they are those of a list of frequent questions.
    """
    plain = [name.casefold() for name in names]
    if {"q", "a"} <= set(plain):
        return True
    return 4 * sum(not _PARTS.isdisjoint(_WORD.findall(name)) for name in plain) > len(plain)
