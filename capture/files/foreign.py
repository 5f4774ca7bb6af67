"""Files whose inside nobody documents, or that a tool of their own reads: what they are, and the export that works."""

from __future__ import annotations

from pathlib import Path

_BY_NAME = {
    ".sal": ("a capture of Saleae Logic 2, whose inside Saleae does not document",
             "in Logic 2 choose File > Export Raw Data, as binary or CSV"),
    ".logicdata": ("a capture of Saleae Logic 1, whose inside Saleae does not document",
                   "in Logic 1 choose Options > Export data, as CSV or VCD"),
    ".dwf3work": ("a workspace of Digilent WaveForms", "in WaveForms choose File > Export, as CSV"),
    ".fsdb": ("a waveform database of Verdi, whose inside Synopsys does not document",
              "fsdb2vcd FILE -o FILE.vcd"),
    ".wlf": ("a waveform log of Questa or ModelSim", "wlf2vcd -o FILE.vcd FILE"),
    ".vpd": ("a dump of VCS", "vpd2vcd FILE FILE.vcd"),
    ".wdb": ("a waveform database of the Vivado simulator", "simulate with open_vcd and log_vcd"),
    ".trn": ("a database of Xcelium", "simvisdbutil FILE -vcd -output FILE.vcd"),
    ".ila": ("a capture of a Vivado ILA", "write_hw_ila_data -csv_file FILE.csv, or -vcd_file FILE.vcd"),
    ".stp": ("a Signal Tap file of Quartus", "in Signal Tap choose File > Export, as CSV or VCD"),
    ".wfm": ("a waveform in the own form of an oscilloscope", "save the waveform as CSV, of Tektronix also as .isf"),
    ".trc": ("a waveform of a LeCroy oscilloscope", "save the waveform as ASCII or CSV"),
}  # fmt: skip


def foreign(path: str | Path) -> str:
    """Return what a file is that is not read, and what to export instead; "" where it is none of these."""
    place = Path(path)
    known = _BY_NAME.get(place.suffix.lower())
    if known is None:
        return ""
    what, instead = known
    return f"{what}; {instead.replace('FILE', place.stem)}, and give that"
