"""What backbones make of a message goes by its speaker's clock, where a transcript gives its time in UTC alone."""

from datetime import UTC, datetime

from goalmem_cli.backbones.graphiti.episode_reading import held
from goalmem_cli.backbones.remem.event_times import judge_point
from goalmem_cli.backbones.structured.stretches import stretches_of
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.records import OFFSET, TIMEZONE, Turn

NIGHT = datetime(2026, 7, 14, 22, 30, tzinfo=UTC)
CLOCK = {OFFSET: 120, TIMEZONE: "Europe/Berlin"}
TEXT = "My driving test is today."
SAID = Turn("c", 0, 0, "Ana", TEXT, NIGHT, attributes=CLOCK)


def test_half_past_midnight_is_of_the_day_that_begins() -> None:
    """As a model is shown it, as "today" is resolved, as a fact holds from then on, and as what is derived is dated."""
    (stretch,) = stretches_of([SAID], 1000)
    assert stretch.inputs("")["lines"] == [f"T1. Ana: {TEXT} [said 2026-07-15 00:30, Wednesday]"]
    assert judge_point("", TEXT, [SAID]).event.text == "15 July 2026"
    assert held("2026-07-15", "", TEXT, [SAID])[0] == datetime(2026, 7, 15, 0, 30)
    assert str(derived_unit("b", "fact", "Ana has a test", [SAID]).said) == "2026-07-15 00:30:00+02:00"


def test_without_another_clock_it_is_as_it_is_written() -> None:
    """The instant in UTC."""
    (stretch,) = stretches_of([Turn("c", 0, 0, "Ana", TEXT, NIGHT)], 1000)
    assert stretch.inputs("")["lines"] == [f"T1. Ana: {TEXT} [said 2026-07-14 22:30, Tuesday]"]
