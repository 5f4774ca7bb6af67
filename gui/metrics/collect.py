"""Samples as metric families: names, units and help texts are those of the register map and the kernel's tables.

A name is ``freezeframe_`` + the counter's metric (+ ``_total`` for counters) and never changes; which source, card or
interrupt line it is, is in the labels. A source that does not answer has ``freezeframe_up`` 0 and no other metric
but the age of its last sample: an old value must not look like a new one.

Source: Prometheus exposition formats; OpenMetrics 1.0, sections 5 and 6.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    StateSetMetricFamily,
)
from prometheus_client.registry import Collector

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.gui.text import printable

_STATES = ("idle", "armed", "triggered", "frozen")


def is_up(reader: SourceReader) -> bool:
    """Return whether a source has answered lately."""
    return reader.last is not None and not reader.is_stale(time.monotonic_ns())


class SourcesCollector(Collector):
    """The newest samples of several readers, as Prometheus asks for them."""

    def __init__(self, readers: Sequence[SourceReader]) -> None:
        self._readers = readers

    def collect(self) -> Iterable[Metric]:
        """Give every family; the sources are not read for it."""
        up = GaugeMetricFamily("freezeframe_up", "1: the source answers", labels=["source"])
        age = GaugeMetricFamily(
            "freezeframe_sample_age_seconds",
            "Age of the newest sample",
            labels=["source"],
            unit="seconds",
        )
        families: dict[str, Any] = {}
        for reader in self._readers:
            answers = is_up(reader)
            up.add_metric([printable(reader.url)], float(answers))
            age_ns = reader.age_ns()
            if age_ns is not None:
                age.add_metric([printable(reader.url)], age_ns / 1e9)
            sample = reader.last
            if answers and sample is not None:
                for key, value in sample.values.items():
                    counter = reader.source.counters.get(key)
                    if counter is not None:
                        _add(families, reader.url, counter, value)
                _add_recorders(families, printable(reader.url), sample)
        yield up
        yield age
        yield from families.values()


def _add(families: dict[str, Any], url: str, counter: Counter, value: int) -> None:
    family = families.get(counter.metric)
    names = ["source", *(name for name, _ in counter.labels)]
    if family is None:
        kind = CounterMetricFamily if counter.kind == "counter" else GaugeMetricFamily
        name = "freezeframe_" + re.sub(r"[^a-zA-Z0-9_]", "_", counter.metric)
        unit = (
            f" ({counter.unit})"
            if counter.unit and counter.unit not in counter.help.lower()
            else ""
        )
        # The unit is in the text: as a suffix of the name it would be there twice for half of them.
        help_text = _SHARED_HELP.get(counter.metric, printable(counter.help + unit))
        family = families[counter.metric] = kind(name, help_text, labels=names)
    # What a driver calls its counters is shown in terminals, too: no control character goes there.
    family.add_metric([printable(url), *(printable(text) for _, text in counter.labels)], value)


# Families whose members each have a text of their own.
_SHARED_HELP = {
    "interrupts": "Interrupts of a line of the device",
    "softirqs": "Software interrupts of the whole machine, by type",
    "pcie_aer_errors": "PCIe errors the device has reported (advanced error reporting)",
    "netdev_driver": "Statistics of the network driver's own, as ethtool -S shows them",
    "rdma_driver": "Statistics of the RDMA driver's own, from hw_counters",
}


def _add_recorders(families: dict[str, Any], url: str, sample: Sample) -> None:
    for state in sample.recorders:
        labels = ["source", "device"]
        if "recorder" not in families:
            families["recorder"] = StateSetMetricFamily(
                "freezeframe_recorder_state", "What the recorder of a card does", labels=labels
            )
            families["generation"] = GaugeMetricFamily(
                "freezeframe_recorder_generation", "Times the recorder was armed", labels=labels
            )
            families["cause"] = GaugeMetricFamily(
                "freezeframe_recorder_cause",
                "1: this cause has frozen the card",
                labels=[*labels, "cause"],
            )
        families["recorder"].add_metric(
            [url, state.device], {name: name == state.state for name in _STATES}
        )
        families["generation"].add_metric([url, state.device], state.generation)
        for cause in state.causes:
            families["cause"].add_metric([url, state.device, cause], 1)


def sources_document(readers: Sequence[SourceReader]) -> dict[str, Any]:
    """Return all sources as JSON values: values, units, help texts, states, and what fails."""
    return {"sources": list(_sources(readers)), "monotonic_ns": time.monotonic_ns()}


def _sources(readers: Sequence[SourceReader]) -> Iterator[dict[str, Any]]:
    for reader in readers:
        sample, counters = reader.last, reader.source.counters
        age_ns = reader.age_ns()
        yield {
            "source": reader.url,
            "up": is_up(reader),
            "trouble": reader.trouble,
            "age_ms": None if age_ns is None else age_ns // 1_000_000,
            "facts": dict(sample.facts) if sample else {},
            "recorders": [state.to_json() for state in sample.recorders] if sample else [],
            "counters": {
                key: {"value": value}
                | (
                    {"kind": c.kind, "unit": c.unit, "help": c.help}
                    if (c := counters.get(key))
                    else {}
                )
                for key, value in (sample.values.items() if sample else ())
            },
        }
