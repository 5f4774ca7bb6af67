"""What Freezeframe's decoder ``spi`` has found, as objects for sigrok's decoders on top."""

# The folder above is on sigrok's path, not on that of Freezeframe.
from freezeframe_spi.pd import Decoder  # type: ignore[import-not-found]

__all__ = ["Decoder"]
