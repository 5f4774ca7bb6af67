"""VCD: literal text, and what pywellen and vcd2fst read in it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.run import export_file
from freezeframe.gui.export.vcd import write_vcd
from tests.capture.files.captures import real_capture
from tests.gui.export.material import golden_recording, recording, samples, small, tool, with_bus

STATE: dict[str, Any] = {
    "kind": "STATE",
    "source": "A.event_log",
    "event_source": "tx_dma",
    "code": "tx_dma",
}


def read(path: Path) -> dict[str, list[tuple[int, Any]]]:
    """Return the changes of each variable as pywellen reads them."""
    wave = import_module("pywellen").Waveform(str(path))
    assert str(wave.timescale) == "1ps"
    return {variable.full_name: list(variable.tv) for variable in wave.all_vars()}


def test_samples_become_wires_in_picoseconds_up_to_their_end(tmp_path: Path) -> None:
    wrote = write_vcd(samples(small()), tmp_path / "x.vcd")
    assert (tmp_path / "x.vcd").read_text() == (
        "$timescale 1 ps $end\n$version freezeframe $end\n$scope module logic $end\n"
        "$var wire 1 ! clk $end\n"
        '$var wire 1 " data_out $end\n'
        "$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n"
        '1!\n0"\n$end\n#1000000\n0!\n1"\n#2333333\n1!\n#2666666\n0!\n0"\n#4000000\n'
    )
    assert wrote.counts == {"edges": 4}
    assert wrote.notes == ["names that a VCD cannot have were changed: data out is data_out"]


def test_pywellen_reads_the_same_edges_from_pieces(tmp_path: Path) -> None:
    whole = small()
    first = replace(whole, sample=whole.sample[:2], value=whole.value[:2], end_sample=5)
    second = replace(whole, sample=whole.sample[2:], value=whole.value[2:], begin_sample=5)
    wrote = write_vcd(samples(first, second), tmp_path / "x.vcd")
    assert wrote.counts == {"edges": 4}
    assert read(tmp_path / "x.vcd") == {
        "logic.clk": [(0, 1), (1_000_000, 0), (2_333_333, 1), (2_666_666, 0)],
        "logic.data_out": [(0, 0), (1_000_000, 1), (2_666_666, 0)],
    }


def test_sixty_four_channels_of_equal_strange_names_stay_apart(tmp_path: Path) -> None:
    edges = replace(
        small(),
        channels=("ü",) * 64,
        value=np.array([0, 2**63, 2**64 - 1, 1], dtype=np.uint64),
    )
    write_vcd(samples(edges), tmp_path / "x.vcd")
    seen = read(tmp_path / "x.vcd")
    assert len(seen) == 64
    assert seen["logic._"] == [(0, 0), (2_333_333, 1)]
    assert seen["logic.__64"] == [(0, 0), (1_000_000, 1), (2_666_666, 0)]


def test_a_bus_stays_a_bus_and_dots_are_scopes(tmp_path: Path) -> None:
    names = ("addr[1]", "top.phy.clk", "addr[0]", "addr[2]", "addr[3]")
    write_vcd(samples(replace(with_bus(), channels=names)), tmp_path / "x.vcd")
    assert read(tmp_path / "x.vcd") == {
        "logic.addr": [(0, 0), (2_000, 0b1010), (5_000, 0b1111)],
        "logic.top.phy.clk": [(0, 0), (5_000, 1)],
    }


@pytest.mark.parametrize("name", [".", "a..b", ".a", "a."])
def test_a_name_with_dots_at_odd_places_is_one_name(name: str, tmp_path: Path) -> None:
    write_vcd(samples(replace(small(), channels=(name, "logic"))), tmp_path / "x.vcd")
    assert f"$var wire 1 ! {name} $end\n" in (tmp_path / "x.vcd").read_text()


def test_words_and_their_packet_are_shown_at_their_times(tmp_path: Path) -> None:
    wrote = write_vcd(golden_recording(), tmp_path / "x.vcd")
    assert wrote.counts == {"words": 5, "packets": 1, "states": 0, "intervals": 0}
    assert wrote.notes == []
    seen = {name: [c for c in tv if c[0]] for name, tv in read(tmp_path / "x.vcd").items()}
    times = [1_999 + 10_000 * i for i in range(5)]
    assert seen["A.tx_enq.slot"] == list(zip(times, range(5), strict=True))
    assert seen["A.tx_enq.data"] == list(
        zip(times, [0x30C5000700020301, 0x1000, 1, 2, 0xF6DDB9], strict=True)
    )
    assert seen["A.tx_enq.kind"] == [(1_999, "HEAD"), (21_999, "BODY"), (41_999, "TAIL")]
    assert seen["A.tx_enq.packet.type"] == [(1_999, "RDMA_WRITE"), (51_999, "")]
    assert seen["A.tx_enq.packet.flow"] == [(1_999, 3), (51_999, "z" * 7)]
    assert seen["A.tx_enq.packet.seq"] == [(1_999, 7), (51_999, "z" * 16)]


def test_what_is_not_known_of_a_packet_is_x(tmp_path: Path) -> None:
    write_vcd(golden_recording(flow=-1, seq=-1, length=-1), tmp_path / "x.vcd")
    seen = read(tmp_path / "x.vcd")
    assert seen["A.tx_enq.packet.flow"] == [(0, "x" * 7), (51_999, "z" * 7)]


def test_a_word_with_all_bits_set_is_not_negative(tmp_path: Path) -> None:
    word = {"t_ps": 5, "source": "B.rx_deq", "kind": "BODY", "slot": 9, "data": -1}
    write_vcd(recording(words=[word]), tmp_path / "x.vcd")
    assert read(tmp_path / "x.vcd")["B.rx_deq.data"][-1] == (5, 2**64 - 1)


def test_states_have_names_and_begin_with_the_one_that_was_left(tmp_path: Path) -> None:
    # value: new in bits 0-7, old in bits 8-15 (docs/formats.md section 4)
    events = [
        STATE | {"t_ps": 100, "value": 0x0001},  # idle -> fetch
        STATE | {"t_ps": 300, "value": 0x0106},  # fetch -> stopped
        STATE | {"t_ps": 400, "value": 0, "kind": "USER", "code": "1"},
    ]
    wrote = write_vcd(recording(events=events), tmp_path / "x.vcd")
    assert read(tmp_path / "x.vcd") == {
        "A.states.tx_dma": [(0, "idle"), (100, "fetch"), (300, "stopped")]
    }
    assert wrote.counts["states"] == 2
    assert wrote.notes == [
        "events that are no change of state, so not in the file (--to perfetto has them): 1"
    ]


def test_back_pressure_that_follows_itself_at_once_stays_one(tmp_path: Path) -> None:
    blocked = [
        {"t_ps": a, "t_end_ps": b, "source": "A.event_log", "kind": "PRESSURE", "flow": 4}
        for a, b in ((10, 20), (20, 30), (40, 40))
    ]
    wrote = write_vcd(recording(intervals=blocked), tmp_path / "x.vcd")
    assert read(tmp_path / "x.vcd") == {"A.blocked.flow4": [(0, 0), (10, 1), (30, 0)]}
    assert wrote.notes == ["intervals of no length, which cannot be shown: 1"]


def test_two_words_at_one_time_are_not_dropped_silently(tmp_path: Path) -> None:
    words = [
        {"t_ps": 5, "source": "A.tx_enq", "kind": "BODY", "slot": slot, "data": 7}
        for slot in (0, 1)
    ]
    wrote = write_vcd(recording(words=words), tmp_path / "x.vcd")
    assert wrote.notes == [
        "values at the time of another one of the same variable, of which a VCD shows the last "
        "alone: 1"
    ]
    assert read(tmp_path / "x.vcd")["A.tx_enq.slot"][-1] == (5, 1)


def test_vcd2fst_converts_samples_and_recordings_without_loss(tmp_path: Path) -> None:
    for name, material in (("s", samples(small())), ("r", golden_recording())):
        vcd, fst = tmp_path / f"{name}.vcd", tmp_path / f"{name}.fst"
        write_vcd(material, vcd)
        tool("vcd2fst", vcd, fst)
        assert read(fst) == read(vcd)


def test_a_real_capture_has_the_edges_that_sigrok_writes(tmp_path: Path) -> None:
    capture = real_capture("lan8720a_read_all_plugged.sr")
    export_file(capture, "vcd", tmp_path / "ours.vcd")
    tool("sigrok-cli", "-i", capture, "-O", "vcd", "-o", tmp_path / "theirs.vcd")
    theirs = import_module("pywellen").Waveform(str(tmp_path / "theirs.vcd"))
    assert str(theirs.timescale) == "100ps"
    for name, edges in (("MDC", 4097), ("MDIO", 369)):
        ours = read(tmp_path / "ours.vcd")[f"logic.{name}"]
        wanted = list(theirs[f"libsigrok.{name}"].tv)
        assert len(ours) == edges
        assert [value for _, value in ours] == [value for _, value in wanted]
        # sigrok rounds to the nearest 100 ps; ours is the whole picosecond below.
        assert all(abs(a - 100 * b) <= 51 for (a, _), (b, _) in zip(ours, wanted, strict=True))


def test_tables_of_other_decoders_are_refused_with_a_hint(tmp_path: Path) -> None:
    other = Material(Path("phy.sr"), tables=golden_recording().tables[:1])
    with pytest.raises(InputError, match=r"phy\.sr: nothing to export as vcd: .*--to perfetto"):
        write_vcd(other, tmp_path / "x.vcd")
    assert list(tmp_path.iterdir()) == []


def test_a_time_before_the_capture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"-1 ps, before the beginning .*--to csv"):
        write_vcd(golden_recording(t_ps=-1), tmp_path / "x.vcd")
