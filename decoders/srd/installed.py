"""The sigrok decoders of this machine as entries of the registry."""

from __future__ import annotations

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.registry import SIGROK
from freezeframe.decoders.srd.adapter import srd_decoder
from freezeframe.decoders.srd.catalogue import read_catalogue
from freezeframe.decoders.srd.location import find_sigrok


def installed_decoders() -> tuple[dict[str, Decoder], dict[str, tuple[str, str]]]:
    """Return the decoders by id, and origin and error of those that do not load.

    Where sigrok is not installed, or not usable, there is one error under ``srd-*``.
    """
    try:
        location = find_sigrok()
        catalogue = read_catalogue(location)
    except FreezeframeError as error:
        return {}, {f"{SIGROK}*": ("libsigrokdecode", str(error))}
    origin = f"libsigrokdecode {catalogue.version}"
    decoders: dict[str, Decoder] = {}
    broken = {f"{SIGROK}{name}": (origin, error) for name, error in catalogue.broken.items()}
    for name, described in catalogue.decoders.items():
        try:
            decoder = srd_decoder(location, described)
        except (ValueError, TypeError) as error:
            broken[f"{SIGROK}{name}"] = (origin, str(error))
        else:
            decoders[decoder.id] = decoder
    return decoders, broken
