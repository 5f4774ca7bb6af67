"""The example network card, verilated as a pair with hosts in C++: packets arrive whole, and every fault strikes the
hardware way and is called by its right name (docs/faults.md; docs/formats.md sections 1 to 4).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.registers.layouts import Cause, PacketFlag, PacketType
from freezeframe.decoders.trace.decode import decode_capture
from tests.rtl.simulation import tool
from tests.rtl.verilated_pair import VerilatedPair, build

A, B = 0, 1 << 24
CAUSES = {  # first cause at the card that sees the fault: card, one of the causes (docs/faults.md)
    "word-omitted": ("B", {Cause.PAY_CRC, Cause.LENGTH}),
    "word-duplicated": ("B", {Cause.PAY_CRC, Cause.LENGTH}),
    "sync-fifo-empty": ("B", {Cause.PAY_CRC, Cause.HDR_CRC}),
    "lane-misaligned": ("B", {Cause.PAY_CRC, Cause.HDR_CRC, Cause.LENGTH}),
    "payload-bit-flip": ("B", {Cause.PAY_CRC}),
    "header-corrupted": ("B", {Cause.HDR_CRC}),
    "credit-corrupted": ("A", {Cause.CREDIT_PARITY}),
    "credit-lost": ("A", {Cause.CREDIT_STALL}),
    "wrap-unhandled": ("B", {Cause.RX_OVF}),
    "credit-start-too-large": ("B", {Cause.RX_OVF}),
    "clock-drift": ("B", {Cause.PAY_CRC, Cause.LENGTH}),
    "credit-too-optimistic": ("B", {Cause.RX_OVF}),
    "split-retry-mishandled": ("B", {Cause.LENGTH}),
}


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tool("verilator")
    tool("g++")
    return build(tmp_path_factory.mktemp("pair"))


def _value(device: Device, name: str, *indices: int) -> int:
    return device.read(name, *indices)


# -- traffic -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, 6])
def test_every_payload_word_arrives_once_in_order_and_at_its_address(
    bench: Path, seed: int
) -> None:
    with VerilatedPair(bench, "none", seed, limit_us=3000, messages=60) as pair:
        for sender, receiver in ("AB", "BA"):
            assert pair.result[sender]["posted"] == 60
            assert pair.result[receiver]["payload_words"] == pair.result[sender]["posted_words"]
            assert pair.result[receiver]["bad_words"] == 0
        assert not pair.result["frozen"]


def test_retried_and_disconnected_reads_lose_no_word_and_are_counted(bench: Path) -> None:
    with VerilatedPair(bench, "none", 6, limit_us=6000, messages=200) as pair:
        hosts = [pair.result[side] for side in "AB"]
        assert sum(host["retries"] for host in hosts) > 0
        assert sum(host["disconnects"] for host in hosts) > 0
        assert all(host["bad_words"] == 0 for host in hosts)
        pair.advance(400)  # a snapshot of the counters every 164 us
        for host, device in zip(hosts, open_devices(pair), strict=True):
            counters = device.counters().values
            assert counters["bus_retries"] == host["retries"]
            assert counters["bus_disconnects"] == host["disconnects"]
            assert counters["descriptors"] == host["posted"]
            assert counters["interrupts"] == host["interrupts"]
            assert counters["notifications"] == host["notes_local"] + host["notes_remote"]
            assert (
                counters["drops"] == counters["length_errors"] == counters["rx_fifo_overflows"] == 0
            )


def test_two_link_clocks_apart_are_corrected_in_the_gaps_on_both_lanes(bench: Path) -> None:
    # 100 ppm at most each: the faster receiver repeats idles, the slower one skips them, no word is touched.
    with VerilatedPair(bench, "none", 2, limit_us=3000) as pair:
        pair.advance(400)
        counters = [device.counters().values for device in open_devices(pair)]
        inserted = [counter["idles_inserted"] for counter in counters]
        removed = [counter["idles_removed"] for counter in counters]
        assert (inserted[0] > 0) != (inserted[1] > 0)
        assert (removed[0] > 0) == (inserted[1] > 0)
        assert (removed[1] > 0) == (inserted[0] > 0)
        assert pair.result["A"]["bad_words"] == pair.result["B"]["bad_words"] == 0


def test_a_frozen_pair_is_held_until_both_cards_are_armed_again_and_then_starts_anew(
    bench: Path,
) -> None:
    with VerilatedPair(bench, "payload-bit-flip", 1, limit_us=4000) as pair:
        a, b = open_devices(pair)
        assert pair.result["held"] == 1
        pair.write(A + 0x108, [0x4152 << 16 | 2])
        pair.advance(20)
        assert _value(a, "ctl.state") & 0x1F == 1 | 1 << 4  # armed, and held all the same
        pair.write(B + 0x108, [0x4152 << 16 | 2])
        pair.advance(10)
        assert _value(a, "ctl.state") & 0x1F == _value(b, "ctl.state") & 0x1F == 1
        pair.advance(2000)  # the fault strikes again in the second run
        assert _value(b, "ctl.causes") == 1 << Cause.PAY_CRC
        assert _value(b, "ctl.generation") == 2


def test_pattern_packets_and_the_injected_one_pass_all_taps(bench: Path) -> None:
    header = PacketType.RDMA_WRITE | PacketFlag.INJECTED << 4 | 3 << 16
    with VerilatedPair(bench, "none", 3, limit_us=300, messages=1) as pair:
        pair.write(A + 0x50C, [0xACE])  # seed
        pair.write(A + 0x508, [500])  # gap
        pair.write(A + 0x504, [1 | 0 << 8 | 16 << 16])
        pair.advance(100)
        pair.write(A + 0x504, [0])
        pair.write(A + 0x6000, [header, 0, 0x100, 0, 1, 0, 2, 0, 3, 0, 0, 0])  # no right CRC in it
        pair.write(A + 0x510, [6 << 16 | 1])
        pair.advance(
            900
        )  # 64 records after the cause, or 64 times 1,024 cycles of the slower clock
        a, b = open_devices(pair)
        assert _value(a, "provoke.inject_count") == 1
        assert (
            _value(b, "ctl.causes") == 1 << Cause.HDR_CRC
        )  # and nothing else: patterns are good packets
        assert _value(b, "frozen_counters.rx_deq_packets.lo") > 15


def test_a_card_in_loop_back_hears_itself_and_not_its_peer(bench: Path) -> None:
    with VerilatedPair(bench, "none", 3, limit_us=300, messages=1) as pair:
        pair.write(A + 0x518, [1])
        pair.advance(400)  # brought up anew, and a snapshot of the counters taken
        devices = open_devices(pair)
        before = [device.counters().values for device in devices]
        pair.write(A + 0x504, [1 | 16 << 16])  # pattern packets
        pair.advance(50)
        pair.write(A + 0x504, [0])
        pair.advance(400)
        after = [device.counters().values for device in devices]
    sent, heard_a, heard_b = (
        after[card][name] - before[card][name]
        for card, name in ((0, "tx_enq_packets"), (0, "rx_deq_packets"), (1, "rx_deq_packets"))
    )
    assert sent == heard_a > 15
    assert heard_b == 0
    assert after[0]["header_errors"] == after[0]["payload_errors"] == after[0]["drops"] == 0


@pytest.mark.parametrize("seed", [3, 6])
def test_every_interrupt_of_a_clean_card_has_a_completion_and_none_is_left_waiting(
    bench: Path, seed: int
) -> None:
    # A handler that takes in the very cycle in which the card counts the completion is the rare case.
    with VerilatedPair(bench, "none", seed, limit_us=6000, messages=60) as pair:
        hosts = [pair.result[side] for side in "AB"]
        assert [host["posted"] for host in hosts] == [60, 60]
        assert all(host["interrupts"] <= host["notes_remote"] for host in hosts)
        assert sum(host["interrupts"] for host in hosts) > 0
        pair.advance(800)  # a snapshot of the counters every 164 us
        counted = [device.counters().values["interrupts"] for device in open_devices(pair)]
        assert counted == [pair.result[side]["interrupts"] for side in "AB"]  # none since
        freeze(open_devices(pair)[0])
        pair.advance(900)
        for device in open_devices(pair):
            assert _value(device, "frozen.completions_waiting") == 0


def test_a_held_card_has_every_word_that_went_into_a_fifo_out_or_in_its_level(bench: Path) -> None:
    # The levels cross clock domains; the bank takes them when the counters of both domains have arrived.
    stood = 0
    for seed in (2, 3, 5, 8):
        with VerilatedPair(bench, "none", seed, limit_us=90 + 7 * seed) as pair:
            devices = open_devices(pair)
            freeze(devices[0])
            pair.advance(900)
            for device in devices:
                assert _value(device, "ctl.state") & 3 == 3
                for fifo in ("tx", "rx"):
                    into, out = (
                        _value(device, f"frozen_counters.{fifo}_{end}_words.lo")
                        for end in ("enq", "deq")
                    )
                    level = _value(device, f"frozen.{fifo}_level")
                    assert into == out + level, (seed, fifo)
                    stood += level
    assert stood > 0


def test_the_log_tells_of_every_read_when_it_had_the_bus_was_retried_and_ended_early(
    bench: Path, tmp_path: Path
) -> None:
    # docs/formats.md section 4: posting, posted, requested (retried, requested)*, started,
    # (disconnected, requested (retried, requested)*)*, done; length is what is still to be fetched.
    with VerilatedPair(bench, "none", 3, limit_us=5) as pair:
        pair.write(A + 0x138, [1 << 5])  # the event log takes DESC alone
        pair.advance(2500)
        pull(pair, tmp_path / "x.ff", freeze=True)
    events = decode_capture(CaptureFolder.open(tmp_path / "x.ff")).events
    told: dict[int, list[tuple[str, int]]] = {}
    chosen = events[(events["device"] == "A") & (events["kind"] == "DESC")]
    for code, value in zip(chosen["code"].tolist(), chosen["value"].tolist(), strict=True):
        told.setdefault(value >> 20 & 0xFFFF, []).append((str(code), value & 0x3FF))
    whole = [way for way in told.values() if (way[0][0], way[-1][0]) == ("posting", "done")]
    retried = "(?:retried requested )*"
    read = f"requested {retried}started (?:disconnected requested {retried})*"
    for way in whole:
        codes = "".join(f"{code} " for code, _ in way)
        assert re.fullmatch(f"posting posted (?:{read}|started )done ", codes), codes
        left = length = way[-1][1]
        for code, words in way:
            if code == "disconnected":
                assert 0 < words < left
                left = words
            elif code in ("requested", "retried"):
                assert words == left
            elif code != "posting":
                assert words == length
    seen = [code for way in whole for code, _ in way]
    assert len(whole) > 20
    assert "retried" in seen
    assert "disconnected" in seen


# -- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", CAUSES)
def test_a_fault_strikes_freezes_both_cards_and_is_called_by_its_name(
    bench: Path, tmp_path: Path, fault: str
) -> None:
    card, causes = CAUSES[fault]
    with VerilatedPair(bench, fault, 4, limit_us=8000) as pair:
        struck = pair.result
        assert struck["struck"] and struck["frozen"] and struck["held"]
        devices = dict(zip("AB", open_devices(pair), strict=True))
        first = _value(devices[card], "ctl.causes")
        other = _value(devices["B" if card == "A" else "A"], "ctl.causes")
        assert first and first & ~sum(1 << cause for cause in causes) == 0
        assert other == 1 << Cause.CROSS
        if fault == "sync-fifo-empty":
            lanes = [_value(devices["B"], "frozen.lane.underflows", lane) for lane in (0, 1)]
            assert lanes == [1 - struck["lane"], struck["lane"]]
        if fault == "clock-drift":
            slips = [
                [_value(devices["B"], f"frozen.lane.{kind}", lane) for lane in (0, 1)]
                for kind in ("underflows", "overflows")
            ]
            assert [lanes[0] - lanes[1] for lanes in slips] == [0, 0]
            assert [bool(lanes[0]) for lanes in slips].count(True) == 1
            idles = [f"frozen_counters.idles_{what}.lo" for what in ("inserted", "removed")]
            assert [_value(devices["B"], name) for name in idles] == [0, 0]
            assert sum(_value(devices["A"], name) for name in idles) > 0  # A corrects its own
        if fault == "credit-too-optimistic":
            flow = struck["flow"]
            sent, credited, limit = (
                _value(devices["A"], f"frozen_flow.{name}", flow)
                for name in ("words_sent", "credited", "limit")
            )
            assert (sent - credited) % (1 << 13) > limit
        if causes == {Cause.RX_OVF}:
            assert _value(devices["B"], "frozen_counters.rx_fifo_overflows.lo") > 0
        if fault == "credit-lost":
            flow = struck["flow"]
            freed = _value(devices["B"], "frozen_flow.freed", flow)
            assert freed != _value(devices["A"], "frozen_flow.credited", flow)
            assert _value(devices["A"], "frozen.stalled_flows") == 1 << flow
        pull(pair, tmp_path / "x.ff")
    finding = explain(CaptureFolder.open(tmp_path / "x.ff")).findings[0]
    assert finding.diagnosis == fault
    if fault in ("word-omitted", "word-duplicated", "payload-bit-flip", "clock-drift"):
        second_copy = int(fault == "word-duplicated")
        assert (finding.flow, finding.packet, finding.word) == (
            struck["flow"], struck["seq"], struck["word"] - 2 + second_copy,
        )  # fmt: skip


@pytest.mark.parametrize("seed", [1, 3])
def test_words_that_a_counter_leaves_out_are_missing_in_the_books_and_in_no_tap(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    # docs/faults.md, header-miscounted: at A the FIFO of B overflows, at B A is left without credit.
    with VerilatedPair(bench, "header-miscounted", seed, limit_us=8000) as pair:
        struck = pair.result
        assert struck["struck"] and struck["frozen"]
        a, b = open_devices(pair)
        flow, at_a = struck["flow"], struck["outgoing"]
        assert _value(b if at_a else a, "ctl.causes") == 1 << (
            Cause.RX_OVF if at_a else Cause.CREDIT_STALL
        )
        if not at_a:
            sent, received = (
                _value(card, f"frozen_flow.{name}", flow)
                for card, name in ((a, "words_sent"), (b, "words_received"))
            )
            assert 200 < sent - received < 1024
            level = _value(b, "frozen.rx_level")
            assert (received - _value(b, "frozen_flow.freed", flow)) % (1 << 13) == level
        pull(pair, tmp_path / "x.ff")
    finding = explain(CaptureFolder.open(tmp_path / "x.ff")).findings[0]
    assert finding.diagnosis == "header-miscounted"
    assert (finding.device, finding.flow) == (("A", None) if at_a else ("B", flow))


@pytest.mark.parametrize("seed", [2, 5])
def test_credits_in_lumps_let_a_wait_while_b_is_nearly_empty(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    # docs/faults.md, credit-too-coarse: nothing finds it, so the host freezes.
    with VerilatedPair(bench, "credit-too-coarse", seed, limit_us=400) as pair:
        assert pair.result["struck"] and not pair.result["frozen"]
        assert pair.result["A"]["bad_words"] == pair.result["B"]["bad_words"] == 0
        pull(pair, tmp_path / "x.ff", freeze=True)
        b = open_devices(pair)[1]
        assert _value(b, "frozen.rx_level") < 1024
        assert _value(b, "frozen_flow.words_received", pair.result["flow"]) > 4096
    finding = explain(CaptureFolder.open(tmp_path / "x.ff")).findings[0]
    assert (finding.diagnosis, finding.device) == ("credit-too-coarse", "B")
    assert finding.flow == pair.result["flow"]


@pytest.mark.parametrize("seed", [3, 5])
def test_a_clean_run_that_the_host_freezes_has_no_finding(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    with VerilatedPair(bench, "none", seed, limit_us=400) as pair:
        pull(pair, tmp_path / "x.ff", freeze=True)
    assert explain(CaptureFolder.open(tmp_path / "x.ff")).findings == []
