"""Times, numbers and money said in German, Spanish, French, Portuguese, Chinese and Japanese."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from goalmem_cli.languages.words import CODES, FOLDER
from goalmem_cli.logic.annotations import annotations_of, time_attributes
from goalmem_cli.logic.checks import TypeVerdict, check_type
from goalmem_cli.logic.compounds import spoken
from goalmem_cli.logic.computing.amounts import in_one_style, read_amount
from goalmem_cli.logic.computing.date_arithmetic import read_time
from goalmem_cli.logic.dates import annotate, periods_in, spoken_in
from goalmem_cli.logic.days import Period
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.languages.tables import english_words, keys, language, triggers
from goalmem_cli.logic.languages.times import phrases
from goalmem_cli.logic.languages.values import value_in_english, write_keys
from goalmem_cli.logic.scene import Scene
from goalmem_cli.transcripts.formats import read_file
from tests.conftest import SAMPLES

SAID = datetime(2024, 5, 15, 10)
TURNS = yaml.safe_load((Path(__file__).parent / "data" / "other_languages.yaml").read_text("utf-8"))
LOOKED_AT = [
    (code, text, wanted)
    for turns, step in ((TURNS["first"], 2), (TURNS["second"], 1))
    for code, told in turns.items()
    for text, wanted in told[::step]
]
NOT_LOOKED_AT = [(code, text, wanted) for code, told in TURNS["first"].items() for text, wanted in told[1::2]]
NOT_SOLVED = {"Kapitel 3. Mai und die Folgen"}


def days_in(text: str, code: str | None) -> Iterator[str]:
    """Yield the days that a turn names as the file has them."""
    for found in annotate(text, SAID, language=code):
        first, last = found.first, found.last
        if first and last:
            yield shown(Period(first, last))
        elif first:
            yield f"since {first}" + (f"/{found.begun_by}" if found.begun_by else "")
        else:
            yield f"until {last}"
    plain = [found for found in spoken_in(text, SAID, code) if found.is_plain]
    noted = {found.text for found in annotate(text, SAID, language=code)}
    yield from (shown(found.readings[0]) for found in plain if text[found.start : found.end] not in noted)


def shown(period: Period) -> str:
    """Return a period as the file has it."""
    return str(period.first) if period.first == period.last else f"{period.first}/{period.last}"


def test_the_file_of_keys_has_the_words_of_all_rules(tmp_path: Path) -> None:
    """Each word belongs to the languages whose rules have it; a rule without a word needs a year in digits."""
    write_keys(tmp_path / "keys.json")
    again = f"python -c 'from {write_keys.__module__} import write_keys; write_keys()' writes keys.json again"
    assert (tmp_path / "keys.json").read_bytes() == (FOLDER / "keys.json").read_bytes(), again
    rules = [rule for code in CODES if not language(code).is_spaceless for rule in language(code).rules]
    assert keys().keys() == {key for rule in rules for key in rule.keys}
    assert triggers().keys() == keys().keys() - english_words()
    assert all("(?P<year>" in rule.written for rule in rules if not rule.keys)


@pytest.mark.parametrize(
    ("code", "text", "wanted"),
    [pytest.param(*turn, marks=[pytest.mark.xfail] if turn[1] in NOT_SOLVED else []) for turn in LOOKED_AT],
)
def test_a_turn_names_its_days(code: str, text: str, wanted: str) -> None:
    """The days of a turn are found, and none where it names none; what is not solved yet fails."""
    assert list(days_in(text, code)) == ([] if wanted == "-" else [wanted])


def test_turns_not_looked_at_are_read_as_well() -> None:
    """Of the turns that nobody looked at while building, nearly all are right and hardly any is wrong."""
    found = [(list(days_in(text, code)), [] if wanted == "-" else [wanted]) for code, text, wanted in NOT_LOOKED_AT]
    wrong = [days for days, wanted in found if days and days != wanted]
    assert sum(days == wanted for days, wanted in found) >= 88
    assert len(wrong) <= 2


def test_without_a_language_only_what_cannot_be_english_is_read() -> None:
    """Two words that English does not have, or another script; one word alone may be a name or another language's."""
    assert list(days_in("Wir waren letzten Freitag dort", None)) == ["2024-05-10"]
    assert list(days_in("上周五", None)) == ["2024-05-10"]
    assert list(days_in("Hier gestern, mars mayo once", None)) == []
    assert list(days_in("We drank on Cinco de Mayo with Mai", None)) == []


