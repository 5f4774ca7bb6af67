"""What the DMA engines of a card did on the bus, and what its host was told: the analysis ``dma``."""
