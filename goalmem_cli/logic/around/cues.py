"""Words that show whether a sentence is about the past, about the future, or about a plan made in the past."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import MONTHS, WEEKDAYS
from goalmem_cli.logic.normal import BASES


class Manner(StrEnum):
    """The time that a word points to; `PLANNED` was future when it was decided and may be past now."""

    PAST = "past"
    FUTURE = "future"
    PRESENT = "present"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that points to a time, with its position in the text."""

    start: int
    end: int
    word: str
    manner: Manner


_NO_ING = (
    r"(?!evening\b|morning\b|\w*thing\b|wedding\b|king\b|spring\b|string\b|wing\b|"
    r"during\b|ceiling\b|amazing\b|exciting\b|interesting\b|boring\b|tiring\b)"
)
_DONE = r"\w{2,}ed|been|bought|brought|caught|come|done|gone|got|had|kept|known|left|made|paid|said|seen|sent|\w+en"
"""What follows "should have" in a sentence about the past."""
_A_DATE = (
    r"(?:the \d{1,2}(?:st|nd|rd|th)\b(?! floor)|(?:(?:next|\d{1,2}(?:st|nd|rd|th)?) )?"
    rf"(?:{'|'.join((*WEEKDAYS, *MONTHS))})\b)"
)
_FUTURE = late(
    r"\b(?:will|won't|shall|going to|gonna|plan(?:s|ning)?|hop(?:e|ing) to|(?:can't|cannot) wait|looking forward|"
    r"excited (?:for|about|to)|coming up|upcoming|about to|see you|let's|wanna|must(?! have\b)|"
    rf"(?:should|might)(?!(?:n't| not)? have (?:{_DONE})\b)|"
    r"(?:can|could|may|shall) (?:i|you|we)|(?:i|we|you|they|he|she) can|want to|when (?:do|does|is|are)|"
    r"how about|what about|due|scheduled|free|"
    r"would (?:you )?like|(?:start|begin|end|open|close|leave|arrive|return|finish|happen|expire|reopen|work|suit)s|"
    r"runs out|stays(?= (?:until|till|on)\b)|is (?:(?:this|next) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"'d (?:like|love)|(?:i|we|they) (?:leave|start|fly|move|meet|return)|(?:have|has|needs?) to|gotta|"
    r"(?:day|week|month|year)s? from|(?:is|are)(?: (?:now|still|then|also|only|actually|definitely))? (?:on|at|in)|"
    r"(?<!had )(?<!had been )(?<!was )(?<!were )(?:moved|postponed|pushed|shifted|rescheduled|delayed|put off|changed|"
    rf"brought forward)(?: (?:it|them|that|this|back))? (?:to|until|till)(?= {_A_DATE}(?:\s*(?:[.,;!?)]|$)|"
    r" (?:at|because|instead|so|since|due|by)\b))(?![^.!?]*\b(?:was|were|had|did|went|came)\b)|"
    r"(?:i|we|you|they)(?: have|'ve) (?:an?|the)|(?:'ve|'s|have|has) got)\b|"
    r"'ll\b|(?<!\bat )(?<!\bto )(?<!\bfrom )\b(?:the|my|our|your|his|her|their) \w+'s on\b|"
    rf"\b(?:am|are|is|i'm|we're|they're|you're|he's|she's|it's|that's)(?: (?!not){_NO_ING}\w+)?(?: not)? "
    rf"{_NO_ING}\w{{2,}}ing\b|"
    rf"\b(?:is|are) (?:the|my|your|our|his|her|their|this) \w+ {_NO_ING}\w{{2,}}ing\b"
)
DECIDED = (
    r"agreed|announced|arranged|asked|booked|chose|confirmed|decided|extended|fixed|invited|moved|offered|ordered|"
    r"postponed|promised|reminded|rented|reserved|said|scheduled|signed|told"
)
_NOT_BEING = "".join(
    rf"(?<!\b{word} )" for word in ("is", "are", "am", "be", "being", "i'm", "we're", "'s", "'re", "get", "gets", "to")
)
_NOT_ASKED = "".join(
    rf"(?<!\b{word} )" for word in ("can", "could", "will", "would", "should", "does", "may", "must", "shall")
)
_NO_DEED = (
    r"(?!excited|interested|tired|married|scheduled|planned|supposed|stoked|indeed|speed|feed|need|exceed|proceed|"
    r"succeed|hundred|sacred|booked|invited|worried)"
)
_WAS = (
    r"saw|made|told|found|left|bought|brought|won|lost|spent|sent|sold|held|kept|heard|caught|built|taught|paid|met|"
    r"fed|led|lent|fought|understood|swept"
)
_PAST = late(
    rf"\b(?:(?:was|were) (?:{DECIDED}|planned)|was|were|wasn't|weren't|did|didn't|had|hadn't|went|came|"
    r"(?<!'ve )(?<!'s )(?<!have )(?<!has )got|took (?:\w+ )?off|took|said|gave|felt|"
    r"began|ran|thought|knew|ate|drove|flew|wrote|spoke|broke|fell|slept|woke|wore|became|grew|drew|rode|sang|swam|"
    r"threw|been(?! \w+ed\b)|haven't|hasn't|ago|"
    r"bit(?= (?:me|him|her|it|us|them|the|my|his|off|into|through)\b)|lit|"
    rf"{_NOT_ASKED}(?:he|she) (?:beat|cut|hit|hurt|let|put|quit|set|shut)|"
    r"blew|chose|clung|crept|dealt|drank|dug|fled|forgot|forgave|froze|hid|sank|shone|shook|slid|stood|"
    r"arose|awoke|outran|knelt|leapt|overcame|rang|rose|shrank|sprang|stole|struck|stung|swore|swung|tore|wept|withdrew|wove|"
    r"(?<!\ba )(?<!\bthe )shot|(?<!\bbe )(?<!\bnot )(?<!\bis )(?<!\bare )(?<!'s )(?:born|gone)|"
    rf"(?:\A|(?<=[.!?] ))(?:done|seen|taken)|(?:should|might|must)(?:n't| not)? have (?:{_DONE})|"
    r"(?:has|have) (?:(?:my|your|his|her|our|their|the) \w+|you|he|she|it|they|we) (?:\w+ed|come|been|gone)|"
    rf"{_NOT_BEING}(?:{_WAS}|{_NO_DEED}\w{{2,}}ed))\b"
)
_NO_ARTICLE = (
    r"(?!(?:the|an?|my|our|his|her|their|your|this|that|these|those|it|me|us|him|them|you|school|work|church|bed|town|"
    r"dinner|lunch|breakfast|class|college|hospital|prison|friends|everyone|all|one|\d\w*)\b)"
)
_PLANNED = late(
    r"\b(?:agreed|decided|promised|planned|wanted|hoped|arranged|offered|asked|chose|told|invited|meant|intended|"
    r"swore|bought|ordered|signed|applied|booked|voted|hired|advised|reminded|persuaded|begged|paid)\b"
    rf"(?:\s+(?!(?:to|and|but|that|who|which)\b)[\w']+){{0,6}}\s+(?:not\s+)?to\s+{_NO_ARTICLE}[a-z]{{2,}}\b"
    r"|\b(?:said|told|promised|thought|hoped|knew|swore|wrote|asked|agreed|announced|wondered|believed|claimed)\b"
    r"[^.!?;]*?(?:\bwould|'d|\bmight|\bcould|\bshould)\b(?! have\b)"
    r"|\b(?:was|were) (?:\w+ )?(?:going|supposed|meant|due|about|hoping|planning) (?:to|on|in)\b"
)
_MIND = (
    "think|know|hope|guess|love|like|feel|believe|wonder|remember|mean|swear|bet|am|are|is|have|has|do|does|don't|"
    "can't|said|say|says|tell|tells|mention|mentions|thinks|knows|loves|likes|feels|seems|looks|means|was|were|had|did|didn't|would|could|wish|see|"
    "just|also|never|only|still|both|all|always|often|really|already|used|read|put|set|cut|let|hit|shut|hurt|cost|"
    "quit|beat|spread|agree|hear|understand|suppose|recall|enjoy|enjoys|miss|misses|appreciate|reminds|makes"
)
_REGULAR = (
    "turn play start open close move retire host swap visit arrive launch reopen perform present defend celebrate "
    "marry deliver collect paint repair climb cook bake sail travel land depart return play finish end happen expire "
    "rehearse graduate vote fetch water want need call ask work learn help pass join resume race dance"
).split()
_DOES = "|".join(
    sorted({verb + ("es" if re.search("(?:ch|sh|s|x|z|o)$", verb) else "s") for verb in (*BASES.values(), *_REGULAR)}
           | {"flies", "marries"} - {"springs", "lights", "lies", "thinks", "knows", "says", "feels", "sees", "means"})
)  # fmt: skip
_FEW = r"(?!(?:two|three|four|five|six|seven|eight|nine|ten|\d+|some|many|all|no|more|great|good|both|few|several)\b)"
_LINK = (
    "in|on|at|to|for|with|from|by|of|about|and|or|but|so|too|as|if|when|that|this|the|an?|my|your|our|his|her|their|"
    "not|all|again|back|up|out|off|over|before|after|since|until|there|here|now|then|guys|both|two|three|who|which|"
    "must|will|shall|may|might|should|can|cannot|won't"
)
_PRESENT = late(
    rf"\b(?:i|we|they|you) (?!(?:{_MIND}|{_LINK})\b)(?!\w+ed\b)(?!\w+ly\b)[a-z]{{2,}}\b"
    rf"|\b(?:he|she|it|who|nobody|everybody|everyone) (?!(?:{_MIND}|{_LINK})\b)(?!\w+ss\b)[a-z]{{2,}}s\b"
    rf"|(?:\A|(?<=[.!?;:,] )){_FEW}(?:[\w'-]+ ){{1,4}}?(?:{_DOES})\b"
    r"|(?:\A|(?<=[.!?;:,] )|(?<=\bthat )|(?<=told us )|(?<=told me )|(?<=told him )|(?<=told her )|(?<=\bsaid )|"
    r"(?<=\bsays )|(?<=\bhope )|(?<=\bthink ))(?:the|my|our|your|his|her|their|this|an?) (?:[a-z]+ )?[a-z]+ "
    rf"(?!(?:{_MIND}|yes|always|days|weeks|months|years|times)\b)(?!\w+[usia]s\b)"
    r"[a-z]{2,}s(?= (?:on|at|in|until|till|back|the|an?|to|by|for|my|our|his|her|their|next|this|tomorrow|again|out|"
    r"off|up)\b)"
    r"|\b(?:i'm|we're|it's|he's|she's|they're) (?:in|on|at)\b|\bwants\b|"
    r"\bthat (?:flower|bloom|sprout|hatch|arrive|come|go|start|open)\b"
)
_PATTERNS = (
    (_PLANNED, Manner.PLANNED), (_PAST, Manner.PAST), (_FUTURE, Manner.FUTURE), (_PRESENT, Manner.PRESENT),
)  # fmt: skip
_VERB = late(
    r"\b(?:i|we|you|he|she|they|it|there|am|are|is|be|has|have|do|does|don't|can|can't|could|may|would|let|"
    r"(?:i|we|you|he|she|they|it|that|there|who|what|here)'(?:s|re|ve|d|m)|sounds|looks|seems|means|feels|hope|love|"
    r"comes|coming|thinking|wondering|sorry|thanks|thank)\b"
)
_ASKING = late(
    r"[\s\"'“‘(-]*(?:(?:please|then|and|so|just|but|or|do|ok|okay|yes|well|also|sure|great)[,!]?\s+)*"
    r"(?:come|call|ring|bring|meet|join|visit|try|text|email|remember|please|see|tell|ask|take|wait|go|get|give|keep|"
    r"put|pick|send|pop|drop|be|make|save|write|let|look|watch|check|cancel|book|buy|order|start|stay|stop|never mind|"
    r"wish|don't)\b"
)


@lru_cache(maxsize=64)  # called several times for each time expression of a sentence
def cues_in(folded: str, start: int, end: int) -> Sequence[Cue]:
    """Return the cues between two positions of a lower-case text; at one position the more certain comes first."""
    cues: list[Cue] = []
    for pattern, manner in _PATTERNS:
        for found in pattern.finditer(folded, start, end):
            word = found[0].rsplit(" ", 1)[-1]
            if manner is Manner.PRESENT and word in BASES and not word.endswith("s"):
                continue  # "we sank"
            cues.append(Cue(found.start(), found.end(), found[0], manner))
    return tuple(cues)


def is_request(folded: str, start: int, end: int) -> bool:
    """Say whether the sentence between two positions asks somebody to do something."""
    return _ASKING.match(folded, start, end) is not None


_HEDGE = late(r"\b(?:if )?(?:i (?:think|believe|guess|suppose|reckon|remember|recall)|i'm (?:not )?(?:sure|wrong))\b")


def has_verb(folded: str, start: int, end: int) -> bool:
    """Say whether the sentence between two positions has a verb, judged by common words only."""
    return _VERB.search(_HEDGE.sub("", folded[start:end])) is not None or bool(cues_in(folded, start, end))
