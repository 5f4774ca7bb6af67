"""Profiles of cards down to their cycles: the numbers that make one card out of the emulator's parts, checked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.shipped import card_place
from freezeframe.capture.card.tables import Header
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.map_forms import (
    EXAMPLE,
    LANE_COUNTS,
    Form,
    form_of,
    map_hash_for,
)
from freezeframe.emulator.profile_files import (
    ProfileFile,
    named_card,
    profile_file,
    profile_names,
)

MOST_SKEW_CYCLES = 7
"""Columns that a lane may be behind another and still be joined with it (docs/formats.md section 3.1, rule 4)."""

HANDLE_BITS, OFFSET_BITS = 8, 24
"""Of the 32-bit destination of a card with regions: the handle above, the offset in bytes below (ours)."""

DESCRIPTOR_WORDS = 4
"""32-bit words of a descriptor."""

_POWERS_OF_TWO = ("trace.tap_depth", "trace.event_depth", "trace.event_fifo")


def _within(low: int, high: int) -> Any:
    """Declare a whole number of the TOML file with what is allowed, both ends included."""
    return field(metadata={"within": (low, high)})


def _absent(low: int, high: int, value: int) -> Any:
    """Declare a whole number that may be left out, as `_within`; ``value`` is then the same as nothing said.

    What has that value does not enter the digest: a card without the part keeps the build hash it has.
    """
    return field(default=value, kw_only=True, metadata={"within": (low, high), "absent": value})


def _among(*texts: str) -> Any:
    """Declare a text of the TOML file with what is allowed."""
    return field(metadata={"among": texts})


@dataclass(frozen=True, slots=True)
class Profile:
    """One adapter. The unit of a number is the end of its name; fields are ``section_key`` of the TOML file.

    What the register map and its windows can hold bounds the trace section.
    """

    name: str
    description: str
    digest: int  # first 32 bits of the SHA-256 over the values: the device's build hash

    clocks_bus_hz: int = _within(1_000_000, 1_000_000_000)
    clocks_link_hz: int = _within(1_000_000, 1_000_000_000)
    clocks_deviation_ppm: int = _within(0, 1000)

    bus_overhead_cycles: int = _within(1, 1000)
    bus_split_min_cycles: int = _within(0, 10_000)
    bus_split_max_cycles: int = _within(0, 10_000)
    bus_split_block_words: int = _within(0, 512)
    bus_completion_cycles: int = _within(2, 1000)
    bus_outstanding_reads: int = _within(1, 16)
    bus_write_cycles: int = _within(1, 1000)
    bus_burst_overhead_cycles: int = _within(1, 1000)
    bus_write_burst_words: int = _within(4, 1024)
    bus_retries_ppm: int = _within(0, 500_000)
    bus_disconnects_ppm: int = _within(0, 500_000)

    fifo_tx_words: int = _within(16, 65_536)
    fifo_rx_words: int = _within(16, 1 << 20)
    fifo_message_words: int = _within(1, 512)

    link_latency_ps: int = _within(0, 1_000_000_000)
    link_gap_cycles: int = _within(1, 64)
    link_sync_fill_halves: int = _within(2, 64)
    link_lanes: int = _absent(2, 8, EXAMPLE.lanes)
    link_lane_skew_cycles: int = _absent(0, MOST_SKEW_CYCLES, 0)

    regions_count: int = _absent(1, 1 << HANDLE_BITS, 0)
    regions_size_words: int = _absent(1, 1 << OFFSET_BITS - 3, 0)

    flows_count: int = _within(1, 128)
    flows_active: int = _within(1, 128)
    flows_credit_unit_words: int = _within(1, 65_536)
    flows_copy_credits: int = _within(0, 1)

    trace_mode: str = _among("quad", "select")
    trace_tap_depth: int = _within(64, 16_384)
    trace_event_depth: int = _within(64, 16_384)
    trace_chunk_records: int = _within(1, 16_384)
    trace_event_fifo: int = _within(4, 256)
    trace_post: int = _within(0, 1 << 31)
    trace_post_drain_cycles: int = _within(1, 1 << 20)
    trace_sampler_depth: int = _within(1, 4096)
    trace_sample_period_cycles: int = _within(0, 1 << 31)
    trace_snapshot_log2: int = _within(8, 31)
    trace_cross_latency_cycles: int = _within(0, 100_000)
    trace_sync_period_cycles: int = _within(64, 1 << 24)
    trace_stall_limit_cycles: int = _within(0, 1 << 31)

    host_ring_descriptors: int = _within(1, 1024)
    host_combining_words: int = _within(0, 64)
    host_interrupt_latency_ns: int = _within(0, 1_000_000_000)
    host_completion_ns: int = _within(0, 1_000_000_000)

    @property
    def form(self) -> Form:
        """What its device has more than the example card, as its map says."""
        return Form(self.link_lanes, bool(self.regions_count))

    @property
    def credit_w(self) -> int:
        """Bits of a credit counter: log2 of the incoming FIFO rounded up, plus 2 (docs/formats.md section 3)."""
        return (self.fifo_rx_words - 1).bit_length() + 2

    @property
    def credit_share_words(self) -> int:
        """Words of the peer's incoming FIFO that belong to one active flow."""
        return self.fifo_rx_words // self.flows_active

    @property
    def combined_descriptors(self) -> int:
        """Descriptors that fit the host's write-combining buffer; 0: every word is written by itself."""
        return self.host_combining_words // DESCRIPTOR_WORDS

    @property
    def quad(self) -> bool:
        """A memory for each tap (True), or one memory for a selected tap."""
        return self.trace_mode == "quad"


