"""`goalmem search`."""

import json
from pathlib import Path

import pytest

from tests.invoking import Goalmem, hashing

CHAT = [
    {"role": "user", "content": "I bake rye bread on Sundays.", "timestamp": "2024-05-05T09:00:00"},
    {"role": "user", "content": "The rye bread was burnt."},
]


def hits(goalmem: Goalmem, *words: str) -> list[dict[str, object]]:
    found = json.loads(goalmem("search", *words, "--json").out)["hits"]
    assert isinstance(found, list)
    return found


def test_hits_name_turn_conversation_speaker_and_time(momoco: Goalmem) -> None:
    """The hit that a person would pick is first, under the transcript's own names."""
    best = hits(momoco, "What is the Kyoto Latte made with?", "-k", "3")[0]
    told = {"unit", "turns", "conversation", "speaker", "said", "text", "attributes", "score", "ranks"}
    assert best.keys() == told | {"change", "later"}
    named = (best["turns"], best["conversation"], best["speaker"], best["said"])
    assert named == (["D2:1"], "momoco-01", "Ben", "2023-05-21T18:20:00")


def test_the_table_explains_itself(momoco: Goalmem) -> None:
    """--explain adds the rank that each list gave."""
    plain, explained = (momoco("search", "Kyoto Latte", *flags).out for flags in ((), ("--explain",)))
    assert "Ben, 21 May 2023 18:20, momoco-01 D2:1" in plain
    assert "bm25" not in plain
    assert "ranks: bm25 " in explained


def test_piped_lines_end_where_their_text_ends(momoco: Goalmem) -> None:
    """Into a pipe no line carries the blanks that fill a terminal's width."""
    lines = momoco("search", "matcha", "-k", "5").out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if line != line.rstrip()] == []


def test_nothing_found_is_exit_1(momoco: Goalmem) -> None:
    """As grep: no hit, no output, exit 1, and a line on stderr."""
    outcome = momoco("search", "xylophone", "--backbone", "bm25")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "nothing found\n")
    assert json.loads(momoco("search", "xylophone", "--backbone", "bm25", "--json").out)["hits"] == []


def test_filters_narrow_the_search(momoco: Goalmem) -> None:
    """Speaker and time hold for every hit; names may differ in case, a bare date includes its day."""
    assert {hit["speaker"] for hit in hits(momoco, "Momoco", "--speaker", "alice")} == {"Alice"}
    said = [str(hit["said"]) for hit in hits(momoco, "Momoco", "--since", "2023-05-21", "--until", "2023-05-21")]
    assert said
    assert all(time.startswith("2023-05-21") for time in said)


@pytest.mark.parametrize("recipe", ["hybrid", "bm25", "dense"])
def test_the_backbone_decides_who_ranks(momoco: Goalmem, recipe: str) -> None:
    """Each recipe shows only the rankings it is made of."""
    names = {name for hit in hits(momoco, "Kyoto Latte", "--backbone", recipe) for name in hit["ranks"]}  # type: ignore[attr-defined]
    families = {name.split("-")[0] for name in names}
    assert families == ({"bm25", "dense"} if recipe == "hybrid" else {recipe})


@pytest.mark.parametrize(
    ("words", "named", "hinted"),
    [
        (("--conversation", "momoc-1"), "'momoc-1'", "'momoco-01'"),
        (("--speaker", "Alise"), "'Alise'", "'Alice'"),
        (("--since", "yesterday"), "--since", "2023-05-21"),
        (("--until", "2023-13"), "--until", "2023-05-21"),
        (("--backbone", "telepathy"), "telepathy", "hybrid, bm25, dense"),
        (("-k", "0"), "-k", "--help"),
    ],
)
def test_what_is_not_there_is_a_usage_error(momoco: Goalmem, words: tuple[str, ...], named: str, hinted: str) -> None:
    """A name that the store does not know, or a flag that makes no sense, is exit 2 with what would do."""
    outcome = momoco("search", "latte", *words)
    assert outcome.code == 2
    error, hint = outcome.error_lines
    assert named in error
    assert hinted in hint


def test_an_empty_query_is_a_usage_error(momoco: Goalmem) -> None:
    """A query of blanks asks for nothing."""
    assert momoco("search", "  ").code == 2


