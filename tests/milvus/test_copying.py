"""Copies of a memory that were interrupted."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.library.copying import copy
from goalmem_cli.library.forgetting import forget
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Added, Ranking, Selection
from goalmem_cli.records import QUOTED, Conversation, Query, Turn
from goalmem_cli.store import Store
from goalmem_cli.store.passages import split_at_blocks, split_into_passages
from goalmem_cli.store.recognising import unquoted
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Opens
from tests.milvus.test_interrupted import LATER, Stopped, named, stopping_at
from tests.milvus.test_lookups import ranked_hits


def test_an_interrupted_copy_goes_on(memory: Opens, tmp_path: Path) -> None:
    """Wherever it was stopped, the same copy ends with all that the source has, once; and the way back is the same."""
    source, back = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("from", "back"))
    source.add_turns([*named(LATER, "one"), *named(LATER, "two")])
    source.add_answer("Biscuit", named(LATER, "one")[1], [named(LATER, "one")[2].id], {"question": "Who is the dog?"})
    for step in (0, 2, 4):
        with pytest.raises(Stopped):
            copy(source, memory(stopping_at(step)), unreported)
    done = copy(source, memory(), unreported)
    assert (done.conversations, done.turns, done.compared) == (2, 8, 8)
    assert copy(source, memory(), unreported).new_turns == 0
    assert memory().verify() == []
    assert copy(memory(), back, unreported).new_turns == 8
    assert list(back.export()) == list(memory().export()) == list(source.export())


def test_what_is_told_as_quoted_later_is_searched_as_that(memory: Opens, tmp_path: Path) -> None:
    """The turn is the same, in a store and in Milvus; its passages stand for it from then on, and none is there twice."""
    turns = [Turn("one", 0, 0, "Ana", "> I am vegan\nGood for her", own_id="1")]
    told = [replace(turns[0], attributes={"quotes": [{"start": 0, "end": 12, "from": "Marta"}]})]
    for each in (Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None), memory()):
        for given, texts in ((turns, {turns[0].text}), (told, {"[quoted from Marta] I am vegan", "Good for her"})):
            (added,) = each.add_all([Conversation("one", "whatsapp", tuple(given), "one")])
            assert added.new_turns == int(given is turns)
            with each.reading() as reader:
                found = reader.rank(Query("vegan Good"), [Ranking.BM25, Ranking.DENSE], 9)
                shown = [
                    {hit.unit.text for hit in reader.hits([one.unit for one in some]).values()}
                    for some in found.values()
                ]
            assert shown == [texts, texts]
        assert each.verify() == []


def test_an_interrupted_copy_leaves_out_nothing_for_the_marks_that_it_brings(memory: Opens, tmp_path: Path) -> None:
    """What the source has forgotten in one conversation and still has in another arrives, wherever it was stopped."""
    source = Store(tmp_path / "from", HashEmbedder(), announce=lambda _: None)
    source.add_turns([*named(LATER, "one"), *named(LATER, "two")])
    forget(source, Selection(("one",)))
    step, folder = 0, memory().path
    while True:
        try:
            copy(source, memory(stopping_at(step)), unreported)
        except Stopped:
            assert Tombstones.of_folder(folder).is_empty or len(memory().turns(["two"])) == len(LATER)
            step += 1
        else:
            break
    assert step > 1
    assert [turn.text for turn in memory().turns()] == [turn.text for turn in LATER]
    assert Tombstones.of_folder(folder).counts == (len(LATER), 0)
    done = copy(source, memory(), unreported)
    assert (done.new_turns, done.forgotten, done.compared) == (0, 0, len(LATER))


class LosesQuotes(Store):
    """A store that has lost what replies show."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the turns without it."""
        return list(map(unquoted, super().turns(conversations)))


def test_a_copy_without_a_quote_that_nobody_forgot_is_refused(tmp_path: Path) -> None:
    """Only what the target forgot may be missing there."""
    source = Store(tmp_path / "from", HashEmbedder(), announce=lambda _: None)
    shown = {QUOTED: "Ben: The ladder stands in the shed."}
    turns = [*named(LATER, "one"), Turn("one", 0, 99, "Ravi", "Thanks for telling me.", attributes=shown)]
    source.add_turns(turns)
    for kind, is_whole in ((Store, True), (LosesQuotes, False)):
        target = kind(tmp_path / kind.__name__, HashEmbedder(), announce=lambda _: None)
        target.add_turns(turns[:1])
        forget(target, Selection(speakers=(turns[0].speaker,)))
        with nullcontext() if is_whole else pytest.raises(StoreError, match="its turns are not what they are there"):
            copy(source, target, unreported)


def test_a_copy_that_is_killed_leaves_no_file(memory: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is under way no file that others may find has what it copies."""
    scratch = tmp_path.parent / "s"  # a socket's path has at most 107 characters
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    there, here = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("there", "here"))
    there.add_turns(named(LATER, "one"))
    text = LATER[0].text.encode()
    for source, target in ((there, here), (here, memory()), (memory(), there)):
        reports = list[Added]()

        def look(added: Added, reports: list[Added] = reports) -> None:
            files = [path for path in scratch.rglob("*.jsonl") if path.is_file()]
            assert not any(text in path.read_bytes() for path in files)
            reports.append(added)

        copy(source, target, look)
        assert reports


def test_turns_stay_cut_as_they_were_stored(memory: Opens, tmp_path: Path) -> None:
    """What an older version stored keeps its passages when it is read again or copied; a new turn is cut at blocks."""
    long = "".join(f"## Part {part}\n\n" + f"- Plane plank {part}. Then oil it.\n" * 18 for part in range(6))
    turns = [Turn("boat", 0, at, who, text) for at, (who, text) in enumerate([("Ana", "How?"), ("AI", long)] * 2)]
    older = Conversation("boat", "openai", tuple(turns[:2]), is_exported=True)  # without the mark of this version
    now = Conversation("boat", "openai", tuple(turns))
    folder, back = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("from", "back"))
    for each in (folder, memory()):
        each.add_all([older])
        before = ranked_hits(each, Query("plank"))
        each.add_all([replace(older, is_exported=False)])
        assert ranked_hits(each, Query("plank")) == before
        each.add_all([now])
        each.add_all([now])
    copy(memory(), back, unreported)
    wanted = {1: split_into_passages(long), 3: [text for text, _ in split_at_blocks(long)]}
    for each in (folder, memory(), back):
        passages = [hit.unit for hit in ranked_hits(each, Query("plank")).values() if hit.unit.part]
        for ordinal, texts in wanted.items():
            told = sorted((unit for unit in passages if unit.ordinal == ordinal), key=lambda unit: unit.part)
            assert [unit.text for unit in told] == texts
    assert wanted[1] != wanted[3]
    assert list(folder.export()) == list(memory().export()) == list(back.export())
    assert memory().verify() == []
