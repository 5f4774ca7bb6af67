"""A card's trigger: its registers, the comparison at each tap, and the steps behind them where the card has some."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.build.ports import joined
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedClock, ElaboratedTap
from freezeframe.capture.card.tables import Trigger

_TOLD = {"valid": 1, "terms": 4, "cycle": 32, "epoch": 1, "lost": 1}


def trigger(card: ElaboratedCard) -> Iterator[str]:
    """Give the port of its registers and what stands at the taps."""
    said, bus, taps = card.said.trigger, card.clocks[0].name, len(card.recorders)
    yield f"""    wire [{14 * said.terms - 1}:0] trigger_shift;
    wire trigger_agrees, trigger_enable, trigger_write, trigger_known, trigger_writable;
    wire pin_enable, pin_falling, pin_fire;
    wire [{taps * said.terms - 1}:0] trigger_on;
    wire [1:0] trigger_last;
    wire [5:0] trigger_mode;
    wire [15:0] trigger_wanted;
    wire [47:0] trigger_when;
    wire [95:0] trigger_count, trigger_word, trigger_cycle;
    wire [31:0] trigger_timer, trigger_fired, trigger_wdata, trigger_rdata;
    ff_card_trigger_port #(
        .TAPS({taps}), .TERMS({said.terms}), {_built(said)}
    ) i_trigger (
        .clk(clk_{bus}), .rst(rst), .write(trigger_write), .addr(win_addr), .wdata(trigger_wdata),
        .known(trigger_known), .writable(trigger_writable), .rdata(trigger_rdata),
        .shift(trigger_shift), .agrees(trigger_agrees), .on(trigger_on), .wanted(trigger_wanted),
        .enable(trigger_enable), .cfg_last(trigger_last),
        .cfg_when(trigger_when), .cfg_mode(trigger_mode), .cfg_count(trigger_count), .cfg_timer(trigger_timer),
        .pin_enable(pin_enable), .pin_falling(pin_falling), .stat_fired(trigger_fired),
        .stat_word(trigger_word), .stat_cycle(trigger_cycle)
    );"""
    if not said.steps:
        yield "    assign {trigger_fired, trigger_word, trigger_cycle, pin_fire} = 225'd0;"
        for tap in card.recorders:
            yield _alone(card, tap)
        return
    yield f"    wire steps_fire;\n    wire [{taps - 1}:0] trigger_ready;"
    for tap in card.recorders:
        yield _of_steps(card, tap)
    told = ", ".join(
        f".in_{what}({joined(f'{tap.name}_trigger_{what}' for tap in card.recorders)})"
        for what in _TOLD
    )
    yield f"""    ff_card_trigger_sequence #(
        .TAPS({taps}), {_built(said)}
    ) i_steps (
        .clk(clk_{bus}), .rst(rst), .arm(arm_{bus}), .triggered(triggered_{bus}), .now(now_{bus}[31:0]),
        .enable(trigger_enable),
        .cfg_last(trigger_last), .cfg_when(trigger_when), .cfg_mode(trigger_mode), .cfg_count(trigger_count),
        .cfg_timer(trigger_timer), .pin_enable(pin_enable), .pin_falling(pin_falling),
        .pin_in({"trigger_pin" if said.pin else "1'b0"}), .outside(trigger_in),
        {told}, .in_ready(trigger_ready),
        .fire(steps_fire), .pin_fire(pin_fire), .stat_fired(trigger_fired), .stat_word(trigger_word),
        .stat_cycle(trigger_cycle)
    );"""


def fires(card: ElaboratedCard, clock: ElaboratedClock) -> list[str]:
    """Return the wires by which the trigger itself fires in a clock's domain."""
    if card.said.trigger.steps:
        return [] if clock.number else ["steps_fire", "pin_fire"]
    return [f"{tap.name}_fire" for tap in card.recorders if tap.clock is clock]


def unused_trigger(card: ElaboratedCard) -> list[str]:
    """Return the wires of the port that this card's trigger has no use for."""
    if card.said.trigger.steps:
        return []
    return [
        "trigger_enable", "trigger_last", "trigger_mode", "trigger_wanted", "trigger_when", "trigger_count",
        "trigger_timer", "pin_enable", "pin_falling", "pin_fire",
    ]  # fmt: skip


def _built(said: Trigger) -> str:
    return f".STEPS({said.steps}), .COUNT_W({said.count_bits}), .TIMER_W({said.timer_bits}), .PIN({int(said.pin)})"


def _alone(card: ElaboratedCard, tap: ElaboratedTap) -> str:
    name, c, n = tap.name, tap.clock.name, tap.number
    return f"""    wire {name}_fire;
    ff_card_trigger i_trigger_{name} (
        .bus_clk(clk_{card.clocks[0].name}), .shift(trigger_shift), .agrees(trigger_agrees), .on(trigger_on[{n}]),
        .clk(clk_{c}), .rst(rst_{c}), .arm(arm_{c}), .word_valid({name}_word_valid), .word_kind({name}_word_kind),
        .word_data({name}_word_data), .fire({name}_fire)
    );"""


def _of_steps(card: ElaboratedCard, tap: ElaboratedTap) -> str:
    name, c, n, terms = tap.name, tap.clock.name, tap.number, card.said.trigger.terms
    wires = "\n".join(
        f"    wire {f'[{width - 1}:0] ' if width > 1 else ''}{name}_trigger_{what};"
        for what, width in _TOLD.items()
    )
    told = ", ".join(
        f".{what if what == 'lost' else f'out_{what}'}({name}_trigger_{what})" for what in _TOLD
    )
    return f"""{wires}
    ff_card_trigger_tap #(.TERMS({terms})) i_trigger_{name} (
        .bus_clk(clk_{card.clocks[0].name}), .bus_rst(rst), .shift(trigger_shift), .agrees(trigger_agrees),
        .on(trigger_on[{terms * n} +: {terms}]), .wanted(trigger_wanted), .clk(clk_{c}), .rst(rst_{c}), .arm(arm_{c}),
        .triggered(triggered_{c}), .now(now_{c}[31:0]), .word_valid({name}_word_valid), .word_kind({name}_word_kind),
        .word_data({name}_word_data), {told}, .out_ready(trigger_ready[{n}])
    );"""