def test_nothing_wrong_is_read_without_a_language() -> None:
    """A turn of an unknown language has no days that it would not have in its own, but for a year alone."""
    for code, text, _ in LOOKED_AT:
        told = {each for each in days_in(text, None) if not each.endswith("-01-01/" + each[:4] + "-12-31")}
        assert told <= set(days_in(text, code)), text


def test_english_turns_have_no_expressions_of_other_languages() -> None:
    """So the annotations of English turns are those of the English tables alone."""
    turns = [turn.text for path in sorted(SAMPLES.glob("*.js*")) for talk in read_file(path) for turn in talk.turns]
    assert len(turns) > 100
    assert [text for text in turns if phrases(text, Scene.of(text, SAID).folded)] == []
    assert all(value_in_english(text) == text for text in turns)


def test_a_turn_in_german_is_not_read_as_english() -> None:
    """ "August" in a German turn is read with German words around it; dates in digits are read in every language."""
    assert time_attributes("Der alte August ist 80.", SAID, None, "de") == {}
    day = datetime(2024, 5, 3).date()
    assert set(periods_in("am 03.05.2024", SAID, language="de")) == {Period(day, day)}


@pytest.mark.parametrize(
    ("code", "text", "noted"),
    [
        ("es", "Nos vemos el 3/4/2026.", ["3/4/2026", "2026-04-03"]), ("de", "Dann am 3/4/2026!", ["3/4/2026", "2026-04-03"]),
        ("fr", "Rendez-vous le mardi 3/4/2026.", ["mardi 3/4/2026", "2026-04-03"]),
        ("ja", "2026/3/4に会う。", ["2026/3/4", "2026-03-04"]), ("es", "Se casaron el 3 ene 2024.", ["3 ene 2024", "2024-01-03"]),
        ("fr", "Le 5 mai 2026, on part.", ["5 mai 2026", "2026-05-05"]), ("fr", "On part le 3 mai.", ["3 mai", "2024-05-03"]),
        ("pt", "Nasci em 12-03-1985.", ["12-03-1985", "1985-03-12"]), ("es", "Nos vemos el martes 25/4/2026.", None),
    ],
)  # fmt: skip
def test_a_date_that_english_reads_otherwise_goes_by_the_language(
    code: str, text: str, noted: list[str] | None
) -> None:
    """It gets a note, so that nobody has to know the language; one that is the same in every language gets none."""
    wanted = {} if noted is None else {"times": [[*noted, noted[-1]]]}
    assert time_attributes(text, SAID, None, code) == wanted
    found = (
        time_attributes(text, SAID),
        time_attributes(text, SAID, None, "en"),
        time_attributes(text, SAID, None, "it"),
    )
    assert found == ({}, {}, {})


def test_what_is_said_in_english_in_another_language_is_read_as_english() -> None:
    """A turn in a German chat may be English, in part or all; its words tell it."""
    text = "Ich war letzten Freitag dort, and they go next Friday."
    assert [each.text for each in annotations_of(time_attributes(text, SAID, None, "de"))] == [
        "letzten Freitag", "next Friday",
    ]  # fmt: skip


