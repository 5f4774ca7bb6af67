"""Capturing from devices on the bench: logic analyzers through sigrok-cli, instruments through VISA."""
