"""Conformance: numbered requirements of the RFCs put to a peer, each with a verdict and its evidence."""
