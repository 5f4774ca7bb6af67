"""The FORTH paper's numbers: what each is, and how it is measured from captures of the emulated card.

Source: FORTH paper, sections 2.6, 4.3 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from freezeframe.gui.cli.work.reproduction import (
    Experiment,
    Measured,
    Quantity,
    Run,
    figure,
    waits_per_ms,
)

Runs = Mapping[str, Run]

_PLAIN, _COMBINING = "forth-uncombined", "forth-combining"
_COARSE, _FINE = "forth-coarse", "forth-fine"
_PHASES = ("send-initiation", "send-DMA", "send-NIC", "recv-NIC", "recv-DMA")
_WRITES = 4  # 32-bit words of a descriptor: docs/formats.md section 5
_NS_PER_S = 10**9


_KINDS = {  # all others emerge
    "read back": (
        "dma-peak", "link-peak", "read-cycles", "read-efficiency", "read-arbitration", "read-first-word",
        "split-4KiB", "split-8B", "write", "post",
    ),
    "fit": ("post-combining", "post-two-combining"),  # of bus.burst_overhead_cycles
    # 40 % are 400 ns and leave 84 ns for all that is not send, 12 % leave 261 ns: one mechanism gives not both
    "contradiction": (
        "initiation-share", "send-dma-share", "initiation-share-combining", "send-dma-share-combining", "two-combined",
    ),
}  # fmt: skip


def _experiment(
    name: str, what: str, profile: str, workload: str, counter: str, least: int
) -> Experiment:
    return Experiment(
        name, what, ("--profile", profile, "--workload", workload), counter, least
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment, ...] = (
    _experiment("stream-4KiB", "4 KiB messages, back to back", _PLAIN, "stream-4KiB",
                "tx_deq_packets", 150),
    _experiment("single-4KiB", "one 4 KiB message at a time", _PLAIN, "single-4KiB",
                "tx_deq_packets", 60),
    _experiment("single-8B", "one 8-byte message at a time, descriptors written word by word",
                _PLAIN, "single-8B", "tx_deq_packets", 60),
    _experiment("single-8B-combining", "one 8-byte message at a time, with write combining",
                _COMBINING, "single-8B", "tx_deq_packets", 60),
    _experiment("pair-8B-combining", "two 8-byte messages posted together, with write combining",
                _COMBINING, "pair-8B", "tx_deq_packets", 120),
    _experiment("credits-coarse", "the receiver's free space known in coarse steps", _COARSE,
                "stream-4KiB", "tx_deq_packets", 500),
    _experiment("credits-fine", "the same with the finer estimate", _FINE, "stream-4KiB",
                "tx_deq_packets", 500),
    _experiment("io-head-tail", "block I/O, heads and tails of the queues as messages of their own",
                _PLAIN, "io-head-tail", "tx_deq_packets", 1200),
    _experiment("io-pending-flags", "the same with pending flags in the messages instead", _PLAIN,
                "io-pending-flags", "tx_deq_packets", 1000),
)  # fmt: skip


def _scaled(runs: Runs, *, of: str, by: str, name: str, factor: float = 1.0) -> Measured:
    """Return one figure, times a factor."""
    found = figure(runs[of], by, name)
    around = None if found.uncertainty is None else found.uncertainty * abs(factor)
    return Measured(found.value * factor, around, found.remark)


def _bus_cycles(runs: Runs, *, of: str, name: str, parts: int = 1) -> Measured:
    """Return a figure in ns as cycles of A's bus clock, divided among so many parts."""
    identity = runs[of].view.folder.devices[0].identity
    return _scaled(
        runs, of=of, by="latency", name=name, factor=identity.clk_bus / _NS_PER_S / parts
    )  # fmt: skip


def _change(runs: Runs, *, before: str, after: str, by: str, names: tuple[str, str]) -> Measured:
    """Return by how many per cent a figure of one run is above that of another."""
    old, new = figure(runs[before], by, names[0]), figure(runs[after], by, names[1])
    if not old.value:
        raise LookupError(f"{before}: {names[0]} is 0; there is nothing to compare with")
    ratio = new.value / old.value
    around = ratio * ((old.uncertainty or 0) / old.value + (new.uncertainty or 0) / new.value)
    remark = f"{old.value:,.1f} to {new.value:,.1f}"
    return Measured(100 * (ratio - 1), 100 * around, remark)


