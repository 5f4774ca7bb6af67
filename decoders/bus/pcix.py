"""PCI-X: transactions with their attributes, and Split Completions matched to the requests they answer.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b; mode 1 of 2.0.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.bus.pci_signals import CHANNELS, TAKE
from freezeframe.decoders.contract import EDGES, Decoder, Output

PCIX = Decoder(
    id="pcix",
    name="PCI-X",
    doc="PCI-X 1.0b and mode 1 of 2.0: transactions with attributes, splits matched; violations",
    consumes=EDGES,
    produces=(
        Output(
            "pcix.phases",
            code("freezeframe.decoders.bus.pcix_tables:phase_schema"),
            "address, attribute and data phases",
        ),
        Output(
            "pcix.transactions",
            code("freezeframe.decoders.bus.pcix_tables:transaction_schema"),
            "transactions and errors",
        ),
        Output(
            "pcix.splits",
            code("freezeframe.decoders.bus.pcix_tables:split_schema"),
            "split requests with what answered them",
        ),
    ),
    decode=code("freezeframe.decoders.bus.pci_code:decode_pci"),
    decode_samples=code("freezeframe.decoders.bus.pci_code:decode_pci"),
    new_state=code("freezeframe.decoders.bus.pci_code:new_pcix_state"),
    channels=CHANNELS,
    options=(TAKE,),
    texts=code("freezeframe.decoders.bus.pcix_tables:pcix_texts"),
)
