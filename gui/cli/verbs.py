"""The verbs as a table: what the top-level help prints and where each verb's code is.

Importing typer alone costs 0.1 s and the rooms below far more, so the help of the whole program is
printed from this table and only the verb that is to run is imported.
"""

from __future__ import annotations

from typing import NamedTuple

from freezeframe import __version__


class Verb(NamedTuple):
    """A verb: its name, what it does in one line, and its heading in the help.

    ``freezeframe.gui.cli.<name>`` (``_`` for ``-``) holds a function ``run`` that typer makes the command of.
    """

    name: str
    summary: str
    heading: str
    file: str = ""  # where a module cannot be named as the verb

    @property
    def unpacks(self) -> bool:
        """Whether the verb reads files that may be packed, so that it has ``--max-unpacked``."""
        return self.heading == _CAPTURE and self.name not in _NEVER_PACKED

    @property
    def module(self) -> str:
        return f"freezeframe.gui.cli.{self.file or self.name.replace('-', '_')}"


_START = "To begin"
_DEVICE = "A network card"
_PROVOKE = "Provoke a network card"
_CAPTURE = "A capture"
_PROTOCOL = "A protocol"

_NEVER_PACKED = ("capture", "decoders", "recording", "recover")

VERBS: tuple[Verb, ...] = (
    Verb("demo", "Inject a fault into an emulated card, catch it, explain it.", _START),
    Verb("reproduce", "Measure a paper's numbers, beside the paper's.", _START),
    Verb("what-if", "Change a described or a recorded adapter and see what that buys.", _START),
    Verb("calibrate", "Fit a described adapter to a capture, with intervals.", _CAPTURE),
    Verb("targets", "List the ways to reach a card, or the devices behind one.", _START),
    Verb("emulate", "Run the emulated pair of cards as an Etherbone server.", _START),
    Verb("sim-board", "Run the example pair in Verilog as an Etherbone server.", _START),
    Verb("card", "Describe a card in a file: begin one, check it, show it.", _START),
    Verb("iwarp", "Speak iWARP with a peer: listen, connect, measure, break.", _PROTOCOL),
    Verb("status", "Tell the state of the recorder and what froze it.", _DEVICE),
    Verb("reg", "Read, write and dump registers by name.", _DEVICE),
    Verb("counters", "Show every counter of a card, named, from one snapshot.", _DEVICE),
    Verb("watch", "Show live counters in the terminal.", _DEVICE),
    Verb("serve", "Offer live counters to Prometheus, and as JSON.", _DEVICE),
    Verb("trigger", "Set what a card freezes on, and print it as compiled.", _DEVICE),
    Verb("arm", "Start a new recording, where the one in the card may go.", _DEVICE),
    Verb("freeze", "Stop recording now and keep what was recorded.", _DEVICE),
    Verb("pull", "Copy a frozen recording into a capture folder, verified.", _DEVICE),
    Verb("guard", "Wait for freezes unattended: pull, arm again, explain.", _DEVICE),
    Verb("night", "Sum up what a guard has caught.", _DEVICE),
    Verb("selftest", "Test a card from its registers up to the link.", _DEVICE),
    Verb("qualify", "Measure what holds on this card, for explain to use.", _DEVICE),
    Verb("rx-dma", "Stop or start the receive DMA: back-pressure on demand.", _PROVOKE),
    Verb("traffic", "Let a card send pattern packets.", _PROVOKE),
    Verb("inject", "Send one hand-built packet.", _PROVOKE),
    Verb("loopback", "Let a card hear its own link.", _PROVOKE),
    Verb("console", "Read what the C hooks print on a card's serial port.", _DEVICE),
    Verb("explain", "Say what went wrong, where and when, with the evidence.", _CAPTURE),
    Verb("check", "Check that counters, registers and traces add up.", _CAPTURE),
    Verb("learn", "Write a fault file from a good and a bad capture.", _CAPTURE),
    Verb("diff", "Compare a good and a bad run: what differs, and where first.", _CAPTURE),
    Verb("open", "Show captures, files and live cards in a window.", _CAPTURE),
    Verb("analyze", "Run analyses: throughput, credits, latency and others.", _CAPTURE),
    Verb("report", "Write the explanation as one HTML file.", _CAPTURE),
    Verb("plot", "Draw what analyses measured, as PNG or SVG.", _CAPTURE),
    Verb("capture", "Capture from a logic analyzer or an oscilloscope.", _CAPTURE),
    Verb("decode", "Decode a logic-analyzer capture or a capture folder.", _CAPTURE),
    Verb(
        "import",
        "Store captures in a folder, unaltered, with how to read them.",
        _CAPTURE,
        "import_files",
    ),
    Verb("recording", "Show, export or plot what watch and serve recorded.", _CAPTURE),
    Verb("recover", "End what a crash left open: recordings, captures.", _CAPTURE),
    Verb("verify", "List all damage of captures and recordings.", _CAPTURE),
    Verb("bundle", "Pack a capture and its report into one file to mail.", _CAPTURE),
    Verb("export", "Write a capture or its events for another tool.", _CAPTURE),
    Verb("expect", "Hold decoded rows against a file of expectations.", _CAPTURE),
    Verb("decoders", "List the decoders with their channels and options.", _CAPTURE),
)


def version_text() -> str:
    """Return ``freezeframe VERSION``."""
    return f"freezeframe {__version__}"


def help_text() -> str:
    """Return the help of the whole program, made from the table alone."""
    lines = [
        "Usage: freezeframe VERB [OPTIONS] [ARGUMENTS]",
        "",
        "A flight recorder for network cards: pull what a card recorded when it froze, and",
        "say what went wrong, where and when.",
    ]
    for heading in dict.fromkeys(verb.heading for verb in VERBS):
        lines += ["", f"{heading}:"]
        lines += [f"  {v.name:<10}{v.summary}" for v in VERBS if v.heading == heading]
    lines += [
        "",
        "Options:",
        "  --version              Print the version.",
        "  --install-completion   Install completion for this shell.",
        "  --help                 Print this help; 'freezeframe VERB --help' explains a verb.",
        "",
        "Examples:",
        "  freezeframe demo",
        "  freezeframe status etherbone://192.0.2.7",
        "  freezeframe pull etherbone://192.0.2.7 -o fault.ff",
        "  freezeframe explain fault.ff",
        "  freezeframe decode phy.sr -d mdio",
        "",
        "Exit codes: 0 fine; 1 findings, where asked to fail on them; 2 bad input; 3 device or",
        "transport failure; 130 interrupted.",
    ]
    return "\n".join(lines)
