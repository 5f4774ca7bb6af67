"""Profiles: the FORTH numbers, and every mistake in a profile named."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.profile_files import named_card, profile_file, profile_names

FORTH = Path(__file__).parents[2] / "emulator" / "profiles" / "forth.toml"


def test_forth_holds_the_numbers_of_the_paper() -> None:
    forth = load_profile("forth")
    assert (forth.clocks_bus_hz, forth.clocks_link_hz) == (100_000_000, 78_125_000)
    assert forth.fifo_message_words * 8 == 4096
    assert (forth.bus_split_min_cycles, forth.bus_split_max_cycles) == (45, 60)
    mean_split = (forth.bus_split_min_cycles + forth.bus_split_max_cycles) / 2
    overhead = forth.bus_overhead_cycles + mean_split + forth.bus_completion_cycles
    assert 64 <= overhead <= 66  # 8 + 57
    assert round(512 / (512 + overhead), 2) == 0.89
    assert (forth.trace_tap_depth, forth.fifo_tx_words, forth.fifo_rx_words) == (2048, 1024, 2048)
    assert (forth.credit_w, forth.credit_share_words) == (13, 1024)
    assert profile_names() == [
        "forth", "forth-coarse", "forth-combining", "forth-fine", "forth-pci66", "forth-regions",
        "forth-uncombined", "forth-x4",
    ]  # fmt: skip


def test_a_profile_names_its_card_file_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert named_card(profile_file("forth-coarse")) == "forth"
    assert named_card(profile_file("pci-sci")) == "pci-sci"
    assert named_card(profile_file("cim250")) == ""
    for base, load in (("forth", load_profile), ("rdma-pair", load_adapter)):
        path = tmp_path / f"{base}.toml"
        path.write_text(f'extends = "{base}"\ncard = "fort"\n')
        with pytest.raises(InputError) as refused:
            load(str(path))
        assert str(refused.value).startswith(
            f"{path}:2: card = 'fort': no such file, and none of the cards"
        )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "rx_words = 2048",
            "rx_wrods = 2048",
            r"unknown key fifo\.rx_wrods; \[fifo\] has tx_words",
        ),
        ("[link]", "[lnik]", r"unknown key lnik\.latency_ps"),
        ("tx_words = 1024", "", r"missing fifo\.tx_words"),
        (
            "rx_words = 2048",
            "rx_words = -1",
            r"fifo\.rx_words = -1; it must be a whole number 16\.\.",
        ),
        (
            "rx_words = 2048",
            "rx_words = 20.5",
            r"fifo\.rx_words = 20\.5; it must be a whole number",
        ),
        ("rx_words = 2048", "rx_words = true", r"fifo\.rx_words = True; it must be a whole number"),
        ("event_fifo = 32", "event_fifo = 24", r"event_fifo = 24; it must be a power of two"),
        ('mode = "quad"', 'mode = "both"', r"trace\.mode = 'both'; it must be one of quad, select"),
        ("tx_words = 1024", "tx_words = 2048", r"more than half of trace\.tap_depth = 2048"),
        ("tx_words = 1024", "tx_words = 500", r"cannot hold a whole message of 515 words"),
        ("active = 2", "active = 9", r"flows\.active = 9 is more than flows\.count = 8"),
        (
            "active = 2",
            "active = 4",
            r"share of the incoming FIFO \(512 words\).*it would stall for ever",
        ),
        (
            "split_min_cycles = 45",
            "split_min_cycles = 61",
            r"is more than bus\.split_max_cycles = 60",
        ),
        (
            "chunk_records = 256",
            "chunk_records = 300",
            r"must be 1\.\.64 whole chunks of 300 records",
        ),
        ("[clocks]", "clocks = 3\n[x]", r"unknown key 'clocks'; keys stand in the sections"),
        ("[clocks]", "[clocks", r"mine\.toml:\d+: no TOML"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    text = FORTH.read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=says):
        load_profile(str(path))


def test_a_profile_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(InputError, match=r"profile 'fourth' does not exist; there are .*forth"):
        load_profile("fourth")


def test_two_profiles_that_differ_are_two_builds(tmp_path: Path) -> None:
    path = tmp_path / "forth.toml"
    path.write_text(FORTH.read_text().replace("credit_unit_words = 64", "credit_unit_words = 65"))
    assert load_profile(str(path)).digest != load_profile("forth").digest


def test_a_profile_takes_what_it_does_not_give_from_the_one_it_extends(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "forth-combining"\n[flows]\ncredit_unit_words = 100\n')
    profile = load_profile(str(own))
    base = load_profile("forth-combining")
    assert (profile.name, profile.flows_credit_unit_words) == ("own", 100)
    assert profile.host_combining_words == base.host_combining_words == 8
    assert profile.fifo_rx_words == 2048
    assert profile.digest != base.digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("extends = 3", r"own\.toml:1: extends = 3: name a profile that ships, or the path"),
        (
            'extends = "nowhere"',
            r"own\.toml:1: extends = 'nowhere': no profile of that name ships; there is .*forth-coarse, ",
        ),
        (
            'extends = "own.toml"',
            r"extends = 'own\.toml': goes round: .*own\.toml extends .*own\.toml",
        ),
        (
            'extends = "forth"\n[regions]',
            r"own\.toml:2: 'regions' has nothing in it, which takes away",
        ),
        (
            'extends = "forth"\n[bus]\nwrite_cycles = 0',
            r"bus\.write_cycles = 0; it must be a whole",
        ),
        (
            'extends = "forth"\n[host]\ncombining_words = 6',
            r"combining_words = 6 must hold whole descriptors of 4 words, or be 0",
        ),
        ('extends = "forth"\nbus = 3', r"unknown key 'bus'; keys stand in the sections"),
    ],
)
def test_mistakes_in_extending_are_named(tmp_path: Path, text: str, says: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(InputError, match=says):
        load_profile(str(own))
