"""Targets, registers, verified pull, the capture folder, file formats, instruments, time base, errors."""
