"""What an emulated second costs, with idle stretches skipped and simulated: ``python -m tests.emulator.idle_cost``.

The fault of the last line begins after an hour; that run is whole. The rates are of runs of `_SPEND_S` of processor
time or of a thousand hours, after a stretch that is not counted.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from freezeframe.emulator.target import EmulatorTarget

_SPEND_S = 2.0
_PIECE_PS = 20 * 10**9
_LOADS = ("", "10s", "100ms", "10ms", "1ms", "light")
_HOUR_PS = 3600 * 10**12


def card_seconds_a_second(load: str, skips: bool, nothing: Path) -> float:
    """Return the card's seconds in one of processor time, of a pair without a fault; no load is no message at all."""
    pair = EmulatorTarget(seed=3, load=load or None, workload=None if load else str(nothing))
    pair.pair.skips_idle = skips
    for receiving in (nic.host.receiving for nic in pair.pair.nics):
        receiving.stops = []  # a clean run that stops for long freezes and costs nothing more
    pair.advance(_PIECE_PS)
    piece_ps, begin_ps, begin_s = _PIECE_PS, pair.now_ps, time.process_time()
    spent_s = 0.0
    while spent_s < _SPEND_S and pair.now_ps < 1000 * _HOUR_PS:
        pair.advance(piece_ps)
        piece_ps = min(2 * piece_ps, _HOUR_PS)
        spent_s = time.process_time() - begin_s
    return (pair.now_ps - begin_ps) / 1e12 / spent_s


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        nothing = Path(folder) / "nothing.csv"
        nothing.write_text("")
        print(f"{'load':10}{'simulated':>14}{'skipped':>14}   card seconds a second of CPU")
        for load in _LOADS:
            plain, skipping = (
                card_seconds_a_second(load, skips, nothing) for skips in (False, True)
            )
            print(f"{load or 'none':10}{plain:14.3g}{skipping:14.3g}   {skipping / plain:,.2f} x")
    begin_s = time.process_time()
    pair = EmulatorTarget(fault="lane-misaligned:after=1h", load="100ms", seed=7)
    frozen = pair.run_until_frozen(2 * _HOUR_PS)
    spent_s = time.process_time() - begin_s
    print(
        f"lane-misaligned:after=1h, load 100ms: {'froze' if frozen else 'did not freeze'} after "
        f"{pair.pair.truth.injections[0].t_ps / 1e12:,.6f} s in {spent_s:.0f} s of CPU"
    )


if __name__ == "__main__":
    main()
