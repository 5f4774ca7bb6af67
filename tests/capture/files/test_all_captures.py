"""Every shared capture opens, or is refused for a reason that is true of it. A short form: headers and first pieces."""

from __future__ import annotations

import configparser
import re
import zipfile
from pathlib import Path

from freezeframe.capture.files.edges import NO_RATE
from freezeframe.capture.files.open import read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.capture.files.captures import real_capture


def said(path: Path) -> dict[str, str]:
    """Return the keys of the device of a session, read without the code under test."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read("metadata").decode()
    plain = "\n".join(line.strip() for line in text.splitlines())
    parser = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#", ";"), strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # letters stay as they are
    parser.read_string(plain)
    return dict(parser["device 1"])


def test_every_shared_capture_opens() -> None:
    files = sorted(real_capture("dumps").rglob("*.sr"))
    assert len(files) >= 300
    for path in files:
        device = said(path)
        probes = [value for key, value in device.items() if re.fullmatch(r"probe\d+", key)]
        analog = [value for key, value in device.items() if re.fullmatch(r"analog\d+", key)]
        header = read_header(path)
        names = [re.sub(r"#\d+$", "", name) for name in (*header.channels, *header.refused)]
        if probes or "capturefile" not in device:
            assert names == [*probes, *analog], path
        settings = ReadSettings()
        if not header.channels:
            assert all("analog" in why for why in header.refused.values()), path
            settings = ReadSettings(thresholds={"": Threshold(1.0, 0.5)})
        first = next(read_edges(path, None, settings))
        assert len(first) >= 1, path
        assert first.sample[0] == 0, path
        assert (first.samplerate_hz == NO_RATE) == ("samplerate" not in device), path
