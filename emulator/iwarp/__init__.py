"""iWARP in user space: verbs over RDMAP over DDP over MPA over a TCP socket, and means to break each of them."""