def test_a_day_of_another_year() -> None:
    """A day with "last year" beside it has the year that this is, and needs a note."""
    assert list(days_in("去年5月3日他来过。", "zh")) == ["2023-05-03"]
    assert list(days_in("来年の6月7日に会う。", "ja")) == ["2025-06-07"]
    assert time_attributes("来年の6月7日に会う。", SAID, None, "ja") == {
        "times": [["来年の6月7日", "2025-06-07", "2025-06-07"]]
    }


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Geliefert wird am Montag, dem 30."), ("de", "Wir bauen es am Wochenende drauf auf, das war klar."),
        ("fr", "J'ai dit le week-end du 21."), ("es", "Tendré que entregar 80 piezas desde septiembre."),
    ],
)  # fmt: skip
def test_a_day_that_other_words_fix_has_no_note(code: str, text: str) -> None:
    """A day that is told by another number or event is not read as the nearest one; a start may be still to come."""
    assert list(days_in(text, code)) == []


def test_the_sentence_of_a_date_ends_with_it() -> None:
    """What the next sentence tells as past does not make the date past."""
    assert list(days_in("Começo em 5 de agosto. Ontem comprei uma mesa.", "pt")) == ["2024-08-05", "2024-05-14"]


def test_the_note_has_the_words_as_they_were_said() -> None:
    """The expression keeps its accents and capitals."""
    (found,) = annotations_of(time_attributes("Übermorgen fahre ich weg.", SAID, None, "de-AT"))
    assert found.text == "Übermorgen"


@pytest.mark.parametrize(
    ("code", "text", "first"),
    [
        ("en", "See you on Tuesday of the week after next.", "2026-03-24"),
        ("en", "I met him the week before last on Friday.", "2026-02-27"),
        ("ja", "再来週の火曜日に会おう", "2026-03-24"), ("ja", "さ来週の火曜に会おう", "2026-03-24"),
        ("ja", "来週の火曜日に会おう", "2026-03-17"), ("ja", "先々週の火曜日に会った", "2026-02-24"),
        ("ja", "再来週末に会おう", "2026-03-28"), ("ja", "先々週末に会った", "2026-02-28"),
        ("zh", "上上周五我去了", "2026-02-27"), ("zh", "下下个星期三见", "2026-03-25"), ("zh", "下周三见", "2026-03-18"),
        ("zh", "上上个周末我们去了海边", "2026-02-28"), ("zh", "下下周末去", "2026-03-28"), ("zh", "上上个月搬家了", "2026-01-01"),
        ("zh", "下下个月搬家", "2026-05-01"), ("zh", "我大前年搬家了", "2023-01-01"), ("zh", "我前年搬家了", "2024-01-01"),
    ],
)  # fmt: skip
def test_the_second_week_month_or_year_from_now(code: str, text: str, first: str) -> None:
    """Said on Saturday, 14 March 2026: also its weekday and its weekend, and nothing beside it."""
    (noted,) = annotate(text, datetime(2026, 3, 14, 18, 20), language=code)
    assert str(noted.first) == first