_KEYS = {field.name.replace("_", ".", 1): field.metadata for field in fields(Profile)}
_RANGES: dict[str, tuple[int, int]] = {k: m["within"] for k, m in _KEYS.items() if "within" in m}
_ABSENT: dict[str, int] = {k: m["absent"] for k, m in _KEYS.items() if "absent" in m}
_TEXTS: dict[str, tuple[str, ...]] = {k: m["among"] for k, m in _KEYS.items() if "among" in m}


def load_profile(name: str) -> Profile:
    """Read the profile of a card down to its cycles, by its name or from a path that ends in ``.toml``.

    Raises:
        InputError: no such profile, not TOML, an unknown or missing key, a value out of range, or values that
            contradict each other; the message names file, key, value and what is allowed.
    """
    file = profile_file(name)
    if file.by_stages:
        raise InputError(
            f"profile {name} describes an adapter by its stages, for 'freezeframe what-if {name}'; "
            f"the emulated pair needs one of {', '.join(profile_names())}"
        )
    card = named_card(file)
    profile = _checked(file)
    _check_form(file, card, profile)
    return profile


def _check_form(file: ProfileFile, card: str, profile: Profile) -> None:
    """Check that lanes can share a word, that there is all of a region, and that the card is of that form."""
    lanes, count, size = profile.link_lanes, profile.regions_count, profile.regions_size_words
    where = file.place(("link", "lanes"))
    if lanes not in LANE_COUNTS:
        among = ", ".join(map(str, LANE_COUNTS))
        raise InputError(
            f"{where}: link.lanes = {lanes}; a word of 8 bytes goes over {among} lanes alike"
        )
    if bool(count) != bool(size):
        there, missing = ("count", "size_words") if count else ("size_words", "count")
        raise InputError(
            f"{file.place(('regions', there))}: regions.{there} without regions.{missing}: handles need both"
        )
    if count and size < profile.fifo_message_words:
        raise InputError(
            f"{file.place(('regions', 'size_words'))}: regions.size_words = {size} cannot hold a whole message of "
            f"{profile.fifo_message_words} words"
        )
    if not card:
        return
    said = _header(card_place(card))
    if said.map != 1 or (form_of(said.map_hash) or EXAMPLE) == profile.form:
        return
    form = form_of(said.map_hash) or EXAMPLE
    key, value = ("link.lanes", lanes) if form.lanes != lanes else ("regions.count", count)
    raise InputError(
        f"{file.place(tuple(key.split('.')))}: {key} = {value}, and the card {card} has map_hash "
        f"{said.map_hash:#010x}, that of {_form_text(form)}; "
        f"{_form_text(profile.form)} have {map_hash_for(profile.form):#010x}"
    )


def _form_text(form: Form) -> str:
    return f"{form.lanes} lanes {'with' if form.regions else 'without'} regions"


@cache
def _header(path: Path) -> Header:
    return read_card(path).card


