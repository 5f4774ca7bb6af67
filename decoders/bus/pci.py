"""PCI: transactions with their data, waits and termination, the phases, and what breaks the rules.

Source: PCI Local Bus Specification 3.0.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.bus.pci_signals import CHANNELS, TAKE
from freezeframe.decoders.contract import EDGES, Decoder, Output

PCI = Decoder(
    id="pci",
    name="PCI",
    doc="PCI bus, 32 or 64 bits: transactions with data, waits, termination and retries; violations",
    consumes=EDGES,
    produces=(
        Output(
            "pci.phases",
            code("freezeframe.decoders.bus.pci_tables:phase_schema"),
            "address and data phases",
        ),
        Output(
            "pci.transactions",
            code("freezeframe.decoders.bus.pci_tables:transaction_schema"),
            "transactions and errors",
        ),
    ),
    decode=code("freezeframe.decoders.bus.pci_code:decode_pci"),
    decode_samples=code("freezeframe.decoders.bus.pci_code:decode_pci"),
    new_state=code("freezeframe.decoders.bus.pci_code:new_pci_state"),
    channels=CHANNELS,
    options=(TAKE,),
    texts=code("freezeframe.decoders.bus.pci_tables:pci_texts"),
)
