"""Messages whose CRC is wrong: what explains them and how well, and the analysis ``crc``."""
