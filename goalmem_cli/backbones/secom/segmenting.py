"""Cut a session into segments: its exchanges, and where a segment starts, by a model or without one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from goalmem_cli.backbones.secom import BELONGS, NAME, SEGMENT, SEGMENTS
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.summaries import filled
from goalmem_cli.backbones.structured.units import derived_unit, is_one_voice
from goalmem_cli.errors import ReplyUnusable, libraries_of
from goalmem_cli.logic.normal import FUNCTION_WORDS, stem, words
from goalmem_cli.model_replies import NO_NUMBER, Reply, ask_each, in_one_line, numbers_of, picked, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Turn, Unit, Usage
from goalmem_cli.store.units import text_with_marks

_SHOWN_LETTERS = 400  # of a turn that a model sees, enough to show its topic


@dataclass(frozen=True, slots=True)
class Exchange:
    """A few turns in a row, usually one each of two people."""

    turns: tuple[Turn, ...]

    @property
    def line(self) -> str:
        """The exchange in one line for a model; long turns are cut off."""
        told = ((turn.speaker, text_with_marks(turn)) for turn in self.turns)
        return " / ".join(f"{in_one_line(speaker)}: {in_one_line(text)[:_SHOWN_LETTERS]}" for speaker, text in told)


def exchanges_of(turns: Sequence[Turn], size: int) -> list[Exchange]:
    """Return a session's turns in exchanges of `size` turns; the last one may have fewer."""
    return [Exchange(tuple(turns[start : start + size])) for start in range(0, len(turns), size)]


def cut(exchanges: Sequence[Exchange], starts: Collection[int]) -> list[list[Exchange]]:
    """Return the exchanges in segments; a segment begins at position 0 and at each position in `starts`."""
    segments: list[list[Exchange]] = []
    for place, exchange in enumerate(exchanges):
        if not segments or place in starts:
            segments.append([])
        segments[-1].append(exchange)
    return segments


def segment_unit(segment: Sequence[Exchange]) -> Unit:
    """Return a segment as a unit with the full text of its turns, a line each.

    The speaker stands before each line if several people speak or are quoted.
    """
    turns = [turn for exchange in segment for turn in exchange.turns]
    is_one = is_one_voice(turns)
    told = [(turn.speaker, text_with_marks(turn)) for turn in turns]
    text = "\n".join(text if is_one else f"{speaker}: {text}" for speaker, text in told)
    return derived_unit(NAME, SEGMENT, text, turns)


def starts_of(segments: Sequence[Unit], exchanges: Sequence[Exchange]) -> set[int]:
    """Return the positions of the exchanges with which stored segments begin."""
    firsts = {segment.turns[0] for segment in segments}
    return {place for place, exchange in enumerate(exchanges) if exchange.turns[0].id in firsts}


_WINDOW, _BLOCK = 20, 10  # words in a pseudo-sentence, and pseudo-sentences in a block: nltk's defaults
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_BETWEEN = "\n\n"


