"""New names for people, places and things: the same wherever a conversation or its plans speak of them."""

import re
from random import Random

import pytest

from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.lab.tuning.renaming import MEN, WOMEN, YEARS, Kind, Renamed, later, lower_words, names_of, rename
from tests.lab.tuning.samples import NAMES, queries_of, steps_of, texts_of

SEEDS = pytest.mark.parametrize("seed", [1, 2, 3, 1605, 1719])  # the last two come upon Fine and None


def renamed(talk: Talk, seed: int) -> tuple[Renamed, dict[str, str]]:
    """Return the conversation under new names, and the new name of each old one."""
    kinds = names_of(talk, lower_words([talk]))
    found = rename(talk, kinds, Random(seed))  # noqa: S311 - these are no secrets
    assert list(found.names.values()) == list(kinds.values())
    return found, dict(zip(kinds, found.names, strict=True))


def under(text: str, names: dict[str, str]) -> str:
    """Return the text with whole words replaced."""
    return re.sub(r"\w+", lambda match: names.get(match[0], match[0]), text)


def talk_named(name: str, talks: list[Talk]) -> Talk:
    """Return the conversation of that name."""
    return next(talk for talk in talks if talk.name == name)


@SEEDS
def test_mapping_the_names_back_gives_the_original(talks: list[Talk], seed: int) -> None:
    """Turns, questions, answers, askers, plans and bindings get the same names, and nothing else of them changes."""
    for talk in talks:
        found, new = renamed(talk, seed)
        back = {to: name for name, to in new.items()} | {to.lower(): name.lower() for name, to in new.items()}

        assert len(set(new.values())) == len(new)
        assert [under(text, back) for text in texts_of(found.talk)] == texts_of(talk)
        assert [under(text, back).lower() for text in queries_of(found.talk)] == [q.lower() for q in queries_of(talk)]


@SEEDS
def test_no_old_name_is_left(talks: list[Talk], seed: int) -> None:
    """No text has a word that was a name before, be it in a query without its capital."""
    for talk in talks:
        found, new = renamed(talk, seed)
        words = {word for text in texts_of(found.talk) for word in re.findall(r"\w+", text)}
        sought = {word for text in queries_of(found.talk) for word in re.findall(r"\w+", text.lower())}

        assert len(new) > 4
        assert not words & new.keys()
        assert not sought & {name.lower() for name in new}


@SEEDS
def test_gold_facts_still_hold_their_bindings(talks: list[Talk], seed: int) -> None:
    """A value that stands in the gold turns of its subgoal stands there under the new names too."""
    checked = 0
    for talk in talks:
        found, _ = renamed(talk, seed)
        said = {turn.label: turn.text for turn in talk.conversation.turns}
        says = {turn.label: turn.text for turn in found.talk.conversation.turns}
        for old, new in zip(talk.cases, found.talk.cases, strict=True):
            for before, after in zip(steps_of(old), steps_of(new), strict=True):
                for variable, value in before.bindings.items():
                    if value in " ".join(said[label] for label in before.facts):
                        assert after.bindings[variable] in " ".join(says[label] for label in after.facts)
                        checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_other_names(talks: list[Talk], name: str) -> None:
    """A seed gives the same names again; the next seed hardly any of them."""
    talk = talk_named(name, talks)
    first, again, other = (renamed(talk, seed) for seed in (1, 1, 2))

    assert again == first
    assert sum(first[1][name] == to for name, to in other[1].items()) <= 1


def test_names_are_told_from_other_capitalised_words(talks: list[Talk]) -> None:
    """People and places are known as such; months, days, ordinary words and the machine keep their names."""
    common = lower_words(talks)
    kinds = {talk.name: names_of(talk, common) for talk in talks}

    assert kinds["assistant-01"]["Tomas"] is Kind.MAN and kinds["assistant-01"]["Bellmoor"] is Kind.PLACE
    assert kinds["momoco-01"]["Nora"] is Kind.WOMAN and kinds["momoco-01"]["Leeds"] is Kind.PLACE
    assert kinds["work-02"].keys() >= {"Imogen", "Kwame", "Hanneke"}
    for names in kinds.values():
        assert not names.keys() & {"Assistant", "March", "Thursday", "English", "Latte", "The", "Big", "Morning"}
        assert not {name.lower() for name in names} & common


@SEEDS
def test_people_stay_of_their_sex(talks: list[Talk], seed: int) -> None:
    """A woman gets no man's name and a man no woman's, so that he and she still fit; a name is never one that is there."""
    talk = talk_named("momoco-01", talks)
    _, new = renamed(talk, seed)
    kinds = names_of(talk, lower_words([talk]))
    words = {word for text in texts_of(talk) for word in re.findall(r"\w+", text)}

    assert Kind.WOMAN in kinds.values() and Kind.MAN in kinds.values()
    assert not {new[name] for name, kind in kinds.items() if kind is Kind.WOMAN} & set(MEN)
    assert not {new[name] for name, kind in kinds.items() if kind is Kind.MAN} & set(WOMEN)
    assert not words & {form for name in new.values() for form in (name, name.lower())}


def test_speakers_are_renamed_where_they_are_written_small(talks: list[Talk]) -> None:
    """Who writes a speaker's name without its capital means the speaker."""
    found, new = renamed(talk_named("assistant-01", talks), 3)

    assert any(new["Tomas"].lower() in query.split() for query in queries_of(found.talk))


@pytest.mark.parametrize("years", YEARS)
def test_other_years_keep_their_days(talks: list[Talk], years: int) -> None:
    """Turns move by whole years onto the same days of the week, and what is said of dates moves with them."""
    for talk in talks:
        moved = rename(talk, {}, Random(1), years).talk  # noqa: S311 - this is no secret
        turns = zip(talk.conversation.turns, moved.conversation.turns, strict=True)
        times = [(old.said, new.said) for old, new in turns if old.said is not None and new.said is not None]

        assert len(times) == len(talk.conversation.turns)
        assert all(new == old.replace(year=old.year + years) for old, new in times)
        assert all(new.weekday() == old.weekday() for old, new in times)
        assert texts_of(moved) == [later(text, years) for text in texts_of(talk)]
        assert texts_of(rename(moved, {}, Random(1), -years).talk) == texts_of(talk)  # noqa: S311
    assert any(re.search(r"\b20\d\d\b", text) for talk in talks for text in texts_of(talk))


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("on 9 May 2023, or 2024-02-29", "on 9 May 2051, or 2052-02-29"),
        ("In 1961.", "In 1989."),
        ("the 1990s, £2000, 12,2023 and 2023%, 20234", "the 1990s, £2000, 12,2023 and 2023%, 20234"),
    ],
)
def test_only_years_are_moved(text: str, moved: str) -> None:
    """A year in a date is one; a decade, a price, a share or a longer number is none."""
    assert later(text, 28) == moved
