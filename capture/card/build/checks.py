"""The checkers that raise a card's causes, as instances of ``firmware-hooks/rtl/check``."""

from __future__ import annotations

from freezeframe.capture.card.build.ports import keep, shape, stream
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedTap
from freezeframe.capture.card.tables import Cause, Format, FormatField

# IEEE 802.3 3.2.7: 64 to 1,518 bytes from the destination address to the FCS, 4 more with a VLAN tag (802.1Q).
_SHORTEST_B, _LONGEST_B, _FCS_B, _PREAMBLE_B = 64, 1522, 4, 8


def checker(card: ElaboratedCard, check: str, tap: ElaboratedTap, said: Cause, bad: str) -> str:
    """Return the instance that pulses the wire ``bad`` at each failure of a check at a tap."""
    form = card.said.format.get(tap.said.format, Format(is_="raw"))
    bytes_ = f"{stream(tap)}, .tdata({tap.name}_tdata), {keep(tap)}, .bad({bad})"
    timing = stream(tap).rpartition(", ")[0]
    if check == "fcs":
        parameters, ports = (
            f"{shape(tap)}, .PREAMBLE({int(form.preamble)})",
            f"{bytes_}, .checked({bad}_checked)",
        )
    elif check == "user":
        user = tap.said.user
        width, bit = (user.bits, user.bad_frame or 0) if user else (1, 0)
        parameters = f".USER_W({width}), .BIT({bit})"
        ports = f"{stream(tap)}, .tuser({tap.name}_tuser), .bad({bad})"
    elif check in ("no-ready", "watchdog"):
        parameters, ports = f".CYCLES({said.cycles})", f"{timing}, .bad({bad})"
    elif check == "gap":
        parameters, ports = "", f"{stream(tap)}, .bad({bad})"
    elif check == "sequence":
        field = form.field[said.field.rpartition(".")[2]]
        parameters, ports = f"{shape(tap)}, {_place(field)}", bytes_
    else:
        parameters, ports = f"{shape(tap)}, {_lengths(form)}", bytes_
    module = f"ff_check_{check.replace('-', '_')}"
    declared = f"    wire {bad}_checked;\n" if check == "fcs" else ""
    given = f" #({parameters})" if parameters else ""
    return f"{declared}    {module}{given} i_{bad} (\n        {ports}\n    );"


def _place(said: FormatField) -> str:
    little = int(said.order == "little" and said.bits > 8)
    return f".AT({said.at_bit}), .WIDTH({said.bits}), .LITTLE({little})"


def _lengths(form: Format) -> str:
    shortest, longest = form.shortest_B, form.longest_B
    if form.is_ == "ethernet":
        fcs_B = _FCS_B * (form.fcs != "present")
        before_B = _PREAMBLE_B * form.preamble  # the block counts it
        shortest = (shortest or _SHORTEST_B - fcs_B) + before_B
        longest = (longest or _LONGEST_B - fcs_B) + before_B
    limits = f".SHORTEST({shortest}), .LONGEST({longest})"
    if not form.length:
        return limits
    return (
        f"{_place(form.field[form.length])}, .WITH_FIELD(1), .PLUS({form.length_plus_B}), {limits}"
    )
