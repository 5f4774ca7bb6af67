"""Rule for 1-Wire: a reset pulse that somebody answers, and commands after it.

Slots alone prove nothing: short and long pulses are of many protocols. Source: the data sheet of the DS18B20,
"1-Wire signaling" (reset and presence before each function; the ROM code ends with a CRC).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Evidence, Finding

_MOST_LINES = 8
_KNOWN_ROM = 16  # bytes that a ROM code with a right CRC is worth: chance gives one in 256
_NO_CODE = 3.0  # bits by which a bus is rarer that shows no right ROM code
_SLOTS = 8  # of a byte


def onewire(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Try each line; what stands before the first reset does not count."""
    for line in evidence.lines[:_MOST_LINES]:
        if not line.samplerate_hz or line.clock_hz:
            continue
        spec, trial = evidence.trial(decoder, {"owr": line.name}, {})
        if not trial.count("onewire.bytes", "reset"):
            continue
        rows = trial.rows("onewire.bytes")
        answered = rows.loc[(rows["kind"] == "reset") & rows["present"].eq(True), "t_ps"]
        if not len(answered):
            continue
        after = rows[(rows["t_ps"] >= answered.iloc[0]) & (rows["kind"] != "error")]
        known = int(after["crc_ok"].eq(True).sum())
        resets = int((rows["kind"] == "reset").sum())
        yield Finding(
            decoder,
            spec,
            {"owr": line.name},
            len(after) + _KNOWN_ROM * known,
            trial.errors("onewire.bytes") + trial.errors("onewire.slots") // _SLOTS,
            trial.explained_by("onewire.slots"),
            trial.counted("onewire.bytes"),
            ("reset, byte or code", "resets, bytes and codes"),
            0.0 if known or evidence.fits(decoder, "owr", line.name) else _NO_CODE,
            why=[f"{len(answered)} of {resets} resets are answered"]
            + ([f"{known} ROM codes with a right CRC"] if known else []),
        )
