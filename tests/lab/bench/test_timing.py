"""Time is measured of repeated work, and of whole processes."""

import sys

from goalmem_cli.lab.bench.timing import median_ms, run_python, timed


def test_work_is_done_once_more_than_it_is_measured() -> None:
    """The first time only brings along what the work needs."""
    calls: list[int] = []
    assert median_ms(lambda: calls.append(1), 4) >= 0
    assert len(calls) == 5
    assert timed(lambda: calls.append(1)) >= 0
    assert len(calls) == 6


def test_a_process_is_measured_with_what_became_of_it() -> None:
    """Exit code, seconds, memory, and its last words in one line."""
    ran = run_python(["-c", "import sys, time; time.sleep(0.2); sys.exit('went\\n wrong')"])
    assert (ran.status, ran.said) == (1, "went wrong")
    assert ran.seconds > 0.2
    if sys.platform != "win32":
        assert ran.peak_bytes > 1_000_000
