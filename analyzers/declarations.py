"""The declarations of the analyses, one for each entry point; each names its code, which its first run loads."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

THROUGHPUT = Analysis(
    id="throughput",
    title="Throughput",
    summary="How fast words went in each direction and flow, against the limits of link and bus; ramps and stalls.",
    run=code("freezeframe.analyzers.throughput.analysis_code:run"),
    card_summary="How fast bytes passed each tap, against a beat in each cycle.",
    run_card=code("freezeframe.analyzers.card.throughput:run"),
    draws="rates, their levels and stalls",
)

PRESSURE = Analysis(
    id="pressure",
    title="Back-pressure",
    summary="When each flow waited for credit, which resource it waited for, and what finer credits would gain.",
    run=code("freezeframe.analyzers.pressure.analysis_code:run"),
    card_summary="In how many cycles packets waited at each tap, where these were, and which stream stands still.",
    run_card=code("freezeframe.analyzers.card.pressure:run"),
    draws="waits",
)

CREDITS = Analysis(
    id="credits",
    title="Credit audit",
    summary="The account of every flow, what became of every credit and how long it took, and counters that slip.",
    run=code("freezeframe.analyzers.credits.analysis_code:run"),
    card_lacks="a log of credits as they are sent and taken",
    draws="words outstanding and credits that were lost",
)

DMA = Analysis(
    id="dma",
    title="DMA and interrupts",
    summary="What the DMA engines did on the bus (data cycles, split waits, retries), and whether each "
    "transfer was finished, told to its host and interrupted for.",
    run=code("freezeframe.analyzers.dma.analysis_code:dma"),
    card_lacks="a log of descriptors and transfers",
    draws="transfers",
)

LATENCY = Analysis(
    id="latency",
    title="Latency breakdown",
    summary="How long messages took from the sender's first store to the receiver's memory, phase by "
    "phase, and which were the slowest.",
    run=code("freezeframe.analyzers.latency.analysis_code:latency"),
    card_summary="How long packets took from tap to tap along each path.",
    run_card=code("freezeframe.analyzers.card.latency:run"),
    draws="latencies",
)

TAPS = Analysis(
    id="taps",
    title="Tap comparison",
    summary="Which words were omitted, duplicated, altered or reordered between the taps, and where first.",
    run=code("freezeframe.analyzers.taps.analysis_code:run"),
    card_summary="What became of each packet between two taps of a path.",
    run_card=code("freezeframe.analyzers.card.taps:run"),
    draws="",
)

CRC = Analysis(
    id="crc",
    title="CRC forensics",
    summary="What can have happened to each packet with a wrong CRC, and how many explanations fit equally well.",
    run=code("freezeframe.analyzers.crc.analysis_code:run"),
    card_summary="Which packets pass the checks of their format at each tap, and why others do not.",
    run_card=code("freezeframe.analyzers.card.crc:run"),
    draws="",
)

CONSERVATION = Analysis(
    id="conservation",
    title="Conservation laws",
    summary="Whether counters, frozen registers and traces of a capture add up, and which terms do not.",
    run=code("freezeframe.analyzers.conservation.analysis_code:run"),
    card_summary="Whether the counters of the card add up, by its own laws and those that follow from its paths.",
    run_card=code("freezeframe.analyzers.card.conservation:run"),
    draws="",
)

HOST = Analysis(
    id="host",
    title="Interrupts and their handlers",
    summary="Whether the host's handler ran for each interrupt of the card, and how long it took to be entered.",
    run=code("freezeframe.analyzers.host_code:run"),
    card_lacks="the computer's trace of its interrupts beside the recording",
    draws="handlers of interrupts and messages of the kernel",
)

TRANSACTIONS = Analysis(
    id="transactions",
    title="Transactions",
    summary="Nothing on a card with the built-in map: its messages have no transaction IDs.",
    run=code("freezeframe.analyzers.card.transactions:of_the_built_in_card"),
    card_summary="What became of each transaction ID: request, answer, time-out, refusal, and whether all came back.",
    run_card=code("freezeframe.analyzers.card.transactions:run"),
    draws="",
)