def _waits(runs: Runs, *, before: str, after: str) -> Measured:
    """Return the change of back-pressure events a millisecond, over what the event logs hold."""
    rates = [waits_per_ms(runs[name]) for name in (before, after)]
    if not rates[0]:
        raise LookupError(f"{before}: the sender never waited for credit")
    return Measured(
        100 * (rates[1] / rates[0] - 1), None, f"{rates[0]:,.1f} to {rates[1]:,.1f} a ms"
    )


def _share(runs: Runs, *, of: str, base: str, phase: str) -> Measured:
    """Return a phase's share of the whole; the remark has what all phases came to."""
    found = figure(runs[of], "latency", f"{base}.{phase}.share")
    parts = [
        f"{name} {figure(runs[of], 'latency', f'{base}.{name}.mean').value:,.0f}"
        for name in ("whole", *_PHASES)
    ]
    return Measured(found.value, found.uncertainty, f"ns: {', '.join(parts)}")


def _side_share(runs: Runs, *, of: str, base: str, part: str, other: str) -> Measured:
    """Return one phase's share of two, in per cent."""
    mine, rest = (figure(runs[of], "latency", f"{base}.{name}.mean") for name in (part, other))
    both = mine.value + rest.value
    around = ((mine.uncertainty or 0) + (rest.uncertainty or 0)) / both
    return Measured(100 * mine.value / both, 100 * around, f"{mine.value:,.0f} of {both:,.0f} ns")


def _q(
    key: str,
    label: str,
    paper: float | tuple[float, float],
    unit: str,
    how: str,
    measure: Callable[..., Measured],
    *,
    tolerance: float = 2.0,
    about: str = "",
    **chosen: object,
) -> Quantity:
    """Return a quantity; ``of``, ``before`` and ``after`` in ``chosen`` name the runs it needs."""
    ends = paper if isinstance(paper, tuple) else (paper, paper)
    runs = tuple(str(chosen[name]) for name in ("of", "before", "after") if name in chosen)
    made = partial(measure, **chosen)
    kind = next((kind for kind, keys in _KINDS.items() if key in keys), "emerges")
    return Quantity(key, label, ends, unit, how, runs, made, tolerance, about, kind)


_SINGLE, _PAIR = "A->B.latency", "A->B.burst.2"
_LATENCY, _DMA, _THROUGHPUT = "latency", "dma", "throughput"

