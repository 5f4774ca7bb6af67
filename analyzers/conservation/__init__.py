"""Conservation laws held against a capture: the analysis ``conservation``."""
