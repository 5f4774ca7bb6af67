"""Trace records of a Freezeframe device: encoders, kernels, and the decoder of a whole capture folder."""
