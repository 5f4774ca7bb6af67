"""MII, RGMII and RMII: the same rows from edges, from samples and from a mix of both, however they are cut."""

from __future__ import annotations

import random

import numpy as np
import pytest

from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.net.mii import MII
from freezeframe.decoders.net.rgmii import RGMII
from freezeframe.decoders.net.rmii import RMII
from tests.decoders.net import test_mii, test_rgmii, test_rmii
from tests.decoders.net.phy_bus import edges_of
from tests.decoders.pieces import assert_same_tables, cut, decoded, in_any_form

RATE_HZ = test_mii.RATE_HZ


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("decoder", "options", "drawn"),
    [
        (MII, {}, test_mii),
        (RGMII, {"clock": "delayed"}, test_rgmii),
        (RGMII, {"clock": "aligned"}, test_rgmii),
        (RMII, {}, test_rmii),
    ],
    ids=["mii", "rgmii delayed", "rgmii aligned", "rmii"],
)
def test_rows_do_not_depend_on_the_form_of_the_pieces(
    decoder: Decoder, options: dict[str, str], drawn: object, seed: int
) -> None:
    levels = drawn.noise(seed)  # type: ignore[attr-defined]  # one of the modules
    edges = edges_of(levels, [channel.id.upper() for channel in decoder.channels], RATE_HZ)
    bits = tuple(range(len(edges.channels)))
    samples = Samples(np.array(levels, dtype=np.uint16), edges.channels, bits, RATE_HZ, 0)
    rng = random.Random(seed)
    pieces = in_any_form(cut(samples, rng.choices(range(len(levels)), k=20)), rng)
    assert_same_tables(decoded(decoder, *pieces, **options), decoded(decoder, edges, **options))
