"""Live counters: what a card, a network interface or an RDMA port counts, read again and again."""
