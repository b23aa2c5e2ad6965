"""Statements by a verb: "I live in York", "my sister works at Lidl", "that is what I drive"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from goalmem_cli.backbones.now.asked import HOME, WORK, Asked
from goalmem_cli.backbones.now.state import LATE, NOT_YET, NOW, WAS, State
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import BASES, content_stems, stem, words

_TOKEN = late(r"[\w€$£#]+(?:['’.@&/+-]\w+)*|[^\w\s]")
_WE = frozenset("i we i'm we're i've we've im ive".split())
_BETWEEN = frozenset(
    "am are is 'm 're been be now just finally already actually both all currently still again happily only really "
    "officially recently do does got over out have has ve always mostly usually mainly then so here not never don't "
    "doesn't n't isn't aren't longer no there down up home".split()
)
_NOT = frozenset("not never don't doesn't isn't aren't no".split())
_AFTER = frozenset(
    "back now over here up down out home together full part time again still all just mostly currently permanently "
    "properly happily only alone".split()
)
_STOP = frozenset(
    "and but so because for since after before when while though although as until till if which who that where than "
    "on at in to from with by of now any again instead too also still these this last next every today then most best "
    "right near about or not per a-week".split()
)
_TIMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday christmas easter i".split()
)
_ARTICLES = frozenset("a an the my our your his her their this some one another new".split())
_NO_PLACE = frozenset(
    "night home weekend weekends time moment hours day days evening morning least once first living".split()
)
_LIVING: Mapping[str, frozenset[str]] = {
    **{
        verb: frozenset("in at to on into".split())
        for verb in ("liv", "resid", "settl", "bas", "based", "mov", "relocat", "return")
    },
    "back": frozenset("in to into".split()),
}
_WORKING: Mapping[str, frozenset[str]] = {
    **{verb: frozenset(("at", "for")) for verb in ("work", "start", "back", "begin")},
    **{verb: frozenset(("at", "for", "with", "by")) for verb in ("employ", "hir")},
    "join": frozenset(),
}
_CHANGES = frozenset(map(stem, "moved relocated returned started joined hired began".split()))
_STANDING = frozenset(map(stem, "settled based employed hired".split())) | {"based", "back"}
_JOB = late(
    r"\b(?:have|has|got|found|landed|started|began|took)(?: got)? (?:a|the|my|this) (?:new )?(?:job|position|role)"
    r" (?:at|with|for)\b",
    re.IGNORECASE,
)
"""What is read as "work at", as in "I got a new job at Lidl"."""
_JOBS = ("job", "position", "role")
_MENDED = late(
    r"\b(?:sorry|wrong(?:ly)?|typo|correction|mistake|I meant|I mean|misspoke|mistyped|rather)\b", re.IGNORECASE
)
_BESIDE = late(
    r"\b(?:also|too|as well|besides|in addition|sometimes|part[- ]time|second|other|another|extra|on the side|both|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days|at weekends|half of|some(?:times)? |partly|used to)\b",
    re.IGNORECASE,
)
_FOR_A_TIME = late(
    r"\b(?:for (?:the|a|an|some|two|three|four|five|\d+) (?:night|day|weekend|week|fortnight|month|holiday|while|visit|"
    r"wedding|funeral|conference)s?|until|till|visiting|on (?:holiday|vacation|a trip)|for (?:work|now|today|christmas|"
    r"easter|lunch|dinner|the (?:night|day|weekend|week|holidays?)))\b",
    re.IGNORECASE,
)


_TOOLS = frozenset(map(stem, (
    "slack teams zoom discord notion jira trello asana github gitlab bitbucket postgres postgresql mysql sqlite "
    "mongodb redis kafka kubernetes docker terraform jenkins aws azure gcp linux windows ubuntu debian mac macos "
    "android iphone ios chrome firefox safari edge python rust java javascript typescript golang kotlin react vue "
    "angular svelte django flask rails excel sheets outlook gmail proton signal whatsapp telegram messenger skype "
    "webex confluence figma miro spotify netflix hulu dropbox onedrive icloud obsidian evernote emacs vim vscode "
    "salesforce hubspot stripe paypal shopify wordpress mastodon bluesky twitter facebook instagram tiktok reddit "
    "youtube twitch steam chatgpt claude gemini marketing sales finance accounting engineering legal hr operations "
    "logistics procurement plan phase stage level round team group row grade year chapter page version option tier "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays"
).split()))  # fmt: skip
"""What people move to and do not live in: programs, languages, devices, departments, numbered things, days."""
_OF_TOOLS = late(
    r"\b(?:mov|relocat|switch|return|settl)\w* (?:back |over )?(?:in)?to (?-i:(?!Ma?c)[A-Z][a-z]+[A-Z]|[A-Z]\w*\d|"
    r"(?!NYC|USA|UAE)[A-Z]{3,})"
    r"|\b(?:databases?|backend|frontend|servers?|repos?|repository|codebase|deploy\w*|tickets?|channels?|stand-?ups?|"
    r"sprint|cluster|pipeline|api|apps?|software|cloud|prod|queries|backups|migrat\w*|inbox|websites?|subscription|provider|"
    r"tariff|dashboards?)\b",
    re.IGNORECASE,
)
"""A name that is written like a program's, or words about programs beside it."""


