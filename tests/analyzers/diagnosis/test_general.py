"""A specific name of the example card stands beside the general one that holds for any card."""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.witness.declared import shipped
from freezeframe.emulator.faults.registry import FAULTS
from tests.analyzers.bench_pair import Pair

DOCS = Path(__file__).parents[3] / "docs"
OF_WHOLE_PACKETS = {"packet-dropped", "packet-duplicated", "packets-reordered"}
"""General names that have no special case among the faults of the example card."""


def test_each_general_name_is_of_a_fault_of_the_card_and_stands_in_the_documentation() -> None:
    general = {name: fault.is_a for name, fault in shipped().items() if fault.is_a}
    assert shipped().keys() == set(FAULTS) - {"none"} | OF_WHOLE_PACKETS
    text = (DOCS / "diagnosis.md").read_text("utf-8").partition("## General names")[2]
    section = text.partition("\n## ")[0]
    for name in (*general, *general.values(), *OF_WHOLE_PACKETS):
        assert name in section


def test_a_finding_has_the_general_name_and_what_lies_before_its_tap(tmp_path: Path) -> None:
    pair = Pair()
    for words in pair.traffic(20)[11].from_tap("tx_deq"):
        del words[9]
    (finding,) = explain(pair.write(tmp_path / "pair.ff")).findings
    assert (finding.diagnosis, finding.general) == ("word-omitted", "beat-omitted")
    assert finding.place == "A's outgoing FIFO"
    assert finding.to_json()["general"] == "beat-omitted"
