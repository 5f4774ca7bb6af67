"""The FORTH paper's numbers: what each is, and how it is measured from captures of the emulated card.

Source: FORTH paper, sections 2.6, 4.3 and 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freezeframe.gui.cli.reproduction import Experiment, Measured, Quantity, Run, figure

__all__ = ["EXPERIMENTS", "QUANTITIES"]

Runs = Mapping[str, Run]

_WRITES = 4  # 32-bit words of a descriptor: docs/formats.md section 5
_PS_PER_S = 10**12

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "stream-4KiB", "4 KiB messages from A to B, back to back",
        ("--workload", "stream-4KiB"), "descriptors", 200,
    ),
    Experiment(
        "single-8B", "one 8-byte message at a time, descriptors written word by word",
        ("--workload", "single-8B"), "descriptors", 400,
    ),
    Experiment(
        "single-8B-combining", "one 8-byte message at a time, with write combining",
        ("--profile", "forth-combining", "--workload", "single-8B"), "descriptors", 400,
    ),
    Experiment(
        "pair-8B-combining", "two 8-byte messages posted together, with write combining",
        ("--profile", "forth-combining", "--workload", "pair-8B"), "descriptors", 400,
    ),
    Experiment(
        "credits-coarse", "a busy receiver, the free space estimated coarsely",
        ("--profile", "forth-coarse", "--workload", "pressure"), "tx_deq_packets", 1500,
    ),
    Experiment(
        "credits-fine", "the same with the finer estimate",
        ("--profile", "forth-fine", "--workload", "pressure"), "tx_deq_packets", 1500,
    ),
    Experiment(
        "io-head-tail", "block writes whose queue heads and tails are messages of their own",
        ("--workload", "io-head-tail"), "tx_deq_packets", 1500,
    ),
    Experiment(
        "io-pending-flags", "the same with pending flags in the messages instead",
        ("--workload", "io-pending-flags"), "tx_deq_packets", 1500,
    ),
)  # fmt: skip


def _dma(experiment: str, name: str) -> "_Figure":
    return _Figure(experiment, "dma", name)


class _Figure:
    """A quantity that is one figure of an analysis, times a factor."""

    def __init__(self, experiment: str, analysis: str, name: str, factor: float = 1.0) -> None:
        self.experiment, self.analysis, self.name, self.factor = experiment, analysis, name, factor

    def __call__(self, runs: Runs) -> Measured:
        found = figure(runs[self.experiment], self.analysis, self.name)
        around = None if found.uncertainty is None else found.uncertainty * abs(self.factor)
        return Measured(found.value * self.factor, around, found.remark)


def _quantity(
    key: str,
    label: str,
    paper: float | tuple[float, float],
    unit: str,
    measure: _Figure,
    how: str,
    tolerance: float = 0.02,
    about: str = "",
) -> Quantity:
    ends = paper if isinstance(paper, tuple) else (paper, paper)
    return Quantity(
        key, label, ends, unit, how, (measure.experiment,), measure, tolerance, about
    )