@lru_cache(maxsize=4096)  # the subgoals of a question, and further questions, look at the same turns
def done(sentence: str, asked: Asked) -> tuple[State, ...]:
    """Return what a sentence states by a verb, at most one state, whoever holds it."""
    if asked.about and not asked.about <= content_stems(sentence) | frozenset(map(stem, words(sentence))):
        return ()
    for holder, value, is_end, is_cleft in _read(sentence, asked):
        replaces = not LATE.search(sentence) and (is_cleft or not _BESIDE.search(sentence))
        is_only = is_cleft or (replaces and bool(NOW.search(sentence) or _MENDED.search(sentence)))
        return (State(holder, value, is_end, is_only, replaces or is_end),)
    return ()


def _read(sentence: str, asked: Asked) -> Iterator[tuple[str, frozenset[str], bool, bool]]:
    """Yield (holder, value, whether it ended, whether it is put as "that is what I drive")."""
    verbs = _verbs(asked)
    for clefted in _clefts(sentence, verbs, asked):
        yield "", clefted, False, True
    if asked.kind == HOME and (found := _HOUSE.search(sentence)) and not WAS.search(sentence):
        names, _ = _name(_TOKEN.findall(found["v"] or found["w"]), 0, asked)
        if names:
            yield "", frozenset(names), False, False
    tokens = _TOKEN.findall(_JOB.sub("work at", sentence) if asked.kind == WORK else sentence)
    has_verb = any(_root(token, verbs) in verbs for token in tokens)
    for at in range(len(tokens) if has_verb else 0):
        if (read := _clause(tokens, at, verbs, asked)) is not None:
            holder, value, is_end, rest = read
            around = (" ".join(tokens[:at]).rpartition(",")[2], rest.partition(",")[0])
            is_past = any(NOT_YET.search(each) or WAS.search(each) for each in around)
            is_tool = asked.kind == HOME and (bool(value & _TOOLS) or bool(_OF_TOOLS.search(sentence)))
            if not is_past and not is_tool and not (asked.kind in (HOME, WORK) and _FOR_A_TIME.search(rest)):
                yield holder, value, is_end, False


_HOUSE = late(
    r"\b(?:my|our) (?:new |own |little )*(?:flat|house|home|apartment|place|room|address)(?: is|['’]s) (?:now |still )*"
    r"(?:in )?(?P<v>(?-i:[A-Z]).*)$|\b(?P<w>(?-i:[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?)) is (?:my |our )?home now\b",
    re.IGNORECASE,
)
_HOUSES = ("flat", "house", "home", "apartment", "place", "room", "address")


