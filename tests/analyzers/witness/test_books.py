"""Witnesses of flow control and of reads: what each says for or against a name of the eighteen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.witness.books import never_sent
from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain, View
from tests.analyzers.diagnosis.test_credit_faults import T0, US, waiting
from tests.analyzers.diagnosis.test_further_faults import resumed_wrongly


def saying(finding: Finding, witness: str) -> str:
    return next(str(each.says) for each in finding.witnesses if each.name == witness)


def test_credits_of_a_flow_that_arrive_under_another_ones_number_are_not_lost(
    explained: Explain,
) -> None:
    pair = waiting(25, 9)
    for n in range(9, 25):
        stray = 4 | 3 << 8 | 64 * (n + 1) << 16
        pair.event("A", T0 + n * US + 500_000, "CREDIT", "taken", stray, 3, 3)
    pair.account("A", 3, sent=0, credited=1600, limit=1024, received=0, freed=0, reported=0)
    finding = explained(pair).findings[0]
    assert (finding.diagnosis, finding.candidates[0]) == ("undetermined", "credit-lost")
    assert "Against it: A took a credit of flow 3 that tells 640 freed" in finding.text


def test_a_credit_that_was_taken_when_the_other_log_may_have_closed_contradicts_nothing(
    viewed: View,
) -> None:
    pair = waiting(0, 0)
    pair.credit(T0, 64, flow=5)
    pair.event("A", T0 + US, "CREDIT", "taken", 4 | 5 << 8 | 77 << 16 | 1 << 15, 5, 3)
    facts = Facts(viewed(pair))
    (account,) = [a for a in facts.accounts if (a.sender, a.flow) == ("A", 5)]
    log = facts.view.logs["B"]
    assert never_sent(facts, account, log, 0) == [77]
    late = replace(account.taken_credits, t_ps=account.taken_credits.t_ps + 1000 * US)
    assert never_sent(facts, replace(account, taken_credits=late), log, 0) == []


@pytest.mark.parametrize(
    ("arrives", "says"), [(True, "for"), (False, "against")], ids=["arrive", "are lost as well"]
)
def test_what_else_was_on_the_line_tells_lost_credits_from_a_line_that_was_down(
    explained: Explain, arrives: bool, says: str
) -> None:
    pair = waiting(25, 9)
    for n in range(12, 20):
        pair.credit(T0 + n * US + 300_000, 64 * n, flow=5, arrives=arrives)
    pair.account(
        "A",
        5,
        sent=2000,
        credited=1216 * arrives,
        limit=1024,
        received=2000,
        freed=1216,
        reported=1216,
    )
    told = [f for f in explained(pair).findings if "credit-lost" in (f.diagnosis, *f.candidates)]
    mine = next(finding for finding in told if finding.flow == 2)
    assert saying(mine, "line") == says
    assert mine.diagnosis == ("credit-lost" if arrives else "undetermined")


def miscounting(crossed: int, out: int) -> Pair:
    """Return a pair whose flows counted 480 words that B's rx_enq let through; so many left its FIFO."""
    pair = Pair(causes={"A": ["cross"], "B": ["rx-ovf"]})
    pair.traffic(10)
    for end in "AB":
        pair.set(end, "ctl.options", value=1)
        for tap in ("tx_enq", "rx_enq"):
            pair.counter(end, f"{tap}_packets", 10)
        pair.set(end, "frozen.next_seq_out", value=10)
        pair.set(end, "frozen.next_seq_in", value=10)
        for flow in range(8):
            pair.set(end, "frozen_flow.words_received", flow, value=0)
    pair.set("B", "frozen_flow.words_received", 1, value=480)
    for name, value in (("rx_enq_words", crossed), ("rx_deq_words", out), ("header_errors", 0)):
        pair.counter("B", name, value)
    return pair


def test_flows_that_miss_words_miscount_where_the_fifo_says_that_the_tap_does_not(
    explained: Explain,
) -> None:
    found = explained(miscounting(490, 490)).findings[0]
    assert found.diagnosis == "header-miscounted"
    assert saying(found, "tap_count") == "for"


def test_a_tap_that_neither_the_flows_nor_the_fifo_follow_counts_wrongly(
    explained: Explain,
) -> None:
    found = explained(miscounting(490, 480)).findings[0]
    assert found.diagnosis == "recorder-suspect"
    assert "frozen_counters.rx_enq_words (490), were it 480" in found.text


def test_a_read_that_went_on_with_exactly_what_was_left_did_not_go_wrong(
    explained: Explain,
) -> None:
    reads = [("posted", 40), ("requested", 40), ("disconnected", 29), ("requested", 29)]
    pair, _ = resumed_wrongly(reads)
    finding = explained(pair).findings[0]
    assert (finding.diagnosis, finding.candidates[0]) == ("undetermined", "split-retry-mishandled")
    assert (
        "Against it: A asked for exactly the words left, the one time a read was ended"
        in finding.text
    )
