"""Decoders of serial buses."""
