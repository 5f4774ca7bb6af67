"""Rules for buses with a clock: what MDIO, JTAG and a parallel bus do to their lines.

Source: IEEE 802.3 22.2.4.5 (32 ones before a frame); IEEE 1149.1 figure 6-1 (states of the TAP).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Evidence, Finding
from freezeframe.decoders.guess.lines import aligned, low_share, pairs

_STAY = ("shift-dr", "shift-ir", "run-test/idle", "test-logic-reset")
_ALIGNED = 0.95  # changes of the mode line at one level of the clock
# Of the clocks in states where a TAP stays: a walk without a plan spends half of them there, a debugger four fifths.
_AIMLESS, _PURPOSE, _AIMED = 0.5, 0.6, 0.8


def mdio(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Frames after at least 17 ones; nothing else has those."""
    for mdc, data in pairs(evidence.lines):
        if len(mdc) < 64 or len(data) > len(mdc):
            continue
        probes = {"mdc": mdc.name, "mdio": data.name}
        spec, trial = evidence.trial(decoder, probes, {})
        frames = trial.count("mdio", "frame")
        if not frames:
            continue
        rows = trial.rows("mdio")
        # A PHY that does not answer is no sign against MDIO.
        against = max(0, trial.errors("mdio") - int((rows["error"] == "bad-turnaround").sum()))
        is_frame = rows["kind"] == "frame"
        full = int((is_frame & (rows["preamble"] >= 32)).sum())
        found = rows[is_frame]
        # The ones before a frame belong to it, and what a controller sends between two is ones too.
        period_ps = (found["t_end_ps"] - found["t_ps"]) // 64
        begin_ps = found["t_ps"] - found["preamble"].clip(0, 64) * period_ps
        explained = trial.explained(begin_ps.to_numpy(), found["t_end_ps"].to_numpy())
        yield Finding(
            decoder,
            spec,
            probes,
            frames,
            4 * against,
            explained,
            trial.counted("mdio", "frame"),
            ("frame", "frames"),
            why=[f"{full} of {frames} frames come after 32 ones or more"],
        )


def jtag(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """A mode line that steers a TAP: long stays in few states, scans between them."""
    for tck, tms in pairs(evidence.lines):
        share = low_share(tck, tms)
        named = evidence.fits(decoder, "tck", tck.name) and evidence.fits(decoder, "tms", tms.name)
        unclear = share is None or aligned(share) < _ALIGNED
        if len(tck) < 32 or len(tms) >= len(tck) or (unclear and not named):
            continue
        probes = {"tck": tck.name, "tms": tms.name}
        rest = [probe for probe in evidence.probes if probe not in (tck.name, tms.name)]
        for role in ("tdi", "tdo"):
            fit = [probe for probe in rest if evidence.fits(decoder, role, probe)]
            probes |= {role: fit[0]} if fit else {}
        spec, trial = evidence.trial(decoder, probes, {})
        bad = trial.errors("jtag.scans")
        good = trial.count("jtag.scans", "ir", "dr")
        if not good:
            continue
        states = trial.rows("jtag.states")
        clocks = max(1, int(states["clocks"].sum()))
        useful = int(states.loc[states["kind"].isin(_STAY), "clocks"].sum()) / clocks
        purpose = f"{useful:.0%} of the clocks shift, idle or reset"
        yield Finding(
            decoder,
            spec,
            probes,
            good,
            bad + (good if useful < _PURPOSE else 0),
            min(1.0, max(0.0, (useful - _AIMLESS) / (_AIMED - _AIMLESS))),
            trial.counted("jtag.scans", "ir", "dr"),
            ("scan", "scans"),
            why=[purpose] if useful >= _PURPOSE else [],
            against=[] if useful >= _PURPOSE else [f"only {purpose}"],
        )


def parallel(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Data lines by name that move at one edge of a clock; any lines could be such a bus without one."""
    probes = evidence.named(decoder)
    data = [probe for channel, probe in probes.items() if channel not in ("clk", "enable")]
    clk = evidence.line(probes.get("clk", ""))
    moving = [line for line in map(evidence.line, data) if line is not None]
    if clk is None or len(data) < 2 or not moving:
        return
    shares = [share for line in moving if (share := low_share(clk, line)) is not None]
    if not shares:
        return
    low = sum(shares) >= len(shares) / 2
    together = min(map(aligned, shares))
    spec, trial = evidence.trial(decoder, probes, {})
    stray = round(trial.good * (1 - together))
    if trial.good:
        yield Finding(
            decoder,
            spec,
            probes,
            trial.good - stray,
            trial.bad + stray,
            together,
            trial.counted(),
            ("value", "values"),
            why=[f"data moves while {clk.name} is {'low' if low else 'high'}"],
        )
