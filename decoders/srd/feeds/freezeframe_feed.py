"""What the decoders beside this share: they take rows that the host makes, and no samples."""

from __future__ import annotations

from typing import Any, ClassVar

import sigrokdecode as srd  # type: ignore[import-not-found]  # exists inside sigrok only


class Feed(srd.Decoder):  # type: ignore[misc]  # of a module without types
    """Hands on what rows say; ``give`` takes one."""

    api_version = 3
    license = "gplv3+"
    inputs: ClassVar = ["logic"]
    tags: ClassVar = ["Embedded/industrial"]
    options: Any = ()

    def reset(self) -> None:
        """Begin again; a row says all there is to it."""

    def start(self) -> None:
        """Declare the output."""
        self._out = self.register(srd.OUTPUT_PYTHON)

    def decode(self) -> None:
        """Refuse samples."""
        raise RuntimeError("takes rows, not samples")
