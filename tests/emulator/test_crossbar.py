"""A switch between the emulated cards: every word passes it, is counted at its ports, and its faults strike there."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import Cause, CreditCode, Kind, Memory
from freezeframe.emulator.crossbar import Counts
from freezeframe.emulator.target import EmulatorTarget
from tests.emulator.reading import Card, Packet, arm, causes, freeze, packets_of

US = 1_000_000
SWITCH = "switch-pair"
FAULTS = ("switch-word-lost", "switch-word-altered", "switch-credit-held", "switch-wrong-port")


def run(
    fault: str = "none", seed: int = 3, load: str | None = "medium", through: str = SWITCH
) -> tuple[EmulatorTarget, Card, Card]:
    """Run until the cards froze by themselves, or for 400 us; what is on its way arrives."""
    target = EmulatorTarget(
        fault=fault, seed=seed, load=load, through=through, access_ps=0, nonce=1
    )
    limit = 400 if fault == "none" else 40_000
    if not target.run_until_frozen(limit * US):
        for number in (0, 1):
            freeze(Card(target, number))
        assert target.run_until_frozen(3_000 * US)
    target.advance(2_000 * US)
    return target, Card(target, 0), Card(target, 1)


def counts(target: EmulatorTarget) -> list[Counts]:
    assert target.pair.crossbar is not None
    return target.pair.crossbar.counts


def sent(card: Card) -> int:
    """Words that a card put on its link."""
    return card.counter("tx_deq_words") + card.counter("credits_sent")


def _bits(packet: Packet) -> tuple[int, ...]:
    return packet.header, packet.address, *packet.payload, packet.tail


@pytest.mark.parametrize("load", ["light", "medium", "saturating"])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_card_sends_comes_into_its_port_and_leaves_by_the_other(
    seed: int, load: str
) -> None:
    target, a, b = run(seed=seed, load=load)
    at_a, at_b, *others = counts(target)
    assert (at_a.words_in, at_b.words_in) == (sent(a), sent(b))
    assert (at_b.words_out, at_a.words_out) == (sent(a), sent(b))
    assert (at_a.told, at_b.told) == (sent(a), sent(b))
    assert at_a.packets_in == at_b.packets_out > 0
    assert (at_a.bad_in, at_a.bad_out, at_b.bad_in, at_b.bad_out) == (0, 0, 0, 0)
    assert {sum(astuple(port)) for port in others} == {0}
    assert target.pair.crossbar is not None
    assert [target.pair.crossbar.standing(way) for way in ((0, 1), (1, 0))] == [0, 0]


def test_a_word_takes_a_second_link_and_the_switch_s_time_longer() -> None:
    """320 ns of link, a cycle into the switch and 12 through it, where a cable has none of them; one workload, whose
    only packet finds everything free. The receiver's clock takes words at its own edges: a cycle either way.
    """
    arrived = []
    for through in (None, SWITCH):
        target = EmulatorTarget(workload="single-8B", seed=5, through=through, access_ps=0, nonce=1)
        target.advance(30 * US)
        a, b = target.pair.nics
        first = (a.taps[Memory.TX_DEQ].words.when(1), b.taps[Memory.RX_ENQ].words.when(1))
        assert None not in first
        arrived.append(b.link.edge_ps(first[1] or 0) - a.link.edge_ps(first[0] or 0))
    assert arrived[1] - arrived[0] == pytest.approx(320_000 + 13 * 12_800, abs=12_900)


def test_packets_arrive_in_order_and_whole_and_credits_are_taken() -> None:
    _, a, b = run(load="saturating")
    words = [_bits(packet) for packet in packets_of(a.words(Memory.TX_DEQ))]
    heard = [_bits(packet) for packet in packets_of(b.words(Memory.RX_ENQ))]
    common = [packet for packet in words if packet in heard]
    assert len(common) > 3
    assert [packet for packet in heard if packet in common] == common
    assert b.counter("credits_sent") > 0
    assert len(a.events(Kind.CREDIT, CreditCode.TAKEN)) > 0


def test_the_same_seed_is_the_same_run() -> None:
    first, second = (run("switch-word-lost", seed=4) for _ in range(2))
    assert first[2].memory_bytes(Memory.RX_ENQ) == second[2].memory_bytes(Memory.RX_ENQ)
    assert counts(first[0]) == counts(second[0])


def test_a_word_that_the_switch_loses_came_in_and_did_not_leave() -> None:
    target, a, b = run("switch-word-lost")
    at_a, at_b, *_ = counts(target)
    assert at_a.words_in - at_b.words_out == 1
    assert (at_a.bad_in, at_b.bad_out) == (0, 1)
    assert Cause.PAY_CRC in causes(b)
    (injection,) = target.pair.truth.injections
    assert (injection.device, injection.tap, injection.direction) == ("A", "rx_enq", "A->B")
    assert injection.detail == {"input": 0, "output": 1, "left_by": 1}
    assert injection.word is not None
    good = next(p for p in packets_of(a.words(Memory.TX_DEQ)) if p.seq == injection.packet)
    bad = next(p for p in packets_of(b.words(Memory.RX_ENQ)) if p.seq == injection.packet)
    assert bad.header == good.header
    assert bad.payload == good.payload[: injection.word] + good.payload[injection.word + 1 :]


def test_a_word_that_the_switch_alters_left_damaged_and_came_in_right() -> None:
    target, _, b = run("switch-word-altered")
    at_a, at_b, *_ = counts(target)
    assert (at_a.words_in, at_a.bad_in, at_b.bad_out) == (at_b.words_out, 0, 1)
    assert Cause.PAY_CRC in causes(b)


def test_a_credit_that_the_switch_holds_stops_the_sender() -> None:
    target, a, _ = run("switch-credit-held")
    at_a, at_b, *_ = counts(target)
    assert (at_a.words_in, at_a.words_out) == (at_b.words_out, at_b.words_in)
    assert 1024 - 515 < at_a.words_in - at_a.told <= 1024
    assert (at_b.words_in, sent(a)) == (at_b.told, at_a.words_in)
    assert causes(a) == {Cause.CREDIT_STALL}


@pytest.mark.parametrize("seed", [1, 15, 23])
def test_a_packet_that_leaves_by_a_wrong_port_is_counted_there(seed: int) -> None:
    """With seed 23 it leaves by A's own, where it waits for a packet of B while later ones of A overtake it."""
    target, _, _ = run("switch-wrong-port", seed=seed)
    ports = counts(target)
    (injection,) = target.pair.truth.injections
    wrong = ports[injection.detail["left_by"]]
    lost = ports[0].words_in - ports[1].words_out
    back = ports[1].words_in if injection.detail["left_by"] == 0 else 0
    assert ports[0].packets_in - ports[1].packets_out == 1
    assert wrong.words_out - back == lost >= 3


