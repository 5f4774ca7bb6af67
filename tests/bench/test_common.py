"""Results of benchmarks: what was asked decides, and the table shows it."""

from __future__ import annotations

import pytest

from tests.bench.common import BenchResult, main, median_s, table

RATE = BenchResult("unpack", 640.0, "Mrecord/s", 0.5, "copy", 500, "value")
RATIO = BenchResult("pull", 480_000.0, "word/s", 29.9, "one word a request", 30)
PLAIN = BenchResult("dating", 12.34, "Mrecord/s", 1.234, "numpy")


def test_what_was_asked_is_held_against_the_value_or_the_ratio() -> None:
    assert (RATE.met, RATIO.met, PLAIN.met) == (True, False, True)


def test_the_table_shows_what_was_measured_asked_and_missed() -> None:
    head, rule, rate, ratio, plain = table([RATE, RATIO, PLAIN]).splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in (rate, ratio, plain)]
    assert cells == [
        ["unpack", "640 Mrecord/s", "0.50 x", "copy", ">= 500 Mrecord/s", "met"],
        ["pull", "480,000 word/s", "29.9 x", "one word a request", ">= 30.0 x", "NOT MET"],
        ["dating", "12.3 Mrecord/s", "1.23 x", "numpy", "", ""],
    ]
    assert len(head) == len(rule)


def test_the_median_leaves_out_the_first_call() -> None:
    calls = []
    ticks = iter([0, 7, 10, 11, 20, 25])  # after the first call: 7, 1 and 5 seconds
    assert median_s(lambda: calls.append(1), repeats=3, clock=lambda: float(next(ticks))) == 5
    assert len(calls) == 4


@pytest.mark.parametrize(("result", "code"), [(RATE, False), (RATIO, True)])
def test_a_script_fails_when_something_asked_is_not_met(
    result: BenchResult, code: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(lambda: [result])
    assert stopped.value.code is code
    assert result.name in capsys.readouterr().out