QUANTITIES: tuple[Quantity, ...] = (
    _q("dma-peak", "DMA engine, peak", 762.9, "MiB/s",
       "dma: the longest run of data words at tx_enq, a word a bus cycle",
       _scaled, tolerance=0.1, of="stream-4KiB", by=_DMA, name="A.tx_enq.peak"),
    _q("link-peak", "pair of links, peak", 596.0, "MiB/s",
       "dma: the longest run of words at tx_deq, a word a link cycle",
       _scaled, tolerance=0.1, of="stream-4KiB", by=_DMA, name="A.tx_deq.peak"),
    _q("read-cycles", "4 KiB DMA read, all cycles (512 carry data)", 577, "cycles",
       "dma: from taking the descriptor to the last word", _scaled, tolerance=0.5,
       of="single-4KiB", by=_DMA, name="A.read.longest.cycles"),
    _q("read-efficiency", "4 KiB DMA read, data cycles of all", 89, "%",
       "dma: 512 of the cycles above", _scaled, tolerance=0.5,
       of="single-4KiB", by=_DMA, name="A.read.longest.efficiency"),
    _q("read-arbitration", "of them arbitration and protocol", 8, "cycles",
       "dma: from taking the descriptor to the accepted request", _scaled,
       of="single-4KiB", by=_DMA, name="A.read.arbitration"),
    _q("read-first-word", "of them until the first word", 57, "cycles",
       "dma: from the accepted request to the first word", _scaled,
       of="single-4KiB", by=_DMA, name="A.read.first_word"),
    _q("split-4KiB", "split completion, 4 KiB", (45, 60), "cycles",
       "dma: from the accepted request to the first word", _scaled, tolerance=0.0,
       of="stream-4KiB", by=_DMA, name="A.read.first_word"),
    _q("split-8B", "split share of send-DMA, 8 bytes", 46, "cycles",
       "dma: from the accepted request to the first word", _scaled, about="about",
       of="single-8B", by=_DMA, name="A.read.first_word"),
    _q("read-start", "DMA read until data moves, 8 bytes", 50, "cycles",
       "dma: from taking the descriptor to the first word", _scaled, tolerance=10.0,
       about="on the order of", of="single-8B", by=_DMA, name="A.read.start"),
    _q("write", "one 32-bit host write, not combined", 10, "cycles",
       "latency: a quarter of send-initiation", _bus_cycles, about="about",
       of="single-8B", name=f"{_SINGLE}.send-initiation.mean", parts=_WRITES),
    _q("post", "posting a descriptor, not combined", 400, "ns", "latency: send-initiation",
       _scaled, about="about", of="single-8B", by=_LATENCY,
       name=f"{_SINGLE}.send-initiation.mean"),
    _q("post-combining", "posting a descriptor, write combining", 90, "ns",
       "latency: send-initiation", _scaled, about="about", of="single-8B-combining", by=_LATENCY,
       name=f"{_SINGLE}.send-initiation.mean"),
    _q("post-two-combining", "posting two descriptors, write combining", 110, "ns",
       "latency: send-initiation of bursts of two", _scaled, about="about",
       of="pair-8B-combining", by=_LATENCY, name=f"{_PAIR}.send-initiation.mean"),
    _q("initiation-share", "send-initiation, share of one-way latency, 8 bytes", 40, "%",
       "latency: share of the whole", _share, tolerance=3.0,
       of="single-8B", base=_SINGLE, phase="send-initiation"),
    _q("send-dma-share", "send-DMA, share of one-way latency, 8 bytes", 51.6, "%",
       "latency: share of the whole", _share, tolerance=3.0,
       of="single-8B", base=_SINGLE, phase="send-DMA"),
    _q("initiation-of-send", "send-initiation of both (40 of 91.6)", 100 * 40 / 91.6, "%",
       "latency: send-initiation of send-initiation and send-DMA", _side_share, tolerance=3.0,
       of="single-8B", base=_SINGLE, part="send-initiation", other="send-DMA"),
    _q("initiation-share-combining", "the same, two messages combined", 12, "%",
       "latency: share of the whole, bursts of two", _share, tolerance=3.0,
       of="pair-8B-combining", base=_PAIR, phase="send-initiation"),
    _q("send-dma-share-combining", "send-DMA, share, two messages combined", 58.2, "%",
       "latency: share of the whole, bursts of two", _share, tolerance=3.0,
       of="pair-8B-combining", base=_PAIR, phase="send-DMA"),
    _q("initiation-of-send-combining", "send-initiation of both, combined (12 of 70.2)",
       100 * 12 / 70.2, "%", "latency: send-initiation of send-initiation and send-DMA",
       _side_share, tolerance=3.0, of="pair-8B-combining", base=_PAIR, part="send-initiation",
       other="send-DMA"),
    _q("two-combined", "latency of two words combined against one without", -12.5, "%",
       "latency: whole of bursts of two against whole of singles", _change, tolerance=1.0,
       before="single-8B", after="pair-8B-combining", by=_LATENCY,
       names=(f"{_SINGLE}.whole.mean", f"{_PAIR}.whole.mean")),
    _q("finer-credits-waits", "back-pressure events, finer free-space estimate", (-100, -1), "%",
       "intervals of back-pressure in A's event log, a millisecond", _waits, tolerance=0.0,
       about="fewer", before="credits-coarse", after="credits-fine"),
    _q("finer-credits", "throughput, finer free-space estimate", (10, 15), "%",
       "throughput: words that reach B, from its sampler", _change,
       before="credits-coarse", after="credits-fine", by=_THROUGHPUT,
       names=("B.in.throughput.mean", "B.in.throughput.mean")),
    _q("pending-flags", "block I/O throughput, pending flags for head/tail messages", (0, 10), "%",
       "dma: payload of full packets that reach B", _change, about="up to",
       before="io-head-tail", after="io-pending-flags", by=_DMA,
       names=("B.received.full.rate", "B.received.full.rate")),
)  # fmt: skip
