"""PCI and PCI-X in sigrok-cli: the same phases and transactions, at the same samples, as the native decoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.bus.pci import PCI
from freezeframe.decoders.bus.pcix import PCIX
from freezeframe.decoders.contract import Decoder
from tests.decoders.bus import pci_model, pcix_model
from tests.decoders.bus.lines import Capture, Lines
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

FOLDER = Path(__file__).parents[3] / "decoders" / "sigrok"
SIGNALS = ["clk", "frame", "irdy", "trdy", "devsel", "stop", "par"]
SIGNALS += [f"cbe{bit}" for bit in range(4)] + [f"ad{bit}" for bit in range(32)]


def connected(clocks: Sequence[Lines], decoder: Decoder) -> Edges:
    channels = [channel.id for channel in decoder.channels]
    return Capture(clocks).edges(channels, [name for name in channels if name not in SIGNALS])


def ours(edges: Edges, decoder: Decoder, kinds: Mapping[str, Sequence[str]]) -> list[Annotation]:
    """Return the rows of these kinds of each table, in their normal text."""
    options = decoder.option_values()
    made = decoder.decode(edges, options, decoder.new_state(options), True)
    assert decoder.texts is not None
    return [
        Annotation(row["sample"], row["end_sample"], decoder.texts(row).normal)
        for table, wanted in kinds.items()
        for row in made[table].to_pylist()
        if row["kind"] in wanted
    ]


def theirs(
    edges: Edges, decoder: str, rows: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Annotation]:
    monkeypatch.setenv("SIGROKDECODE_DIR", str(FOLDER))
    there = [name or None for name in edges.channels]
    write_sr(edges.select([name for name in there if name]), path)
    probes = "".join(f":{name}={name.upper()}" for name in SIGNALS)
    return sigrok_annotations(path, decoder + probes, f"{decoder}={rows}")


@pytest.mark.parametrize("seed", range(4))
def test_pci_says_in_sigrok_what_the_native_decoder_says(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = connected(pci_model.random_traffic(seed, 25).drawn(), PCI)
    for tables, rows in (
        ({"pci.transactions": ["transaction"]}, "transaction"),
        ({"pci.phases": ["address", "data"]}, "address:data"),
    ):
        native = ours(edges, PCI, tables)
        assert len(native) > 20
        assert theirs(edges, "pci", rows, tmp_path / "bus.sr", monkeypatch) == native


@pytest.mark.parametrize("seed", range(4))
def test_pcix_says_in_sigrok_what_the_native_decoder_says(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = connected(pcix_model.random_traffic(seed, 15).drawn(), PCIX)
    for tables, rows in (
        ({"pcix.transactions": ["transaction"]}, "transaction"),
        ({"pcix.phases": ["address", "attribute", "data"]}, "address:attribute:data"),
    ):
        native = ours(edges, PCIX, tables)
        assert len(native) > 15
        assert theirs(edges, "pcix", rows, tmp_path / "bus.sr", monkeypatch) == native
    # Of a split the native text is short where its message is an error.
    native = ours(edges, PCIX, {"pcix.splits": ["split"]})
    assert native
    assert set(native) <= set(theirs(edges, "pcix", "split", tmp_path / "bus.sr", monkeypatch))


@pytest.mark.parametrize("decoder", [PCI, PCIX], ids=["pci", "pcix"])
def test_a_wrong_par_is_an_error_in_both(
    decoder: Decoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traffic: Any = {"pci": pci_model, "pcix": pcix_model}[decoder.id].random_traffic(1, 5)
    clocks = traffic.drawn()
    for number in (4, 5):  # after the address phase of the first transaction, and a clock later
        clocks[number] = Lines(
            **{name: getattr(clocks[number], name) for name in Lines.__dataclass_fields__}
            | {"par": 1 - clocks[number].par}
        )
    edges = connected(clocks, decoder)
    kinds = {f"{decoder.id}.transactions": ["error"]}
    native = [row.text for row in ours(edges, decoder, kinds)]
    native = [text for text in native if text.endswith("parity")]
    said = theirs(edges, decoder.id, "error", tmp_path / "bus.sr", monkeypatch)
    assert native[0] == "address-parity"
    assert [row.text for row in said] == native
