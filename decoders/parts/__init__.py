"""Chips that are read out over a serial bus: operations instead of bytes."""
