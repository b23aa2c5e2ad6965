"""Ask a model where segments start (SeCom section 3.1), for a whole session or exchange by exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from goalmem_cli.backbones.secom import BELONGS, SEGMENTS
from goalmem_cli.backbones.secom.exchanges import Exchange
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.summaries import filled
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import NO_NUMBER, Reply, ask_each, in_one_line, numbers_of, picked, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Usage

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
