"""Events that have just happened: "I have just been accepted", "she's just passed her test"."""

from __future__ import annotations

import re

from goalmem_cli.logic.days import Period, single
from goalmem_cli.logic.normal import BASES
from goalmem_cli.logic.scene import Scene, Tense

_STATES = (
    "wanted|needed|loved|liked|wished|seemed|stayed|tried|used|hated|enjoyed|lived|assumed|hoped|wondered|worked|"
    "figured|supposed|thought|had|known|felt|kept|meant|been|understood|said|stuck|held|lain|slept|sat|stood"
)
_FEELINGS = (
    "tired|bored|worried|scared|excited|stressed|interested|exhausted|overwhelmed|amazed|obsessed|blessed|married|"
    "confused|disappointed|annoyed|frustrated|terrified|thrilled|relieved|ashamed|distracted|depressed|swamped"
)
_AS_BASE = "become|come|run|put|set|cut|hit|hurt|quit|read|split|burst"  # participles that equal the infinitive
_OTHER = re.compile(rf"(?:{_STATES})|\w+(?:s|ing)")
_IRREGULAR = sorted({form for form in BASES if not _OTHER.fullmatch(form)}, key=len, reverse=True)
_DONE = "|".join([*_IRREGULAR, _AS_BASE])
_DEED = rf"(?!(?:{_STATES}|{_FEELINGS})\b)(?:\w{{2,}}ed|{_DONE})"
_SHORT = r"(?:(?:i|we|you|they)'ve|(?!(?:it|that|there|what|here|where|how|when)'s)[a-z]+'s)"
PERFECT = rf"(?:{_SHORT}|have|has) (?:only )?just (?:(?:been|got|gotten) )?{_DEED}\b(?! up with\b)"
"""Pattern of the perfect tense with "just"."""
_BEGUN = (
    "started|began|begun|joined|decided|realised|realized|remembered|noticed|reminded|learned|learnt|moved|met|did|told|"
    "went|gone|gave|given|took|taken|stared|talked|played|looked|walked|watched|listened|laughed|smiled|cried|ran|"
    "asked|answered|turned|nodded|showed|let|ignored|followed|spoke|spoken|ate|drank|fell|came|become|come"
)
TOLD = (
    rf"(?:i|we) (?:only )?just (?:got(?: (?:back|home|word|news|{_DEED}))?|came (?:back|home)|found out|"
    rf"(?!(?:{_BEGUN}|{_AS_BASE})\b){_DEED})\b"
)
"""Pattern of the simple past with "just".

Verbs of beginning are left out because their action may be some days old; "I just laughed" is left out as no event.
"""
_OPEN = re.compile(r"\b(?:if|when|once|whenever|unless|after|until|as though|not)\b[^.!?;,]*\Z")
_REACH = 60  # characters


def happened(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return the day on which the text was said if it states the event as a fact, else nothing."""
    before = scene.folded[max(0, match.start() - _REACH) : match.start()]
    return [] if _OPEN.search(before) or scene.is_supposed(*match.span()) else [single(scene.day)]


def told(match: re.Match[str], scene: Scene) -> list[Period]:
    """As `happened`, for the simple past; empty inside a story that is told in the past tense."""
    left, _ = scene.sentence(*match.span())
    return [] if scene.last_tense(left) is Tense.PAST else happened(match, scene)
