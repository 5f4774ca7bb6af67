"""One segment of a recording as the analyzers read it: word streams by tap, events, frozen registers.

A tap that did not record every kind of word is left out: without TAIL or BODY its packets cannot be told
from damaged ones, and without HEAD not from each other. A view holds the devices that were asked for and
nothing of the others, so that what is said of one end rests on that end alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.link_start import came_up_ps
from freezeframe.analyzers.streams import HEADS, EventLog, Packet, Stream
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder, DeviceCapture, looped_back, peers_of
from freezeframe.capture.registers.layouts import CAUSE_NAMES, MEMORY_NAMES, Kind
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.trace.decode import Trace, decode_capture

__all__ = ["TAPS", "CaptureView"]

TAPS = MEMORY_NAMES[:4]
_WHOLE_PACKETS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_FLOW_CONTROL = (Kind.CREDIT, Kind.PRESSURE, Kind.STATE)
_KINDS = {kind.name: int(kind) for kind in Kind}

Int64 = npt.NDArray[np.int64]


class CaptureView:
    """The devices of a capture that may be looked at; what is costly is made when it is first asked for.

    Raises (from its attributes): what decoding a capture raises.
    """

    def __init__(
        self,
        folder: CaptureFolder,
        devices: Sequence[str] | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Take a capture.

        Args:
            devices: names of the devices to look at; None for all.
            trace: these devices, where they are decoded already.
        Raises:
            InputError: the capture has no such device, or none was named.
        """
        known = [device.name for device in folder.devices]
        for name in known if devices is None else devices:
            if name not in known:
                raise InputError(
                    f"{folder.path}: no device {name!r}; the capture holds {', '.join(known)}"
                )
        if devices is not None and not devices:
            raise InputError(
                f"{folder.path}: no device was named; the capture holds {', '.join(known)}"
            )
        self.folder = folder
        self.chosen = None if devices is None else tuple(devices)
        self.devices: tuple[DeviceCapture, ...] = tuple(
            device for device in folder.devices if devices is None or device.name in devices
        )
        if trace is not None:
            self.trace = trace

    @cached_property
    def trace(self) -> Trace:
        """The decoded tables and their time base."""
        return decode_capture(self.folder, self.chosen)

    @cached_property
    def peers(self) -> dict[str, str]:
        """The other end of each device's link, where it is known."""
        return peers_of(self.folder.devices)

    @cached_property
    def looped(self) -> bool:
        """Every device heard its own link."""
        return looped_back(self.folder.devices)

    @cached_property
    def since_ps(self) -> dict[str, int]:
        """When a device's link came up again within its recording; what was before is left out."""
        return came_up_ps(self.trace, self.devices)

    @cached_property
    def _kinds(self) -> dict[tuple[str, str], int]:
        """The kinds of record that each memory of a device took, one bit each; 0 where not known."""
        return {
            (device.name, memory): device.registers.value("ctl.kinds", number) or 0
            for device in self.devices
            for number, memory in enumerate(MEMORY_NAMES)
        }

    @cached_property
    def streams(self) -> dict[tuple[str, str], Stream]:
        """The words of each tap that recorded every kind of word, by device and tap."""
        return _streams(self.trace, self.devices, self._kinds, self.since_ps)

    @cached_property
    def logs(self) -> dict[str, EventLog]:
        """The event log of each device."""
        return {
            device.name: _log(
                self.trace.events,
                device,
                self._kinds[device.name, "event_log"],
                self.since_ps.get(device.name),
            )
            for device in self.devices
        }

    @cached_property
    def switched_off(self) -> tuple[str, ...]:
        """What was not recorded because its kind was switched off, a sentence each."""
        return tuple(_switched_off(self.devices, self._kinds))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(device.name for device in self.devices)

    def device(self, name: str) -> DeviceCapture | None:
        """Return a device, or None when the view does not hold it."""
        return next((device for device in self.devices if device.name == name), None)

    def stream(self, device: str, tap: str) -> Stream | None:
        """Return the stream of a tap; None when it was not recorded or may not be looked at."""
        return self.streams.get((device, tap))

    def flow_log(self, device: str) -> EventLog | None:
        """Return the event log of a device; None where it did not record all of flow control.

        Without CREDIT, PRESSURE and STATE the absence of an event says nothing of credits and waits.
        """
        log = self.logs.get(device)
        return log if log is not None and log.recorded(*_FLOW_CONTROL) else None

    def cycles_ps(self, device: str, *, bus: int = 0, link: int = 0) -> int:
        """Return how long so many cycles of a device's two clocks last, rounded up; 0 without it."""
        capture = self.device(device)
        if capture is None:
            return 0
        clocks = ((bus, capture.identity.clk_bus), (link, capture.identity.clk_link))
        return sum(-(-cycles * PS_PER_S // clk_hz) for cycles, clk_hz in clocks if clk_hz)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was recorded of a link that is not the one at the freeze, a sentence for each device."""
        return tuple(
            f"{name}: its link came up anew at {format_ps(t_ps)} (loop-back changed?); what it "
            "recorded before is left out"
            for name, t_ps in self.since_ps.items()
            if any(int(t) < t_ps for t in self._first_ps(name))
        )

    def _first_ps(self, device: str) -> Iterator[int]:
        for table in (self.trace.words, self.trace.events):
            mine = table["source"].astype(str).str.startswith(f"{device}.").to_numpy(bool)
            if mine.any():
                yield int(table["t_ps"].to_numpy()[mine].min())

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """The memories of which the pull did not read everything, by name."""
        return tuple(
            f"{device.name}.{name}"
            for device in self.devices
            for name, memory in device.memories.items()
            if memory.gaps
        )

    def value(self, device: str, name: str, *indices: int) -> int | None:
        """Return a frozen register; None when it was not read."""
        capture = self.device(device)
        return None if capture is None else capture.registers.value(name, *indices)

    def register_row(
        self, device: str, name: str, *indices: int, expected: int | None = None
    ) -> Row:
        """Return a frozen register as a row of evidence."""
        label = name + "".join(f"[{i}]" for i in indices)
        return Row("registers", device, label, self.value(device, name, *indices), expected)

    def counter(self, device: str, name: str) -> int | None:
        """Return a counter as it stood at freeze; None when it was not read."""
        capture = self.device(device)
        return None if capture is None else capture.registers.value64(f"frozen_counters.{name}.")

    def counter_row(self, device: str, name: str) -> Row:
        """Return a frozen counter as a row of evidence."""
        return Row("registers", device, f"frozen_counters.{name}", self.counter(device, name))

    def causes(self, device: str) -> tuple[str, ...]:
        """Return the names of a device's first freeze causes; empty when the register is missing."""
        mask = self.value(device, "ctl.causes") or 0
        return tuple(name for bit, name in enumerate(CAUSE_NAMES) if mask >> bit & 1)

    @cached_property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Every ``(sender, receiver)`` of which at least one end may be looked at."""
        pairs = []
        for name in self.names:
            peer = self.peers.get(name, "?")
            pairs += [(name, peer), (peer, name)]
        return tuple(sorted(set(pairs)))

    def peer(self, device: str) -> str | None:
        """Return the name of the device at the other end; None where it is not known."""
        return self.peers.get(device)


def _missing(mask: int, wanted: tuple[Kind, ...]) -> list[str]:
    return [kind.name for kind in wanted if not mask >> kind & 1]


def _switched_off(
    devices: tuple[DeviceCapture, ...], kinds: dict[tuple[str, str], int]
) -> Iterator[str]:
    for device in devices:
        for memory in MEMORY_NAMES:
            if memory not in device.memories:
                continue
            log = memory == "event_log"
            missing = _missing(kinds[device.name, memory], _FLOW_CONTROL if log else _WHOLE_PACKETS)
            if not missing:
                continue
            number = MEMORY_NAMES.index(memory)
            how = (
                "its register ctl.kinds was not read, so which kinds it recorded is not known"
                if device.registers.value("ctl.kinds", number) is None
                else f"ctl.kinds[{number}] switched {', '.join(missing)} off"
            )
            effect = (
                "what it does not hold of credits, waits and states proves nothing"
                if log
                else "its packets are not compared and not checked"
            )
            yield f"{device.name}.{memory}: {how}; {effect}"


def _streams(
    trace: Trace,
    devices: tuple[DeviceCapture, ...],
    recorded: dict[tuple[str, str], int],
    since_ps: dict[str, int],
) -> dict[tuple[str, str], Stream]:
    words, packets = trace.words, trace.packets
    word_source, packet_source = _texts(words["source"]), _texts(packets["source"])
    closed = trace.events[trace.events["kind"] == Kind.MARK.name]
    closed_ps = dict(zip(_texts(closed["source"]), closed["t_ps"].tolist(), strict=True))
    streams = {}
    for device in devices:
        for tap in TAPS:
            source = f"{device.name}.{tap}"
            rows = np.flatnonzero(word_source == source)
            if tap not in device.memories and not len(rows):
                continue
            if _missing(recorded[device.name, tap], _WHOLE_PACKETS):
                continue
            own = packets.iloc[np.flatnonzero(packet_source == source)]
            if device.name in since_ps:
                rows, own = _since(words, rows, own, since_ps[device.name])
            columns = _word_columns(words, rows)
            breaks = _breaks(device, tap, columns["slot"])
            streams[device.name, tap] = Stream(
                device.name,
                tap,
                columns,
                _packets(own, columns, breaks),
                breaks,
                closed_ps.get(source),
            )
    return streams


def _since(
    words: pd.DataFrame, rows: Int64, packets: pd.DataFrame, since_ps: int
) -> tuple[Int64, pd.DataFrame]:
    """Return the words of a tap from a time on, and the packets that begin among them."""
    doubt_ps = np.maximum(words["t_unc_ps"].to_numpy()[rows], 0)
    later = np.flatnonzero(words["t_ps"].to_numpy()[rows] - doubt_ps >= since_ps)
    rows = rows[later[0] :] if len(later) else rows[:0]
    kept = packets["first_row"].to_numpy() >= (rows[0] if len(rows) else np.iinfo(np.int64).max)
    packets = packets.iloc[np.flatnonzero(kept)]
    first = int(packets["first_row"].min()) if len(packets) else int(np.iinfo(np.int64).max)
    return rows[rows >= first], packets


def _word_columns(words: pd.DataFrame, rows: Int64) -> dict[str, npt.NDArray[Any]]:
    kinds, names = words["kind"].cat.codes.to_numpy(), words["kind"].cat.categories
    number = np.array([_KINDS.get(str(name), 0) for name in names], np.uint8)
    columns: dict[str, npt.NDArray[Any]] = {
        "row": rows,
        "kind": number[kinds[rows]],
        "data": words["data"].to_numpy()[rows].astype(np.int64).view(np.uint64),
        "packet": words["packet"].to_numpy()[rows].astype(np.int64),
    }
    for name in ("slot", "cycle", "t_ps", "t_unc_ps"):
        columns[name] = words[name].to_numpy()[rows].astype(np.int64)
    return columns


def _packets(
    table: pd.DataFrame, words: dict[str, npt.NDArray[Any]], breaks: tuple[int, ...]
) -> list[Packet]:
    """Make the packets of a stream; what is missing at an edge of the recording is told from damage."""
    kinds, data, rows = words["kind"], words["data"], words["row"]
    edges = {0, len(rows), *breaks}
    found: list[Packet] = []
    verdicts = {name: _verdicts(table[name]) for name in ("header_ok", "payload_ok", "length_ok")}
    starts = np.searchsorted(rows, table["first_row"].to_numpy())
    ends = np.searchsorted(rows, table["end_row"].to_numpy() - 1) + 1
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        kind = kinds[start:end]
        heads = int((kind == Kind.HEAD).sum())
        has_tail = bool(kind[-1] == Kind.TAIL)
        cut_start = start in edges and heads < HEADS
        found.append(
            Packet(
                index=i,
                start=start,
                end=end,
                heads=heads,
                body_words=int((kind == Kind.BODY).sum()),
                header=int(data[start]) if heads >= HEADS or (heads and not cut_start) else None,
                address=int(data[start + heads - 1])
                if heads >= HEADS or (cut_start and heads)
                else None,
                has_tail=has_tail,
                cut_start=cut_start,
                cut_end=end in edges and not has_tail,
                header_ok=verdicts["header_ok"][i],
                payload_ok=verdicts["payload_ok"][i],
                length_ok=verdicts["length_ok"][i],
            )
        )
    return found


def _texts(column: pd.Series[Any]) -> npt.NDArray[np.str_]:
    return column.astype(str).to_numpy().astype(np.str_)


def _breaks(device: DeviceCapture, tap: str, slots: Int64) -> tuple[int, ...]:
    """Return the positions in a stream before which the pull left a gap."""
    # With one memory for a selected tap, the memory's name may be another than the tap's.
    memory = device.memories.get(tap) or next(iter(device.memories.values()))
    oldest = memory.write_ptr if memory.wrapped else 0
    age = (slots - oldest) % max(len(memory.records), 1)
    found = set()
    for gap in memory.gaps:
        found.add(int(np.searchsorted(age, (gap.first_slot - oldest) % len(memory.records))))
    return tuple(sorted(at for at in found if 0 < at < len(slots)))


def _verdicts(column: pd.Series[Any]) -> list[bool | None]:
    known = column.notna().to_numpy()
    return [bool(v) if k else None for v, k in zip(column.to_list(), known, strict=True)]


def _log(events: pd.DataFrame, device: DeviceCapture, kinds: int, since_ps: int | None) -> EventLog:
    source = _texts(events["source"])
    rows = np.flatnonzero(source == f"{device.name}.event_log")
    if since_ps is not None:
        rows = rows[events["t_ps"].to_numpy()[rows] >= since_ps]
    memory = device.memories.get("event_log")

    def column(name: str) -> Int64:
        values: Int64 = events[name].to_numpy()[rows].astype(np.int64)
        return values

    return EventLog(
        device=device.name,
        rows=rows,
        kind=_texts(events["kind"])[rows],
        code=_texts(events["code"])[rows],
        flow=column("flow"),
        value=column("value"),
        slot=column("slot"),
        cycle=column("cycle"),
        t_ps=column("t_ps"),
        t_unc_ps=column("t_unc_ps"),
        gaps=memory is None or bool(memory.gaps),
        kinds=kinds,
    )