def stems_of(asked: Asked) -> Collection[str]:
    """Return stems, one of which each sentence has that states what is asked for."""
    beside = {HOME: _HOUSES, WORK: _JOBS}
    return (*_verbs(asked), *beside.get(asked.kind, ()))


def _verbs(asked: Asked) -> Mapping[str, frozenset[str] | None]:
    """Return the stems of the verbs that state it, each with the prepositions before its value; None: it has none."""
    if asked.kind == HOME:
        return _LIVING
    if asked.kind == WORK:
        return _WORKING
    return {asked.verb: None}


_Read = tuple[str, frozenset[str], bool, str]


def _clause(tokens: Sequence[str], at: int, verbs: Mapping[str, frozenset[str] | None], asked: Asked) -> _Read | None:
    """Return (holder, stems of the value, whether it ended, the text after it) of the clause whose subject is at `at`.

    The holder is "" for the speaker. Returns None if there is no such clause, or if it is denied without having ended.
    `verbs`: as `_verbs` returns them.
    """
    subject = _subject(tokens, at, verbs)
    if subject is None:
        return None
    holder, place = subject
    first = place
    while place < len(tokens) and tokens[place].lower().replace("’", "'") in _BETWEEN | {"'"}:
        place += 1
    between = {token.lower().replace("’", "'") for token in tokens[first:place]}
    between |= set(tokens[at].lower().replace("’", "'").split("'")[1:])
    if place < len(tokens) and tokens[place].lower() == "back" and not verbs.keys() & {"back"}:
        return None
    if place >= len(tokens) or not _is_verb(tokens[place], verbs, between):
        return None
    verb = _root(tokens[place], verbs)
    value, end = _value(tokens, place + 1, verbs[verb], verb, asked)
    if value is None:
        return None
    rest = " ".join(tokens[end:])
    own = rest.partition(",")[0]
    is_not = bool(_NOT & between) or "n't" in " ".join(between)
    is_over = bool(re.search(r"\bany ?(?:more|longer)\b", own)) or {"no", "longer"} <= between
    return None if is_not and not is_over else (holder, value, is_not and is_over, rest)


def _subject(tokens: Sequence[str], at: int, verbs: Mapping[str, frozenset[str] | None]) -> tuple[str, int] | None:
    """Return the holder and where its verb may begin; a sentence may leave out "I" ("Back in York since June")."""
    token = tokens[at].lower().replace("’", "'")
    if token in _WE:
        return "", at + 1
    if token in ("my", "our") and at + 1 < len(tokens) and tokens[at + 1].isalpha():
        return stem(tokens[at + 1].lower()), at + 2
    starts = at == 0 or tokens[at - 1] in ".,;:"
    if starts and _root(tokens[at], verbs) in (_CHANGES | {"back"}) & verbs.keys():
        return "", at
    if tokens[at][:1].isupper() and tokens[at].isalpha() and token not in _TIMES:
        return stem(token), at + 1
    return None


def _root(token: str, verbs: Mapping[str, frozenset[str] | None]) -> str:
    lowered = token.lower()
    return lowered if lowered in verbs else stem(lowered)


def _is_verb(token: str, verbs: Mapping[str, frozenset[str] | None], between: set[str]) -> bool:
    """Say whether the token is one of the verbs in the present, or a change that happened ("moved", not "moving")."""
    lowered, root = token.lower(), _root(token, verbs)
    if root not in verbs:
        return False
    if root in _CHANGES:
        return lowered.endswith("ed") or lowered in ("began", "begun")
    has_be = bool(between & {"am", "are", "is", "'m", "m", "re", "'re", "been", "be", "s"})
    if root in _STANDING or lowered in ("based", "back"):
        return True
    if lowered.endswith("ing") and lowered != root:
        return has_be
    is_past = lowered.endswith("ed") and not lowered.endswith("eed")
    is_irregular = lowered in BASES and not lowered.endswith(("s", "es"))
    return not is_past and not (has_be and root == lowered) and stem(lowered) == root and not is_irregular


