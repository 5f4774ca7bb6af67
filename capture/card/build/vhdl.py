"""The VHDL package of a card's device: its component, for a design in VHDL."""

from __future__ import annotations

import re

from freezeframe.capture.card.build.ports import module_name, top_ports
from freezeframe.capture.card.elaborated import ElaboratedCard

_PORT = re.compile(r"(input|output)\s+wire (?:\[(\d+):(\d+)\] )?(\w+)")


# IEEE 1076-1993 13.9: words that are no names.
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
abs access after alias all and architecture array assert attribute begin block body buffer bus case component
configuration constant disconnect downto else elsif end entity exit file for function generate generic group guarded
if impure in inertial inout is label library linkage literal loop map mod nand new next nor not null of on open or
others out package port postponed procedure process pure range record register reject rem report return rol ror
select severity shared signal sla sll sra srl subtype then to transport type unaffected units until use variable
wait when while with xnor xor
""",
    )
)
_BASIC = re.compile(r"[a-z](_?[a-z0-9])*")


def vhdl_package(card: ElaboratedCard) -> str:
    """Return the text of the package ``NAME_freezeframe_pkg``, with the generics of the Verilog."""
    name = module_name(card)
    ports = ";\n".join(f"      {_port(port)}" for port in top_ports(card))
    uart = "      UART_CYCLES : positive;\n" if card.said.transport.bus == "uartbone" else ""
    return f"""-- The component of card {card.name}, made by 'freezeframe card build'.
library ieee;
use ieee.std_logic_1164.all;

package {name}_pkg is
  component {name} is
    generic (
{uart}      BUILD_HASH  : std_logic_vector(31 downto 0) := x"00000000";
      DEVICES     : positive := 1;
      INDEX       : natural := 0;
      TIME_MASTER : natural := 1
    );
    port (
{ports}
    );
  end component;
end package;
"""


def _port(declared: str) -> str:
    found = _PORT.fullmatch(declared)
    assert found is not None, declared
    direction, high, low, name = found.groups()
    kind = "std_logic" if high is None else f"std_logic_vector({high} downto {low})"
    if not _BASIC.fullmatch(name) or name in _WORDS:
        name = f"\\{name}\\"  # an extended identifier, IEEE 1076-1993 13.3.2
    return f"{name} : {'in' if direction == 'input' else 'out'} {kind}"