def test_a_pair_that_is_armed_again_goes_on_through_the_switch() -> None:
    target, a, b = run()
    before = [astuple(port) for port in counts(target)]
    for card in (a, b):
        arm(card)
    target.advance(100 * US)
    at_a, at_b, *_ = counts(target)
    assert at_a.packets_in > before[0][3]
    assert at_b.packets_out > before[1][4]


def test_in_loop_back_nothing_passes_the_switch() -> None:
    target, a, b = run()
    for card in (a, b):
        card.write("provoke.link", 1)
        arm(card)
    before = [astuple(port) for port in counts(target)]
    target.advance(100 * US)
    assert [astuple(port) for port in counts(target)] == before
    assert target.pair.loopback


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_switch_needs_one(fault: str) -> None:
    with pytest.raises(
        InputError, match=rf"^fault {fault} is of the switch between the cards: name"
    ):
        EmulatorTarget(fault=fault)


@pytest.mark.parametrize(
    ("through", "profile", "message"),
    [
        ("switch", "forth", r"128 words cannot hold the longest packet of profile forth, 515 words"),
        ("switch-pair", "forth-x4", r"a word takes 12\.8 ns at an output; the link of profile forth-x4 takes 6\.4 ns"),
        ("cim250", "forth", "is no switch"),
        ("forth", "forth", "profile forth is a card down to its cycles"),
        ("nothing", "forth", "profile 'nothing' does not exist"),
    ],
)  # fmt: skip
def test_a_switch_that_does_not_fit_is_refused(through: str, profile: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EmulatorTarget(profile, through=through)


def test_a_monitor_without_a_switch_and_a_place_that_cannot_be_written_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="a monitor is of a switch between the cards"):
        EmulatorTarget(monitor="pty")
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        EmulatorTarget(through=SWITCH, monitor=str(tmp_path))


def test_what_the_monitor_prints_is_what_the_ports_counted(tmp_path: Path) -> None:
    """The counts pass the C hooks and their console, which share nothing with the switch."""
    from freezeframe.capture.console.lines import LineSplitter, parse
    from freezeframe.capture.console.switch import ReportReader

    file = tmp_path / "console.txt"
    target = EmulatorTarget(seed=3, through=SWITCH, monitor=str(file), access_ps=0, nonce=1)
    for number in (0, 1):
        freeze(Card(target, number))
    target.advance(3_000 * US)
    reader = ReportReader()
    lines = [parse(text) for text in LineSplitter().feed(file.read_bytes())]
    reports = [r for line in lines if line is not None and (r := reader.feed(line)) is not None]
    assert len(reports) == (target.now_ps - 10 * US - 1) // (250 * US)  # from power-up on
    last, ports = reports[-1], counts(target)
    for number, port in enumerate(ports[:2]):
        assert last.port(number)._asdict() == {
            name: getattr(port, name) for name in last.port(number)._fields
        }
    assert set(last.ports) == {0, 1}
    assert last.packets == ports[0].packets_out + ports[1].packets_out
    assert set(last.crosspoints.values()) == {0}
