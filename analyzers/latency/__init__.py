"""How long each message took, phase by phase: the analysis ``latency``."""
