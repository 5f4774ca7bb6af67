"""What to measure next is one line for a shell, complete with address and paths where the capture says them.

Source: docs/diagnosis.md, "What to measure next".
"""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.explain import explain
from tests.analyzers.bench_pair import Pair
from tests.analyzers.damage import alter
from tests.analyzers.diagnosis.test_word_faults import PAY, busy

CARD = "etherbone://192.0.2.7"


def open_question(causes: dict[str, list[str]], source: str = CARD) -> Pair:
    """Return a pair with words swapped on the link: nothing that a known fault makes."""
    pair, hit = busy(causes=causes)
    pair.source = source
    for place in (7, 8, 9):
        alter(hit, "rx_enq", place, 0x1234_5678_9ABC_DEF1 * place & (1 << 64) - 1)
    return pair


def next_of(pair: Pair, path: Path, captured: str = "AB", devices: str = "") -> str:
    folder = pair.write(path, captured)
    return explain(folder, list(devices) or None).findings[0].next


def test_of_one_end_both_are_pulled_from_where_it_came(tmp_path: Path) -> None:
    said = next_of(open_question(PAY), tmp_path / "case.ff", captured="B")
    assert said == f"freezeframe pull {CARD} -o {tmp_path}/case-both.ff"


def test_of_a_card_that_is_a_target_of_its_own_the_other_end_is_another_target(
    tmp_path: Path,
) -> None:
    pair = open_question(PAY)
    pair.apart = True
    said = next_of(pair, tmp_path / "case.ff", captured="B")
    assert said == f"freezeframe pull {CARD} TARGET-OF-OTHER-END -o {tmp_path}/case-both.ff"


def test_a_capture_that_holds_both_ends_is_explained_whole(tmp_path: Path) -> None:
    said = next_of(open_question(PAY), tmp_path / "case.ff", devices="B")
    assert said == f"freezeframe explain {tmp_path}/case.ff"


def test_a_capture_with_holes_is_pulled_again(tmp_path: Path) -> None:
    pair = open_question(PAY)
    pair.gaps["A", "tx_enq"] = [(0, 4)]
    said = next_of(pair, tmp_path / "case.ff")
    assert said == f"freezeframe pull {CARD} -o {tmp_path}/case-again.ff"


def test_a_fault_that_freezes_the_card_is_waited_for(tmp_path: Path) -> None:
    said = next_of(open_question(PAY), tmp_path / "case.ff")
    assert said == (
        f"freezeframe arm {CARD} && freezeframe pull {CARD} -o {tmp_path}/case-next.ff --wait 3600"
    )


def test_a_fault_that_freezes_nothing_is_frozen_by_hand(tmp_path: Path) -> None:
    said = next_of(open_question({"A": ["host"], "B": ["host"]}), tmp_path / "case.ff")
    assert said.endswith("case-next.ff --wait 1 --freeze")


def test_a_memory_full_of_what_came_after_the_cause_is_to_keep_less_of_it(tmp_path: Path) -> None:
    pair = open_question(PAY)
    pair.depth = 256
    for memory in range(5):
        pair.set("B", "ctl.post", memory, value=128 if memory == 2 else 64)
    said = next_of(pair, tmp_path / "case.ff")
    assert said.startswith(
        f"freezeframe reg {CARD} --device B 'ctl.post[2]=16' && freezeframe arm {CARD} && "
    )


def test_paths_and_addresses_are_words_of_a_shell(tmp_path: Path) -> None:
    said = next_of(open_question(PAY, "pci:a b"), tmp_path / "a case.ff", captured="A")
    assert said == f"freezeframe pull 'pci:a b' -o '{tmp_path}/a case-both.ff'"


def test_an_emulated_pair_is_gone_with_its_process_and_is_left_open(tmp_path: Path) -> None:
    said = next_of(open_question(PAY, "emu:"), tmp_path / "case.ff", captured="B")
    assert said == f"freezeframe pull TARGET -o {tmp_path}/case-both.ff"
