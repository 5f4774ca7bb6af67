"""The ledger over columns: sums, steps that wrap, and the most outstanding; one result from any grouping."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.credits.columns import (
    REFUSED,
    SENT,
    TAKEN,
    ColumnLedger,
    FlowLedger,
    LedgerBatch,
)

Event = tuple[int, int, int]
"""flow, event, value."""


def batch(events: Sequence[Event]) -> LedgerBatch:
    columns = np.array(events, np.int64).reshape(-1, 3)
    return LedgerBatch(
        columns[:, 0].astype(np.uint8),
        columns[:, 1].astype(np.uint8),
        columns[:, 2].astype(np.int32),
    )


def ledgers(events: Sequence[Event], credit_w: int = 6, flows: int = 3) -> list[FlowLedger]:
    ledger = ColumnLedger(flows, credit_w)
    return ledger.finish(ledger.step(ledger.init(), batch(events)))


def test_words_and_steps_of_credits_across_the_wrap_are_added_up() -> None:
    (found,) = ledgers([(1, TAKEN, 60), (1, SENT, 10), (1, TAKEN, 2), (1, SENT, 5)])
    assert found.flow == 1
    assert (found.words, found.credits, found.credited, found.step) == (15, 2, 6, 6)
    assert (found.first, found.last, found.net, found.peak, found.low) == (60, 2, 9, 10, 0)


def test_a_credit_twice_tells_nothing_new_and_one_that_goes_back_is_told() -> None:
    (found,) = ledgers([(0, TAKEN, 8), (0, TAKEN, 8), (0, TAKEN, 4), (0, TAKEN, 12)])
    assert (found.repeated, found.backward, found.credited) == (1, 1, 4)


def test_words_before_the_first_credit_are_not_taken_as_outstanding_beyond_it() -> None:
    (found,) = ledgers([(0, SENT, 20), (0, TAKEN, 8), (0, SENT, 3)])
    assert (found.words, found.net, found.peak) == (23, 3, 3)


def test_refused_credits_are_counted_and_change_no_account() -> None:
    (found,) = ledgers([(2, REFUSED, 40), (2, SENT, 1)])
    assert (found.refused, found.credits, found.first, found.last) == (1, 0, None, None)


def test_a_flow_that_the_card_does_not_have_is_counted_apart() -> None:
    ledger = ColumnLedger(2, 6)
    state = ledger.step(ledger.init(), batch([(2, SENT, 9), (1, SENT, 4)]))
    assert state.beyond == 1
    assert [f.words for f in ledger.finish(state)] == [4]


def test_nothing_gives_no_account() -> None:
    assert ledgers([]) == []


def test_columns_of_other_types_and_shapes_out_of_range_are_refused() -> None:
    ledger = ColumnLedger(2, 6)
    flow = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="flow uint8, event uint8, value int32, of one length"):
        ledger.step(ledger.init(), LedgerBatch(flow, flow, np.zeros(2, np.int32)))
    with pytest.raises(ValueError, match="of one length"):
        ledger.step(ledger.init(), LedgerBatch(flow, flow, np.zeros(3, np.int64)))
    for flows, width in ((0, 6), (129, 6), (2, 1), (2, 25)):
        with pytest.raises(ValueError, match="out of range"):
            ColumnLedger(flows, width)


def oracle(events: Sequence[Event], flow: int, modulus: int) -> tuple[int, ...] | None:
    """One flow by plain integers: words, credits, credited, repeated, backward, refused, net, peak, low."""
    mine = [(what, value) for f, what, value in events if f == flow]
    if not mine:
        return None
    words = sum(v for what, v in mine if what == SENT)
    credits = [v % modulus for what, v in mine if what == TAKEN]
    steps = [(b - a) % modulus for a, b in itertools.pairwise(credits)]
    signed = [step - modulus if step >= modulus // 2 else step for step in steps]
    net, nets, last = 0, [0], None
    for what, value in mine:
        if what == SENT and last is not None:
            net += value
        elif what == TAKEN:
            if last is not None:
                step = (value - last) % modulus
                net -= step - modulus if step >= modulus // 2 else step
            last = value % modulus
        nets.append(net)
    refused = sum(what == REFUSED for what, _ in mine)
    return (words, len(credits), sum(signed), steps.count(0), sum(s < 0 for s in signed), refused,
            net, max(nets), min(nets))  # fmt: skip


events = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from([SENT, TAKEN, TAKEN, REFUSED]), st.integers(0, 63)
    ),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(events, st.data())
def test_any_cut_and_any_grouping_give_what_plain_integers_give(
    found: list[Event], data: st.DataObject
) -> None:
    ledger = ColumnLedger(3, 6)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(found)), max_size=8)))
    parts = [
        ledger.step(ledger.init(), batch(found[a:b]))
        for a, b in itertools.pairwise([0, *cuts, len(found)])
    ]
    split = data.draw(st.integers(0, len(parts)))
    grouped = ledger.merge([ledger.merge(parts[:split]), ledger.merge(parts[split:])])
    whole = ledger.step(ledger.init(), batch(found))
    assert grouped.rows.tolist() == whole.rows.tolist()
    accounts = {f.flow: f for f in ledger.finish(grouped)}
    for flow in range(3):
        wanted = oracle(found, flow, 64)
        # Packets of no words and nothing else leave no account.
        assert (flow in accounts) == (wanted is not None and any((wanted[0], wanted[1], wanted[5])))
        if wanted is not None and flow in accounts:
            f = accounts[flow]
            assert (f.words, f.credits, f.credited, f.repeated, f.backward, f.refused, f.net, f.peak,
                    f.low) == wanted  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 60), st.integers(0, 60))
def test_cutting_a_healthy_stream_anywhere_shows_no_credit_backward(
    steps: int, first: int, length: int
) -> None:
    stream: list[Event] = []
    for i in range(steps):
        stream += [(0, SENT, 7), (0, TAKEN, (i + 1) * 7 % 64)]
    piece = stream[first : first + length]
    for account in ledgers(piece):
        assert (account.backward, account.repeated) == (0, 0)
        assert account.peak <= 7
