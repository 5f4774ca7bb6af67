"""What every reader of captures takes and gives: settings, a header, names of signals and buses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import PS_PER_S, Bus
from freezeframe.capture.files.threshold import Threshold

MAX_SIGNAL_BITS = 64
_NAMES_SHOWN, _NAME_SHOWN = 64, 100  # in a message; a simulation may have 100,000 signals
_MAX_CHANNELS = 1 << 18  # of a file, each with a name: some 150 MB


@dataclass(frozen=True, slots=True)
class CaptureHeader:
    """What a capture says of itself, whatever its format.

    ``channels`` are all that can be asked for, a bus bit by bit; ``samplerate_hz`` is None where
    neither the file nor the settings have one. ``refused`` says of the other signals in the file
    why they cannot be read. ``spans_time`` is true where the file holds changes with their times,
    so that the number of samples costs nothing. ``analog`` are the channels that a threshold of the
    settings makes of voltages. ``aliases`` are further names of channels and buses, as the whole
    hierarchical ones; ``understood`` are lines about what was taken from the file's own words.
    """

    format: str
    channels: tuple[str, ...]
    samplerate_hz: int | None
    buses: tuple[Bus, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    spans_time: bool = False
    analog: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    understood: tuple[str, ...] = ()

    def channel_of(self, name: str) -> str:
        """Return the channel or bus that a name means; the name itself where it is no alias."""
        for _ in range(3):  # a whole name, of a channel that the user has renamed
            base, bracket, index = name.rpartition("[")
            if name in self.aliases and name not in self.channels:
                name = self.aliases[name]
            elif bracket and base in self.aliases and name not in self.channels:
                name = f"{self.aliases[base]}[{index}"
            else:
                break
        return name

    def reason(self, name: str) -> str:
        """Return why a signal cannot be read, by its whole name or the last part; "" where it can."""
        if name in self.channels or name in self.refused:
            return self.refused.get(name, "")
        last = [why for full, why in self.refused.items() if full.rpartition(".")[2] == name]
        return last[0] if last else ""


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """What the user may say about a capture that is read.

    ``layout`` holds the settings of the format (``channels=8``), ``thresholds`` the voltages of
    analog channels, with ``""`` for all that have none of their own. ``max_samples`` None is the
    reader's default. ``progress`` is called with what is done and what there is, in the unit of
    the format; ``note`` with a line about what had to be assumed. A reader of samples may give
    pieces with fewer than ``few_changes`` as edges.
    """

    samplerate_hz: int | None = None
    max_samples: int | None = None
    layout: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    progress: Callable[[int, int], None] | None = None
    note: Callable[[str], None] | None = None
    few_changes: int = 0

    def say(self, line: str) -> None:
        if self.note is not None:
            self.note(line)

    def levels_of_unknown(self, where: str) -> dict[str, str]:
        """Return what x and z are read as, "0" or "1"; the only settings of waveforms.

        Raises:
            InputError: there is another setting, or another level.
        """
        self.only(where, ("x", "z"))
        levels = {key: self.layout.get(key, "0") for key in ("x", "z")}
        for key, level in levels.items():
            if level not in ("0", "1"):
                raise InputError(f"--format {where}: {key}={level}; it is read as 0 or as 1")
        return levels

    def only(self, where: str, known: Sequence[str]) -> None:
        """Refuse settings of the layout that the format does not have.

        Raises:
            InputError: there is one.
        """
        for key in self.layout:
            if key not in known:
                raise InputError(
                    f"--format {where}: there is no setting {key}; "
                    f"{', '.join(known) if known else 'it has none'}"
                )


NO_SETTINGS = ReadSettings()


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of a waveform file: its whole name, width, and the index of its lowest bit.

    ``step`` is -1 where the indices fall towards the higher bits (``[0:7]``); ``key`` is equal for
    two names of one signal. A single bit has the index None, unless the file gives it one.
    """

    name: str
    width: int
    key: str
    low: int | None = None
    step: int = 1


def bit_names(signal: Signal, name: str) -> tuple[str, ...]:
    """Return the channel names of a signal, the least significant bit first."""
    if signal.low is None and signal.width == 1:
        return (name,)
    low = signal.low or 0
    return tuple(f"{name}[{low + signal.step * bit}]" for bit in range(signal.width))


def buses_of(signals: Sequence[tuple[str, Signal]]) -> tuple[Bus, ...]:
    return tuple(Bus(name, bit_names(signal, name)) for name, signal in signals if signal.width > 1)


def check_channels(path: object, signals: Sequence[Signal]) -> None:
    """Refuse a file of more channels than memory has names for.

    Raises:
        CaptureFormatError: it has more.
    """
    bits = sum(signal.width for signal in signals)
    if bits > _MAX_CHANNELS:
        raise CaptureFormatError(
            f"{path}: {len(signals)} variables of {bits} bits; up to {_MAX_CHANNELS} bits are read, "
            "dump fewer"
        )


