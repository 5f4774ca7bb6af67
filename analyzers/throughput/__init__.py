"""How fast words went, in each direction and flow, and how near to the limits: the analysis ``throughput``."""
