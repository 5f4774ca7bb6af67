"""Bits to events, and the encoders of the same formats."""