def listed(names: Sequence[str]) -> str:
    """Return names for a message: the first ones, each so long that it can still be read."""
    shown = [n if len(n) <= _NAME_SHOWN else f"{n[:_NAME_SHOWN]}..." for n in names[:_NAMES_SHOWN]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def named_signals(path: object, signals: Sequence[Signal]) -> list[tuple[str, Signal]]:
    """Return each signal with the name that it is shown under; different signals have different ones.

    Of several that the file calls alike, each has its number too: ``top.x#1``, ``top.x#2``.

    Raises:
        CaptureFormatError: a bit of a bus has the name of another channel.
    """
    names = short_names(signals)
    owners: dict[tuple[str, int | None], list[str]] = {}
    for name, signal in zip(names, signals, strict=True):
        keys = owners.setdefault((name, signal.low), [])
        if signal.key not in keys:
            keys.append(signal.key)
    named = []
    owner: dict[str, tuple[str, int]] = {}
    for name, signal in zip(names, signals, strict=True):
        keys = owners[name, signal.low]
        shown = f"{name}#{keys.index(signal.key) + 1}" if len(keys) > 1 else name
        named.append((shown, signal))
        for bit, channel in enumerate(bit_names(signal, shown)):
            if owner.setdefault(channel, (signal.key, bit)) != (signal.key, bit):
                raise CaptureFormatError(
                    f"{path}: two variables are named {channel}; which is meant cannot be known"
                )
    return named


def aliases_of(named: Sequence[tuple[str, Signal]]) -> dict[str, str]:
    """Return the whole names of signals that are shown under another."""
    return {signal.name: name for name, signal in named if signal.name != name}


def channels_of(named: Sequence[tuple[str, Signal]]) -> tuple[str, ...]:
    """Return all channels, a bus bit by bit, each once."""
    return tuple(dict.fromkeys(bit for name, signal in named for bit in bit_names(signal, name)))


def short_names(signals: Sequence[Signal]) -> list[str]:
    """Return the last part of each dotted name where only one signal of the file has it.

    Two names of one signal count as one; the others keep the whole name.
    """
    last = [signal.name.rpartition(".")[2] for signal in signals]
    indexed = [(name, signal.low) for name, signal in zip(last, signals, strict=True)]
    keys: dict[tuple[str, int | None], set[str]] = {}
    for name, signal in zip(indexed, signals, strict=True):
        keys.setdefault(name, set()).add(signal.key)
    return [
        name[0] if len(keys[name]) == 1 else signal.name
        for name, signal in zip(indexed, signals, strict=True)
    ]


def tick_rate(tick_fs: int) -> tuple[int, int, int]:
    """Return sample rate in Hz, and by what times in ticks are multiplied and divided.

    A sample is a tick where a second has a whole number of them, else the longest time of which
    both are multiples; never less than a picosecond, so ticks of 1 fs are rounded down.
    """
    if tick_fs >= 1000 and tick_fs % 1000 == 0:
        tick_ps = tick_fs // 1000
        sample_ps = gcd(tick_ps, PS_PER_S)
        return PS_PER_S // sample_ps, tick_ps // sample_ps, 1
    common = gcd(tick_fs, 1000)
    return PS_PER_S, tick_fs // common, 1000 // common


def check_probes(path: object, header: CaptureHeader, probes: Sequence[str] | None) -> list[str]:
    """Return the channels to read, by their own names: those asked for, or all.

    Raises:
        InputError: a channel is not in the file, cannot be read, or there are more than 64.
        CaptureFormatError: the file has no channel at all.
    """
    chosen = list(header.channels if probes is None else map(header.channel_of, probes))
    for name in chosen:
        if why := header.reason(name):
            raise InputError(f"{path}: channel {name} cannot be read: {why}")
        if name not in header.channels:
            raise InputError(f"{path}: no channel {name}; there is {listed(header.channels)}")
    if not header.channels:
        why = "".join(f"; {name}: {reason}" for name, reason in list(header.refused.items())[:3])
        raise CaptureFormatError(f"{path}: there is no channel that can be read{why}")
    repeated = [name for name, count in Counter(chosen).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: channel {repeated[0]} is asked for twice")
    if len(chosen) > MAX_SIGNAL_BITS:
        raise InputError(
            f"{path}: {len(chosen)} channels; at most {MAX_SIGNAL_BITS} at once, name the ones "
            "that are needed"
        )
    return chosen


def check_samples(path: object, samples: int, max_samples: int | None) -> None:
    """Refuse a capture of more samples than allowed.

    Raises:
        InputError: it is longer.
    """
    if max_samples is not None and samples > max_samples:
        raise InputError(
            f"{path}: holds at least {samples} samples, more than the {max_samples} allowed; "
            f"if that is right, say --max-samples {samples}"
        )