def _value(
    tokens: Sequence[str], place: int, before: frozenset[str] | None, verb: str, asked: Asked
) -> tuple[frozenset[str] | None, int]:
    """Return the stems of the value after a verb, and where it ends; None if none follows."""
    skipped = _AFTER | (frozenset(("work", "working")) if verb in ("start", "begin") else frozenset())
    while place < len(tokens) and tokens[place].lower() in skipped:
        place += 1
    if before:
        if place >= len(tokens) or tokens[place].lower() not in before:
            return None, place
        place += 1
    elif before is None and asked.verb == "go":
        place += place < len(tokens) and tokens[place].lower() in ("to", "into")
    is_name = asked.kind == HOME or verb in ("join", "back")
    found, end = (_name if is_name else _phrase)(tokens, place, asked)
    return (frozenset(found) if found else None), end


def _name(tokens: Sequence[str], place: int, _: Asked) -> tuple[list[str], int]:
    """Return the stems of capitalised words in a row, commas between."""
    found: list[str] = []
    while place < len(tokens):
        token = tokens[place]
        is_name = token[:1].isupper() and token.lower() not in _TIMES
        if is_name:
            found.append(stem(token.lower()))
        elif not (found and tokens[place] == "," and place + 1 < len(tokens) and tokens[place + 1][:1].isupper()):
            break
        place += 1
    return found, place


def _phrase(tokens: Sequence[str], place: int, asked: Asked) -> tuple[list[str], int]:
    """Return the stems of at most five words up to the next preposition or conjunction, without articles."""
    found: list[str] = []
    most = 5
    start = place
    while place < len(tokens) and place - start < most and tokens[place][0].isalnum():
        token = tokens[place].lower()
        if token in _STOP or token in _TIMES or stem(token) in asked.about or token in _NO_PLACE:
            break
        if token not in _ARTICLES:
            found.append(stem(token))
        place += 1
    is_whole = asked.kind != WORK or (
        bool(found) and (tokens[start].lower() in _ARTICLES or tokens[start][:1].isupper())
    )
    return (found if is_whole else []), place


_CLEFT = late(
    r"^(?P<before>.*?)(?:\bis|['’]s)?\s*\b(?:what|where|who|whom|how|that)\s+(?:I|we)(?:['’](?:m|re))?\s+"
    r"(?:(?:now|still|currently|really|am|are)\s+)*(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_FOCUS = late(r"\b(?:it['’]s|it is)\s+(?P<v>[^,;:.]+?)\s*$", re.IGNORECASE)
_THAT = late(r"^(?P<v>.*?)\s*[,;:]?\s*(?:(?:and|so)\s+)?\b(?:that|this|which)(?:['’]s|\s+is)?\s*$", re.IGNORECASE)
_LEAD = late(
    r"^.*\b(?:I|we)(?:['’]ve)?\s+(?:(?:just|have|finally|now|really|recently|only|\w+ly)\s+)*\w+\s+(?:(?:to|for|into)\s+)?",
    re.IGNORECASE,
)


def _clefts(sentence: str, verbs: Mapping[str, frozenset[str] | None], asked: Asked) -> Iterator[frozenset[str]]:
    """Yield the value of "it is a Fiat that I drive", "a Fiat, that is what I drive", "York is where I live"."""
    found = _CLEFT.search(sentence)
    if found is None or _root(found["verb"], verbs) not in verbs:
        return
    before = found["before"].strip()
    if focus := _FOCUS.search(before):
        text = focus["v"]
    elif re.search(r"(?:\bis|['’]s)\s*(?:what|where|who|whom|how)\b", sentence, re.IGNORECASE):
        that = _THAT.match(before)
        text = that["v"] if that else before
    else:
        return
    tokens = _TOKEN.findall(_LEAD.sub("", re.split("[,;:]", text.strip(" ,;"))[-1].strip()))
    value, end = (_name if asked.kind == HOME else _phrase)(tokens, 0, asked)
    if asked.kind == WORK and not value:
        value, end = _name(tokens, 0, asked)
    if value and end == len(tokens):
        yield frozenset(value)