def test_an_empty_query_opens_no_store(goalmem: Goalmem, tmp_path: Path) -> None:
    """It is a usage error though the store is damaged."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "memory.duckdb").write_bytes(b"no database" * 1000)
    assert goalmem("search", "tea").code == 3
    assert goalmem("search", "  ").code == 2


def test_turns_without_a_time_are_counted_when_a_time_is_asked_for(goalmem: Goalmem) -> None:
    """A time filter cannot pass a turn of unknown time; how many it leaves out is said."""
    goalmem("ingest", "-", stdin=json.dumps(CHAT).encode())
    outcome = goalmem("search", "rye bread", "--since", "2024", "--json")
    assert [hit["text"] for hit in json.loads(outcome.out)["hits"]] == ["I bake rye bread on Sundays."]
    assert "1 turn without a time left out" in outcome.err
    assert "left out" not in goalmem("search", "rye bread").err


def test_a_store_that_is_not_there_is_exit_3(goalmem: Goalmem) -> None:
    """Searching before anything was stored says how to store."""
    outcome = goalmem("search", "anything")
    assert outcome.code == 3
    assert "goalmem ingest" in outcome.error_lines[1]


def test_the_store_s_own_embedder_is_used_and_another_is_refused(goalmem: Goalmem) -> None:
    """Without --embedder a store is searched with what it was built with; another one is exit 3."""
    seen: list[str] = []
    chat = json.dumps(CHAT).encode()
    assert goalmem("ingest", "-", "--embedder", "tiny", stdin=chat, factories=hashing(seen)).code == 0
    assert goalmem("search", "rye", factories=hashing(seen)).code == 0
    assert set(seen) == {"tiny"}
    outcome = goalmem("search", "rye", "--embedder", "static", factories=hashing(seen))
    assert outcome.code == 3
    assert "tiny" in outcome.error_lines[1]


def test_bm25_loads_no_embedder(goalmem: Goalmem) -> None:
    """A search by words alone has no use for vectors."""
    goalmem("ingest", "-", stdin=json.dumps(CHAT).encode(), factories=hashing([]))
    seen: list[str] = []
    assert goalmem("search", "rye", "--backbone", "bm25", factories=hashing(seen)).code == 0
    assert seen == []


def test_a_query_of_operators_is_only_text(momoco: Goalmem) -> None:
    """Quotes, colons and stray operators search for words."""
    assert momoco("search", 'latte AND ( "matcha: NOT * ~').code == 0


def test_words_of_another_encoding_are_searched(momoco: Goalmem) -> None:
    """Bytes that are not UTF-8 reach Python as lone surrogates: no traceback, in words and names alike."""
    assert momoco("search", "caf\udce9 Kyoto").code == 0
    assert momoco("search", "Kyoto", "--speaker", "Ren\udce9").code == 2
    assert momoco("search", "Kyoto", "--conversation", "caf\udce9").code == 2
    assert momoco("search", "Kyoto", "--since", "\udce9").code == 2


@pytest.mark.parametrize("k", [10**12, 10**20])
@pytest.mark.parametrize("recipe", ["bm25", "dense", "hybrid"])
def test_more_than_there_is_gives_what_there_is(momoco: Goalmem, k: int, recipe: str) -> None:
    """However many hits are asked for, the store's turns are all there can be."""
    found = hits(momoco, "Kyoto Latte", "-k", str(k), "--backbone", recipe)
    assert 0 < len(found) <= 23


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--store", "~nosuchuser/x"), 2),
        (("--store", "x" * 5000), 2),
        (("--embedder", "~nosuchuser/x"), 4),
        (("--embedder", "x" * 5000), 4),
        (("-k", "9" * 5000), 2),
    ],
)
def test_paths_and_numbers_that_cannot_be_are_errors(momoco: Goalmem, words: tuple[str, ...], code: int) -> None:
    """A home that nobody has, a path or a number too long: two lines, and the code of what it was for."""
    outcome = momoco("search", "Kyoto", *words)
    assert outcome.code == code
    assert outcome.error_lines


MOVED = [
    {"role": "user", "name": "Ana", "content": "We moved to Leeds last week.", "timestamp": "2026-01-10T10:00:00Z"},
    {"role": "user", "name": "Ben", "content": "How is Leeds?", "timestamp": "2026-01-10T10:05:00Z"},
    {
        "role": "user",
        "name": "Ana",
        "content": "Leeds did not work out. Since Sunday we are back to York.",
        "timestamp": "2026-04-14T09:00:00Z",
    },
    {"role": "user", "name": "Ana", "content": "I no longer take sugar in my coffee."},
]


def test_what_a_later_turn_moves_on_from_is_marked(goalmem: Goalmem, tmp_path: Path) -> None:
    """The turn on Leeds names the later one on York; those on York and sugar say that something changed."""
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(MOVED), encoding="utf-8")
    goalmem("ingest", str(file))
    found = {str(hit["text"]): hit for hit in hits(goalmem, "Where does Ana live? Does she take sugar?")}
    leeds, asked, york, sugar = (found[each["content"]] for each in MOVED)
    assert isinstance(leeds["later"], dict)
    assert (leeds["later"]["unit"], leeds["later"]["said"]) == (york["unit"], york["said"])
    assert (york["later"], york["change"]) == (None, "did not work out")
    assert (sugar["later"], sugar["change"]) == (None, "no longer")
    assert (asked["later"], asked["change"]) == (None, None)
    shown = goalmem("search", "Where does Ana live?").out
    assert "later: 14 Apr 2026 09:00 +0000, Ana: Leeds did not work out." in shown
    before = hits(goalmem, "Where does Ana live?", "--until", "2026-02-01")
    assert [hit["later"] for hit in before if hit["text"] == leeds["text"]] == [None]
