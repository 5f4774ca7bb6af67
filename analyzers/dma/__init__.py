"""What the DMA engines of a card did on the bus, and what its host was notified of: the analysis ``dma``."""