@pytest.mark.parametrize("code", CODES)
def test_each_rule_is_said_in_english_that_is_understood(code: str) -> None:
    """Every pattern compiles, and its English, filled in, is one time expression."""
    filled = {
        "weekday": "Friday", "month": "June", "unit": "week", "season": "summer", "n": "3", "day": "3", "year": "2021",
    }  # fmt: skip
    for rule in language(code).rules:
        assert rule.pattern.search("") is None
        english = re.sub(r"\{([a-z]+)\}", lambda place: filled[place[1]], rule.english)
        found = spoken(Scene.of(f"we did it {english}.", SAID)) or spoken(Scene.of(f"we will do it {english}.", SAID))
        assert len(found) == 1 or re.fullmatch(r"3 June (?:last|this|next) year", english), english


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("3. Mai", "3 May"), ("3 de mayo", "May 3"), ("le 3 mai 2024", "3 May 2024"), ("5月3日", "3 de maio"),
        ("2024年5月", "May 2024"), ("im März 2023", "March 2023"), ("letzten Freitag", "last Friday"),
        ("drei Hunde", "3 Hunde"), ("zwei Dutzend", "24"), ("fünfundzwanzig Euro", "25 Euro"), ("3 mil", "3000"),
        ("1.150,50 Euro", "€1,150.50"), ("1 150,50 €", "1150.50 euros"), ("三百", "300"), ("1万2千", "12000"),
        ("quatre-vingt-dix-sept", "97"), ("vinte e cinco reais", "25 reais"), ("treinta y dos", "32"),
        ("drei Wochen", "3 weeks"), ("三百円", "300 yen"), ("dos mil trescientos euros", "2300 euros"),
    ],
)  # fmt: skip
def test_values_of_two_languages_are_equal(left: str, right: str) -> None:
    """A date, a number or a sum is the same in every language."""
    assert compare(left, right) is Equality.EQUAL
    assert compare(right, left) is Equality.EQUAL


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("drei Hunde", "vier Hunde", Equality.DIFFERENT), ("3. Mai", "4 May", Equality.DIFFERENT),
        ("1.150 Euro", "1150 Euro", Equality.UNDECIDED), ("1.150 Euro", "1160 Euro", Equality.DIFFERENT),
        ("17 days", "17,000 yen", Equality.DIFFERENT), ("60 a month", "60,000 naira", Equality.DIFFERENT),
        ("Mai", "May", Equality.UNDECIDED), ("mars", "March", Equality.UNDECIDED), ("三月", "3", Equality.UNDECIDED),
        ("Tres Leches cake", "Leches cake", Equality.ALIAS), ("70 euros", "70 euros a month", Equality.ALIAS),
        ("3 mil followers", "3000 followers", Equality.DIFFERENT),
    ],
)  # fmt: skip
def test_values_that_are_not_the_same(left: str, right: str, verdict: Equality) -> None:
    """Other days and numbers differ; a name is no month; a point that may group thousands decides nothing."""
    assert compare(left, right) is verdict


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("drei Wochen", 3 * 604_800, "second"), ("三个月", 3, "month"), ("deux heures", 7200, "second"),
        ("zwei Dutzend Eier", 24, "eier"), ("3 mil euros", 3000, "EUR"), ("1万2千円", 12_000, "JPY"),
        ("二十块", 20, "CNY"), ("2,5 Millionen Euro", 2_500_000, "EUR"), ("1 150,50 €", 1150.5, "EUR"),
        ("half a million", 500_000, ""), ("once", 1, ""), ("3 mil followers", 3, "follower"),
    ],
)  # fmt: skip
def test_amounts_are_read(text: str, number: float, unit: str) -> None:
    """Amounts of other languages are computed with; English ones stay what they were."""
    amount = read_amount(text)
    assert amount is not None
    assert amount.exact is not None
    assert (float(amount.exact), amount.unit.key) == (number, unit)


def test_a_point_groups_thousands_where_another_number_shows_it() -> None:
    """What "1.150" means goes by the other numbers of the conversation."""
    assert in_one_style(["1.150 Euro"], ["2,50 Euro"]) == ["1,150 Euro"]


@pytest.mark.parametrize(
    ("value", "type_phrase", "verdict"),
    [
        ("3. Mai", "date", TypeVerdict.OK), ("vor zwei Wochen", "date", TypeVerdict.OK), ("上周五", "date", TypeVerdict.OK),
        ("drei Wochen", "duration", TypeVerdict.OK), ("drei Wochen", "date", TypeVerdict.VIOLATED),
        ("drei", "number", TypeVerdict.OK), ("Bremen", "date", TypeVerdict.VIOLATED), ("Ulm", "number", TypeVerdict.VIOLATED),
    ],
)  # fmt: skip
def test_types_are_checked(value: str, type_phrase: str, verdict: TypeVerdict) -> None:
    """A binding in another language can be a date or a number; a name cannot."""
    assert check_type(value, type_phrase).verdict is verdict


def test_times_are_computed_with() -> None:
    """A relative time of another language counts from when it was said."""
    time = read_time("vor drei Tagen", SAID)
    assert time is not None
    assert str(time.period) == str(Period(datetime(2024, 5, 12).date(), datetime(2024, 5, 12).date()))
