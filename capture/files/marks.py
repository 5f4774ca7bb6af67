"""The bytes by which files are recognised, for readers and for whoever looks which reader it is."""

from __future__ import annotations

GHW_MARK = b"GHDLwave"
SALEAE_MARK = b"<SALEAE>"
ZIP_MARK = b"PK\x03\x04"
WAV_MARK = b"RIFF"
