"""Exports: what a capture or its decoders hold, in the formats of other tools."""
