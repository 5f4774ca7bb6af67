"""Which qualification an explanation may use: one of this card and build, and whose clocks are those of the capture."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.crystal import MAY_DRIFT_PPB
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import CHECKS, HOST, Qualification
from freezeframe.capture.timebase import DRIFT_PPB_PER_S, TimeBase

_PPB = 10**9
_OFF = {
    "bits": "the tap is left out",
    "level": "that level says nothing of lost and repeated words",
    "late": "that level is believed to twice as many words while words move",
    "checker": "that count is no witness",
    "cause": "that the card did not freeze for it is no witness",
    "law": "that law is not asked",
}


def not_usable(folder: CaptureFolder, qualified: Qualification) -> str:
    """Return why a qualification says nothing of a capture, in words; empty where it does."""
    return qualified.not_of(folder) or _other_clocks(folder, qualified)


def _other_clocks(folder: CaptureFolder, qualified: Qualification) -> str:
    """Return how a clock of the capture is not the one that was qualified: each crystal has a rate of its own."""
    for (device, domain), clock in TimeBase.from_folder(folder).clocks.items():
        crystal = qualified.crystal(device, domain)
        if crystal is None or clock.relation != "two pairs" or clock.pairs is None:
            continue
        cycles = clock.pairs[1] - clock.pairs[0]
        unc = _PPB // cycles + cycles * DRIFT_PPB_PER_S // clock.clk_hz + 1
        if abs(clock.rate_ppb - crystal.ppb) > unc + crystal.unc_ppb + MAY_DRIFT_PPB:
            return (
                f"{device}.{domain} runs {clock.rate_ppb / 1000:+.1f} ± {unc / 1000:.1f} ppm off in the capture, and "
                f"was qualified at {crystal.text}: another card"
            )
    return ""


def told(qualified: Qualification) -> Iterator[str]:
    """Yield a sentence for what a qualification adds to an answer: which it is, clocks, and what is off."""
    asked = len(qualified.checks)
    yield (
        f"{qualified.said[0].upper()}{qualified.said[1:]} was used: {asked - len(qualified.failed)} of {asked} "
        "assumptions hold on this card."
    )
    for rate in qualified.clocks:
        if rate.by == HOST:
            yield f"{rate.device}.{rate.clock} ran {rate.crystal.text} off its nominal clock by the host's."
    for check in qualified.failed:
        off = _OFF.get(check.what, "known, and nothing is switched off for it")
        yield f"Does not hold: {CHECKS[check.what]}. {check.text}; {off}."
