"""MII, RGMII and RMII: the same rows from edges, from samples and from a mix of both, however they are cut."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.net.mii import MII
from freezeframe.decoders.net.rgmii import RGMII
from freezeframe.decoders.net.rmii import RMII
from tests.decoders.net import test_mii, test_rgmii, test_rmii
from tests.decoders.net.phy_bus import edges_of

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
    values = decoder.option_values(options)
    whole = decoder.decode(edges, values, decoder.new_state(values), True)

    bits = tuple(range(len(edges.channels)))
    samples = Samples(np.array(levels, dtype=np.uint16), edges.channels, bits, RATE_HZ, 0)
    rng = random.Random(seed)
    state = decoder.new_state(values)
    assert decoder.decode_samples is not None
    tables = []
    for begin, end in pairwise(sorted({0, len(levels), *rng.choices(range(len(levels)), k=20)})):
        piece = samples.cut(begin, end)
        last = end == len(levels)
        if rng.random() < 0.5:
            tables.append(decoder.decode_samples(piece, values, state, last))
        else:
            tables.append(decoder.decode(piece.edges(), values, state, last))
    for kind, table in whole.items():
        assert pa.concat_tables(made[kind] for made in tables).to_pylist() == table.to_pylist()
