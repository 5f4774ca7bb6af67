"""``freezeframe card``: begun, checked, shown; every problem is a line, and nothing is overwritten unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.shipped import card_schema, shipped_cards
from tests.gui.cli import refusal, run_inside

OF_MAP_2 = sorted(set(shipped_cards()) - {"forth", "forth-regions", "forth-x4", "switch-c"})
# Clocks, what may happen on the path, the law that follows; of the others as of an Ethernet MAC with a FIFO.
MAC = (
    "0.1: 2 taps in 2 clock domains",
    "drops whole packets, counted by rx_dropped",
    "rx_in_packets - rx_out_packets - rx_dropped",
)
SAID = {
    "liteeth": (
        "0.1: 2 taps in 1 clock domain",
        "FCS stripped; 8 to 32 bits",
        "wire_packets - mac_packets",
    ),
    "interrupting": (
        "1.0: 1 tap in 1 clock domain",
        "rises of sample with came_count",
        "packets_come - packets_delivered - packets_ring_dropped - packets_queue_dropped",
    ),
    "pci-sci": ("1.0: 2 taps in 1 clock domain", "reorders", "ids_taken - ids_returned - ids_out"),
    "pci-sci-node": (
        "1.0: 2 taps in 1 clock domain",
        "blink_out -> mine:in",
        "packets_driven - peer.packets_accepted - peer.packets_refused - packets_under_way",
    ),
}


@pytest.mark.parametrize("name", OF_MAP_2)
def test_a_shipped_card_is_begun_from_checked_and_shown(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    begun = run_inside("card", "new", str(file), "--from", name)
    assert begun.code == 0
    clocks, happens, law = SAID.get(name, MAC)
    assert f"{file}: mine {clocks}," in begun.out
    assert run_inside("card", "check", str(file)).out == begun.out.splitlines()[0] + "\n"
    shown = run_inside("card", "show", str(file)).out
    assert happens in shown
    assert law in shown
    card = elaborate(read_card(file))
    document = json.loads(run_inside("card", "show", str(file), "--json").out)
    assert document["hash"] == f"{card.hash:016x}"
    assert [tap["memories"] for tap in document["taps"]] == [list(tap.lanes) for tap in card.taps]


def test_the_example_card_is_shown_with_its_laws_and_is_not_built(tmp_path: Path) -> None:
    file = shipped_cards()["forth"]
    said = run_inside("card", "check", str(file)).out
    assert f"{file}: forth 1.0: 4 taps in 2 clock domains, 5 trace memories of 81 KiB" in said
    assert said.endswith("12 causes, 32 counters, 29 logged sources, 31 laws; hash " + said[-17:])
    shown = run_inside("card", "show", str(file)).out.splitlines()
    row = next(line for line in shown if line.startswith("words_on_the_way "))
    assert "tx_deq_words - peer.rx_enq_words - peer.rx_fifo_overflows" in row
    assert row.split()[-2:] == ["-16..way.words", "own"]
    told = refusal("card", "build", str(file), "-o", str(tmp_path / "out"))
    assert "card build: forth has map = 1: its device is ff_quad" in told
    assert not (tmp_path / "out").exists()


def test_a_card_of_c_hooks_is_built_as_a_header_alone_and_has_no_registers_to_serve(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.toml"
    begun = run_inside("card", "new", str(file), "--from", "switch-c")
    said = "mine 1.0: C hooks alone, 2 logged sources, 4 causes; hash "
    assert begun.out.startswith(f"{file}: {said}")
    assert run_inside("card", "check", str(file)).out == begun.out.splitlines()[0] + "\n"
    shown = run_inside("card", "show", str(file)).out.splitlines()
    assert "3  bad_packet  the program's" in [line.strip() for line in shown]
    folder = tmp_path / "out"
    built = run_inside("card", "build", str(file), "-o", str(folder)).out.splitlines()
    assert built[1] == "2 files; mine_freezeframe.h for the program that records with the C hooks"
    assert sorted(path.name for path in folder.iterdir()) == ["card.json", "mine_freezeframe.h"]
    assert refusal("emulate", "--card", str(file)) == (
        f"freezeframe: {file}: card mine is of C hooks alone and has no registers to serve; its program's dump comes "
        "by freezeframe console\n"
    )


def test_a_card_of_a_name_that_none_can_have_is_not_written(tmp_path: Path) -> None:
    said = refusal("card", "new", str(tmp_path / "9x.toml"))
    assert "9x.toml (not written):6: card.name: '9x' is not text" in said
    assert not list(tmp_path.iterdir())


def test_every_problem_is_a_line_of_its_own_and_exits_2(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    run_inside("card", "new", str(file))
    text = file.read_text().replace('clock = "rx"', 'clock = "tx"', 1).replace("keep", "kep", 1)
    file.write_text(text)
    said = refusal("card", "check", str(file))
    assert said == f"freezeframe: {file}:27: unknown key 'kep' in tap.rx_in; did you mean keep?\n"
    file.write_text(text.replace("kep", "keep"))
    done = run_inside("card", "show", str(file))
    assert done.err == (
        f"freezeframe: {file}:25: tap rx_in: there is no clock 'tx'; there is bus, rx\n"
    )


def test_a_wire_that_no_verilog_can_have_is_told_by_check_already(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    run_inside("card", "new", str(file))
    file.write_text(file.read_text().replace('wire = "rx_drop"', 'wire = "always"'))
    assert refusal("card", "check", str(file)) == (
        "freezeframe: card mine: [counter.rx_dropped]: wire always is a word of SystemVerilog; give the port another "
        "name, for instance my_always\n"
    )


def test_what_is_there_stays_and_what_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    said = refusal("card", "new", str(file))
    assert said == f"freezeframe: {file}: exists already; --force replaces it\n"
    assert file.read_text() == "mine"
    assert run_inside("card", "new", str(file), "--force").code == 0
    done = run_inside("card", "new", str(tmp_path / "x.toml"), "--from", "ethernet-axis-65")
    assert "no card of that name ships; did you mean ethernet-axis-64?" in done.err
    assert "name the card file" in run_inside("card", "check").err
    assert "there is no such file" in run_inside("card", "check", str(tmp_path / "none.toml")).err
    said = refusal("card", "new", str(tmp_path / "none" / "a.toml"))
    assert said == f"freezeframe: {tmp_path / 'none'}: there is no such folder; make it first\n"


def test_a_card_that_ships_is_shown_built_and_compared_by_its_name(tmp_path: Path) -> None:
    assert run_inside("card", "check", "liteeth").out.startswith("liteeth: liteeth ")
    assert run_inside("card", "show", "switch-c").code == 0
    assert run_inside("card", "build", "switch-c", "-o", str(tmp_path / "out")).code == 0
    assert run_inside("card", "diff", "liteeth", "liteeth").code == 0


def test_memories_that_no_fpga_can_hold_are_told_and_the_card_is_still_one(tmp_path: Path) -> None:
    """64 taps of 16 lanes of 65,536 records take 128 block RAMs each lane; a fifth of them is below 1 Gbit."""
    head = 'schema = 1\n[card]\nname = "big"\n[clock.bus]\nhz = 100_000_000\nregisters = true\n'
    tap = '[tap.t{}]\nkind = "words"\nclock = "bus"\nbits = 1024\ndepth = 65536\n'
    file = tmp_path / "big.toml"
    file.write_text(head + "".join(tap.format(n) for n in range(15)))
    told = "; its trace memories take 30,720 block RAMs of 36 Kbit, more than any FPGA has: give taps less depth, or "
    done = run_inside("card", "check", str(file))
    assert (done.code, done.err) == (0, "")
    assert told in done.out
    file.write_text(head + "".join(tap.format(n) for n in range(14)))
    assert "block RAMs" not in run_inside("card", "check", str(file)).out


def test_the_schema_names_every_table_and_editors_can_read_it() -> None:
    document = json.loads(run_inside("card", "schema").out)
    assert document == json.loads(json.dumps(card_schema()))
    tables = document["$defs"]["CardFile"]["properties"]
    assert {"card", "clock", "tap", "path", "cause", "law", "transport"} <= set(tables)
    assert document["$defs"]["Tap"]["additionalProperties"] is False
    assert document["$defs"]["Tap"]["required"] == ["kind", "clock"]
    over = document["$defs"]["CardFile.extending"]
    assert (document["if"], over["properties"].keys()) == ({"required": ["extends"]}, tables.keys())
    assert "required" not in json.dumps(
        {n: d for n, d in document["$defs"].items() if n.endswith(".extending")}
    )
