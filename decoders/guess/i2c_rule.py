"""Rule for I2C: two lines that rest high; data moves while the clock is low, but for START and STOP.

Source: UM10204 3.1.1 to 3.1.6 (START, STOP, nine clocks a byte; after a byte that is not acknowledged
the controller sends STOP or another START).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Evidence, Finding
from freezeframe.decoders.guess.lines import pairs
from freezeframe.decoders.guess.trial import Trial

_REPEATED = 16  # START for each STOP: a memory that is busy is asked again and again
_GOES_ON = 0.25  # of an error
_LOOKED_AT = 1 << 12  # changes of the data line


def i2c(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Try each pair of lines on which there are few changes of data while the clock is high."""
    for scl, sda in pairs(evidence.lines):
        at = sda.sample[:_LOOKED_AT]
        high = (scl.level_at(at) == 1) & (scl.level_at(at - 1) == 1)
        conditions = int(high.sum())
        if len(scl) < 18 or not 1 <= conditions <= max(2, len(scl) // 8):
            continue
        probes = {"scl": scl.name, "sda": sda.name}
        spec, trial = evidence.trial(decoder, probes, {})
        starts = trial.count("i2c.bytes", "start", "repeated-start")
        if not starts:
            continue
        good, bad, explained = _transfers(trial)
        stops = trial.count("i2c.bytes", "stop")
        opened = trial.count("i2c.bytes", "start")
        # One more is under way at either end of the capture; others are noise, and so are repeated ones without end:
        # a bus that never sees a STOP is never free.
        stray = max(0, abs(opened - stops) - 1) + max(0, starts - opened - _REPEATED * (stops + 1))
        against = ["START and STOP do not take turns"] if 2 * stray > good else []
        yield Finding(
            decoder,
            spec,
            probes,
            good,
            bad + stray,
            explained,
            trial.counted("i2c.transfers"),
            ("transfer", "transfers"),
            why=[f"{starts} START, {stops} STOP"],
            against=against,
        )


def _transfers(trial: Trial) -> tuple[int, int, float]:
    """Return the transfers that are sound, those that are not, and the share of edges in sound ones.

    Sound is one that ends where a byte ends: by chance, one in nine does. One that goes on after a byte that
    nobody acknowledged is unusual, but a probe with a wrong threshold shows it.
    """
    rows = trial.rows("i2c.transfers")
    length = rows["data"].map(len).to_numpy()
    refused = ~rows["address_ack"].fillna(True).astype(bool).to_numpy()
    nak_at = rows["nak_at"].to_numpy()
    goes_on = np.where(refused, length > 0, (nak_at >= 0) & (nak_at < length - 1))
    sound = (rows["kind"] == "transfer").to_numpy()
    bytes_ = trial.rows("i2c.bytes")
    # One clock more before a repeated START is what some controllers do.
    single = int(((bytes_["kind"] == "error") & (bytes_["bits"] <= 1)).sum())
    errors = max(0, trial.errors("i2c.bytes") - single)
    explained = trial.explained(rows["t_ps"].to_numpy()[sound], rows["t_end_ps"].to_numpy()[sound])
    good = max(0, int(sound.sum()) - errors)
    unusual = round(_GOES_ON * int((sound & goes_on).sum()))
    return good, errors + trial.errors("i2c.transfers") + unusual, explained
