"""Captures of formats 1.0 and 1.1 as format 2.0 says it. Nothing that was recorded is touched.

They have no card: their devices are of map 1, and the card that ships lists their register map. They have no
history, no custody, and one hash a file; what they do not say stands as not known.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping

from freezeframe.capture.card.map_1 import MAP, card_of_map
from freezeframe.capture.folder.history import unknown_history
from freezeframe.capture.folder.manifest import FORMAT_NAME, FORMAT_VERSION, Json
from freezeframe.capture.folder.raw_files import stated_files


def as_2_0(manifest: Json, raw: Mapping[str, bytes]) -> Json:
    """Return the manifest of a capture of map 1 as format 2.0; one that is of it already as it is.

    Args:
        raw: the files it names, checked; they stay as they are.
    Raises:
        KeyError, TypeError: the manifest does not say what its version always says.
    """
    if tuple(manifest["format"][1:]) == FORMAT_VERSION:
        return manifest
    card = card_of_map().card
    known = f"{card.hash:016x}"
    rest = {
        key: value for key, value in manifest.items() if key not in ("format", "devices", "raw")
    }
    return {
        "format": [FORMAT_NAME, *FORMAT_VERSION],
        "converted_from": manifest["format"][1:],
        "map": MAP,
        **rest,
        "cards": {known: {"file": None, "name": card.name, "version": card.said.card.version}},
        "devices": [{**entry, "card": known} for entry in manifest["devices"]],
        "history": unknown_history({e["name"]: e["generation"] for e in manifest["devices"]}),
        "custody": [],
        "raw": stated_files(dict(raw)),
    }
