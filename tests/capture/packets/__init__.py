"""Tests of `freezeframe.capture.packets`."""
