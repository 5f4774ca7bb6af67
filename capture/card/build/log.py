"""A card's event log: its events and state machines, each in its clock, and the log behind them."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.build.ports import joined, recorder_ports, recorder_wires
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedSource
from freezeframe.capture.card.tables import Event

_TOLD = {"valid": 1, "some": 1, "lost": 16, "at": 16, "value": 40}


def event_log(card: ElaboratedCard) -> Iterator[str]:
    """Give the sources and the log; nothing for a card without events and state machines."""
    log = card.log
    if log is None:
        return
    names = [source.name for source in card.sources]
    machines = sum(1 << source.number for source in card.sources if source.states)
    slot_w = (log.said.depth - 1).bit_length()
    told = {what: joined(f"log_{name}_{what}" for name in names) for what in _TOLD}
    yield f"    wire [{len(names) - 1}:0] log_ready;"
    for source in card.sources:
        yield _source(card, source)
    yield f"""{recorder_wires(log)}
    ff_card_log #(
        .SOURCES({len(names)}), .MACHINES({len(names)}'h{machines:x}), .DEPTH({log.said.depth}),
        .POST_W(POST_W), .CAUSES(CAUSES)
    ) i_{log.name} (
        .clk(clk_{log.clock.name}), .rst(rst_{log.clock.name}),
        {", ".join(f".in_{what}({wires})" for what, wires in told.items())}, .in_ready(log_ready),
        {recorder_ports(log)},
        .rd_en(rd_en[{log.lanes.start}]), .rd_slot(rd_slot[{slot_w - 1}:0]),
        .rd_record(rd_record[{72 * log.lanes.start} +: 72])
    );"""


def _source(card: ElaboratedCard, source: ElaboratedSource) -> str:
    name, c, said = source.name, source.clock.name, source.said
    bus = card.clocks[0].name
    if isinstance(said, Event):
        wire, value = said.wire, said.value or "1'b0"
    else:
        wire, value = "1'b0", said.wire
    wires = "\n".join(
        f"    wire {f'[{width - 1}:0] ' if width > 1 else ''}log_{name}_{what};"
        for what, width in _TOLD.items()
    )
    told = ", ".join(f".out_{what}(log_{name}_{what})" for what in _TOLD)
    return f"""{wires}
    ff_card_source #(.MACHINE({int(bool(source.states))}), .VALUE_W({max(1, source.bits)})) i_log_{name} (
        .clk(clk_{c}), .rst(rst_{c}), .now(now_{c}[15:0]), .arm(arm_{c}), .triggered(triggered_{c}),
        .ev_wire({wire}), .value({value}), .bus_clk(clk_{bus}), .bus_rst(rst_{bus}),
        {told}, .out_ready(log_ready[{source.number}])
    );"""
