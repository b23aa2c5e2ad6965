"""A statement of what holds, and the words that tell whether it replaces what was said before. English only."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """A statement: the `value` that holds from then on, as stems, or what ended (`is_end`; no value: whatever it was).

    `holder` is "" for the speaker, else the stem of "sister" in "my sister", or of a name. `is_only`: the words say
    that it is the only value ("now", "that is what I drive"). `replaces` is False for what is said late or holds beside
    another value ("I also work at the kiosk").
    """

    holder: str
    value: frozenset[str]
    is_end: bool = False
    is_only: bool = False
    replaces: bool = True

    def says_the_same(self, other: State) -> bool:
        """Say whether both name one value: "Leeds" and "Headingley, Leeds" do."""
        return bool(self.value and other.value) and (self.value <= other.value or other.value <= self.value)


NOW = re.compile(
    r"\bnow(?! (?:that|and then)\b)|\b(?:these days|nowadays|currently|from now on|instead|any ?more)\b"
    r"|\b(?:any|no) longer\b|\bsince (?!I\b|we\b|he\b|she\b|they\b|it\b|you\b|my\b)\w|\bnew\b"
    r"|\b(?:switched|swapped|changed)\b",
    re.IGNORECASE,
)
LATE = re.compile(
    r"\b(?:used to|when I was|as (?:a|an) (?:child|kid|boy|girl|teen\w*|student|baby)|years ago|back then|before that|"
    r"at the time|originally|at first|earlier|previously|once|for (?:uni|college|school)|in (?:19|20)\d\d)\b"
    r"|\bbefore[.!]?$",
    re.IGNORECASE,
)
NOT_YET = re.compile(
    r"\b(?:will|going to|gonna|want(?:s|ed)? to|hop(?:e|es|ing) to|love to|like to|next (?:year|month|week|spring|"
    r"summer|autumn|fall|winter|\w+day)|tomorrow|soon|thinking (?:of|about)|looking (?:to|for)|considering|"
    r"(?:from|starting)(?: in| on)? (?:next|tomorrow|January|February|March|April|May|June|July|August|September|"
    r"October|November|December|\w+day)\b(?! (?:to|till|until|through)\b)|"
    r"pretend\w*|wants?|if only|supposed to|about to|tried to|almost)\b|['’]ll\b",
    re.IGNORECASE,
)
WAS = re.compile(r"\b(?:had|were|was)\b", re.IGNORECASE)