def tiled_starts(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the positions at which TextTiling begins a new segment; none if there are too few words."""
    with libraries_of("eval", "TextTiling", "set another way to find the starts of segments"):
        from nltk.tokenize.texttiling import TextTilingTokenizer
    if len(exchanges) < 2:
        return set()
    names: dict[str, str] = {}
    paragraphs = [_named(exchange, names) for exchange in exchanges]
    tokenizer = TextTilingTokenizer(w=_WINDOW, k=_BLOCK, stopwords=[])
    try:
        pieces = tokenizer.tokenize(_BETWEEN.join(paragraphs))
    except ValueError:  # too short for it
        return set()
    starts, place = set(), 0
    for piece in pieces[:-1]:
        place += sum(bool(paragraph.strip()) for paragraph in piece.split(_BETWEEN))
        starts.add(place)
    return starts


def _named(exchange: Exchange, names: dict[str, str]) -> str:
    """Return the exchange's content words, each replaced by a code of the Latin letters that nltk's tokenizer knows."""
    found = [stem(word) for turn in exchange.turns for word in words(turn.text) if word not in FUNCTION_WORDS]
    return " ".join(names.setdefault(word, _name(len(names))) for word in found or [""])


def _name(number: int) -> str:
    """Return a number as a word of letters, at least five."""
    letters = ""
    while True:
        number, rest = divmod(number, len(_CONSONANTS))
        letters += _CONSONANTS[rest]
        if not number:
            return letters.rjust(5, "a")


EVERY = 3
"""After an unusable reply, segments have this many exchanges, as in SeCom's code."""
_TOKENS: Mapping[Profile, int] = {"full": 3000, "compact": 500}
_LETTERS = 1200  # of the end of the last segment that are shown with a new exchange
_YES = "yes"


@dataclass(slots=True)
class Cuts:
    """The segment starts of a session found so far, the usage, and the problems."""

    starts: set[int]
    usage: Usage = field(default_factory=Usage)
    problems: tuple[str, ...] = ()

    def add(self, reply: Reply[set[int]], otherwise: set[int], name: str) -> None:
        """Add the starts of a reply, or `otherwise` and a problem if the reply is unusable."""
        self.starts |= otherwise if reply.value is None else reply.value
        self.usage += reply.usage
        if reply.value is None:
            self.problems += (f"{name}: {reply.problem}",)


def stretches(exchanges: Sequence[Exchange], profile: Profile) -> list[tuple[int, list[Exchange]]]:
    """Split exchanges into stretches for one request each; return (position of the first exchange, exchanges).

    Most sessions are one stretch. Each stretch begins a segment.
    """
    parts = list(filled(exchanges, _TOKENS[profile], lambda exchange: exchange.line))
    return list(zip(accumulate(map(len, parts[:-1]), initial=0), parts, strict=True)) if parts else []


def cut_whole(kit: Kit, sessions: Sequence[Sequence[Exchange]]) -> list[Cuts]:
    """Return where the segments of each session start; one model call covers all sessions."""
    asked = [
        (number, place, part)
        for number, exchanges in enumerate(sessions)
        for place, part in stretches(exchanges, kit.prompts.profile)
    ]
    requests = [partial(whole_request, kit, part) for _, _, part in asked if len(part) > 1]
    parses = [partial(_read_starts, kit, place, part) for _, place, part in asked if len(part) > 1]
    replies = iter(ask_each(kit.model, requests, parses) if requests else ())
    found = [Cuts(set()) for _ in sessions]
    for number, place, part in asked:
        found[number].starts.add(place)
        if len(part) > 1:
            found[number].add(next(replies), set(range(place, place + len(part), EVERY)), f"from exchange {place + 1}")
    return found


def cut_online(kit: Kit, sessions: Sequence[tuple[Sequence[Exchange], int, set[int]]]) -> list[Cuts]:
    """Return where the segments of each session start, asking about one exchange after the other.

    `sessions` has for each session its exchanges, the number of those decided, and the starts among these. The model
    sees each undecided exchange with the segment before it; one call covers an exchange of every session. An unusable
    reply begins a segment.
    """
    found = [Cuts({0, *starts}) for _, _, starts in sessions]
    longest = max((len(exchanges) for exchanges, _, _ in sessions), default=0)
    for place in range(1, longest):
        asked = [number for number, (of, decided, _) in enumerate(sessions) if max(1, decided) <= place < len(of)]
        builds = []
        for number in asked:
            exchanges = sessions[number][0]
            last = exchanges[max(start for start in found[number].starts if start < place) : place]
            builds.append(partial(online_request, kit, last, exchanges[place]))
        parses = [partial(_read_belongs, build, place) for build in builds]
        for number, reply in zip(asked, ask_each(kit.model, builds, parses) if asked else (), strict=True):
            found[number].add(reply, {place}, f"exchange {place + 1}")
    return found


def whole_request(kit: Kit, part: Sequence[Exchange], problem: str) -> Request:
    """Return the request about a stretch of a session."""
    inputs = {"exchanges": [exchange.line for exchange in part], "problem": problem}
    return kit.prompts[SEGMENTS].request(inputs, {"numbers": numbers_of(part)})


def online_request(kit: Kit, last: Sequence[Exchange], exchange: Exchange, problem: str) -> Request:
    """Return the request about an exchange after the segment `last`."""
    before = in_one_line(" / ".join(each.line for each in last))[-_LETTERS:]
    return kit.prompts[BELONGS].request({"before": before, "exchange": exchange.line, "problem": problem})


def _read_starts(kit: Kit, place: int, part: Sequence[Exchange], text: str) -> set[int]:
    """Return the positions in the session at which segments start, from a reply about `part`, which begins at `place`.

    Raises:
        ReplyUnusable: it names no start, or an exchange that does not exist.
    """
    fields = read_fields(text, whole_request(kit, part, ""))
    if not fields.get("starts"):
        raise ReplyUnusable(f"it names no start; {NO_NUMBER} stands for none")
    return {place + start for start in picked(fields, "starts", range(len(part)))}


def _read_belongs(build: partial[Request], place: int, text: str) -> set[int]:
    said = read_fields(text, build("")).get("belongs", ())
    return set() if said == (_YES,) else {place}
