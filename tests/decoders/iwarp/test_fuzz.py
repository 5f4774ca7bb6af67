"""Broken captures: a few hundred of the inputs of ``make fuzz-packets``, in this process."""

from __future__ import annotations

from tests.campaign.fuzz_packets import decode_input, execute, make_input


def test_no_broken_capture_makes_a_decoder_raise() -> None:
    outcome = execute(range(10**9, 10**9 + 150))
    assert outcome.wrong == []
    assert outcome.rows > 150


def test_an_input_is_a_matter_of_its_seed_and_so_is_what_comes_out() -> None:
    for seed in range(6):
        assert make_input(seed) == make_input(seed)
        assert decode_input(make_input(seed), False) == decode_input(make_input(seed), False)