def _checked(file: ProfileFile) -> Profile:
    raw = {key: value for key, value in file.said.items() if key != "card"}
    values: dict[str, Any] = {}
    description = raw.pop("description", "")
    if not isinstance(description, str):
        raise InputError(
            f"{file.place(('description',))}: description is {description!r}; it must be a text"
        )
    for section, table in raw.items():
        if not isinstance(table, dict):
            raise InputError(
                f"{file.place((section,))}: unknown key {section!r}; keys stand in the sections "
                + ", ".join(sorted({key.partition(".")[0] for key in (*_RANGES, *_TEXTS)}))
            )
        for key, value in table.items():
            _check_value(file.place((section, key)), f"{section}.{key}", value)
            values[f"{section}.{key}"] = value
    missing = sorted((_RANGES.keys() | _TEXTS.keys()) - values.keys() - _ABSENT.keys())
    if missing:
        raise InputError(
            f"{file.place((missing[0].partition('.')[0],))}: missing {', '.join(missing)}"
        )
    values = {key: value for key, value in values.items() if _ABSENT.get(key) != value}
    _check_together(file, _ABSENT | values)
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).digest()
    fields = {key.replace(".", "_"): value for key, value in values.items()}
    return Profile(file.name, description, int.from_bytes(digest[:4], "big"), **fields)


def _check_value(where: str, key: str, value: object) -> None:
    if key in _TEXTS:
        if value not in _TEXTS[key]:
            raise InputError(
                f"{where}: {key} = {value!r}; it must be one of {', '.join(_TEXTS[key])}"
            )
        return
    if key not in _RANGES:
        section = key.partition(".")[0]
        near = [k for k in (*_RANGES, *_TEXTS) if k.startswith(section + ".")]
        hint = f"; [{section}] has {', '.join(k.partition('.')[2] for k in near)}" if near else ""
        raise InputError(f"{where}: unknown key {key}{hint}")
    low, high = _RANGES[key]
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"{where}: {key} = {value!r}; it must be a whole number {low}..{high}")
    if key in _POWERS_OF_TWO and value & (value - 1):
        raise InputError(f"{where}: {key} = {value}; it must be a power of two")


def _check_together(file: ProfileFile, v: dict[str, Any]) -> None:
    whole = v["fifo.message_words"] + 3  # header, address and tail go with the payload
    share = v["fifo.rx_words"] // v["flows.active"]
    rules = (
        (
            2 * v["fifo.tx_words"] <= v["trace.tap_depth"],
            f"fifo.tx_words = {v['fifo.tx_words']} is more than half of trace.tap_depth = "
            f"{v['trace.tap_depth']}; what left the FIFO would no longer be in the memory of what entered it",
        ),
        (
            v["fifo.tx_words"] >= whole,
            f"fifo.tx_words = {v['fifo.tx_words']} cannot hold a whole message of {whole} words",
        ),
        (
            v["flows.active"] <= v["flows.count"],
            f"flows.active = {v['flows.active']} is more than flows.count = {v['flows.count']}",
        ),
        (
            share - v["flows.credit_unit_words"] >= whole,
            f"flows.active = {v['flows.active']}: a flow's share of the incoming FIFO ({share} words) less the credit "
            f"unit ({v['flows.credit_unit_words']}) cannot hold a whole message of {whole} words: it would "
            "stall for ever",
        ),
        (
            v["link.lane_skew_cycles"] <= v["link.sync_fill_halves"],
            f"link.lane_skew_cycles = {v['link.lane_skew_cycles']} is more than link.sync_fill_halves = "
            f"{v['link.sync_fill_halves']}: the FIFO of the earliest lane, twice as deep, would be full before the "
            "latest lane has begun",
        ),
        (
            v["bus.split_min_cycles"] <= v["bus.split_max_cycles"],
            f"bus.split_min_cycles = {v['bus.split_min_cycles']} is more than bus.split_max_cycles = "
            f"{v['bus.split_max_cycles']}",
        ),
        (
            v["host.combining_words"] % DESCRIPTOR_WORDS == 0,
            f"host.combining_words = {v['host.combining_words']} must hold whole descriptors of "
            f"{DESCRIPTOR_WORDS} words, or be 0",
        ),
        *(
            (
                v[f"trace.{depth}"] % v["trace.chunk_records"] == 0
                and v[f"trace.{depth}"] // v["trace.chunk_records"] <= 64,
                f"trace.{depth} = {v[f'trace.{depth}']} must be 1..64 whole chunks of "
                f"{v['trace.chunk_records']} records",
            )
            for depth in ("tap_depth", "event_depth")
        ),
    )
    for holds, why in rules:
        if not holds:
            key = why.partition(" ")[0]
            raise InputError(f"{file.place(tuple(key.split('.', 1)))}: {why}")
