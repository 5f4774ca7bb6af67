"""iWARP: RDMA over TCP, its three layers MPA, DDP and RDMAP, out of TCP streams."""
