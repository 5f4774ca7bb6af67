"""A device as Yosys elaborates it: its registers by name, their clocks, and every path between two of other clocks."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.processes import run_program
from tests.rtl.simulation import tool

_BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$pos", "$mux", "$pmux"}
_OUTPUTS = {"Y", "Q", "RD_DATA", "CO", "X"}


class Register(NamedTuple):
    """A register of an instance: path with dots, module of the path, name in it, clock's port."""

    instance: str
    module: str
    name: str
    clock: str


@dataclass
class Netlist:
    """``crossings``: (from, to) for each pair of registers in two clocks with gates or wires alone between them."""

    instances: dict[str, str]
    registers: set[Register]
    crossings: set[tuple[Register, Register]]


def netlist(top: str, files: Sequence[str], folder: Path) -> Netlist:
    """Elaborate a design, memories kept as memories, and find its crossings; its clocks are ports clk_*."""
    script = (  # -defer: a module is elaborated with its real parameters alone, a tenth of the time
        f"read_verilog -defer {' '.join(files)}; hierarchy -check -top {top}; proc; write_json hier.json; "
        "setattr -mod -unset keep_hierarchy *; flatten; memory_collect; write_json flat.json"
    )
    done = run_program([tool("yosys"), "-q", "-p", script], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    modules = json.loads((folder / "hier.json").read_text())["modules"]
    flat = json.loads((folder / "flat.json").read_text())["modules"][top]
    return _Reader(dict(_instances(modules, top, "")), flat, folder).read()


def _instances(modules: Any, module: str, path: str) -> Any:
    yield path, _base(module)
    for name, cell in modules[module]["cells"].items():
        if cell["type"] in modules:
            yield from _instances(modules, cell["type"], f"{path}.{name}" if path else name)


def _base(module: str) -> str:
    """``$paramod$hash\\ff_x`` and ``$paramod\\ff_x\\W=..`` are ff_x."""
    found = re.search(r"(?:^|\\)([a-z]\w*)(?:\\|$)", module)
    return found[1] if found else module


class _Reader:
    def __init__(self, instances: dict[str, str], flat: Any, folder: Path) -> None:
        self.instances, self.flat = instances, flat
        self.clocks = {
            bits["bits"][0]: port
            for port, bits in flat["ports"].items()
            if port.startswith("clk_") and bits["direction"] == "input"
        }
        self.names: dict[int, list[str]] = defaultdict(list)
        for name, net in flat["netnames"].items():
            if not net["hide_name"]:
                for bit in net["bits"]:
                    if isinstance(bit, int):  # the others are constants
                        self.names[bit].append(name)
        self.declared = {
            path.stem: set(_declared(path.read_text())) for path in folder.rglob("*.v")
        }

    def read(self) -> Netlist:
        driver: dict[int, tuple[int, ...] | frozenset[Register]] = {}
        ends: list[tuple[Register, set[int]]] = []
        for name, cell in self.flat["cells"].items():
            pins = cell["connections"]
            kind = cell["type"]
            if kind.startswith("$mem"):
                self._memory(name, pins, driver, ends)
            elif "CLK" in pins:
                clock = self.clocks.get(pins["CLK"][0])
                if clock is None:
                    continue  # the clock that a card of one clock has not got
                for q, d in zip(pins["Q"], pins["D"], strict=True):
                    if not self.names[q]:
                        continue  # a bit that nothing reads
                    register = self._register(name, q, clock)
                    driver[q] = frozenset([register])
                    rest = {
                        bit
                        for pin, bits in pins.items()
                        if pin not in ("Q", "D", "CLK")
                        for bit in bits
                    }
                    ends.append((register, {d} | rest))
            else:
                self._gate(kind, pins, driver)
        starts = _Starts(driver)
        crossings = {
            (start, end)
            for end, bits in ends
            for bit in bits
            for start in starts.of(bit)
            if start.clock != end.clock
        }
        return Netlist(self.instances, {end for end, _ in ends}, crossings)

    def _gate(self, kind: str, pins: Any, driver: dict[int, Any]) -> None:
        inputs = [bits for pin, bits in pins.items() if pin not in _OUTPUTS]
        whole = tuple(bit for bits in inputs for bit in bits)
        for pin in pins.keys() & _OUTPUTS:
            width = len(pins[pin])
            for n, out in enumerate(pins[pin]):
                driver[out] = whole
                if kind in _BITWISE:
                    wide = [bits for p, bits in pins.items() if p in ("A", "B")]
                    lone = tuple(pins.get("S", ()))
                    driver[out] = lone + tuple(
                        bit for bits in wide for bit in bits[n::width]
                    )  # fmt: skip

    def _memory(self, name: str, pins: Any, driver: dict[int, Any], ends: Any) -> None:
        """A memory whose read port has no clock is a register that its write port fills."""
        clock = self.clocks.get(pins["WR_CLK"][0]) if pins["WR_CLK"] else None
        path = self._owner(name)
        own = name[len(path) + 1 :] if path else name
        if clock is None:  # a ROM
            for out in pins["RD_DATA"]:
                driver[out] = tuple(pins["RD_ADDR"])
            return
        register = Register(path, self.instances[path], own, clock)
        ends.append(
            (register, {bit for pin in ("WR_ADDR", "WR_DATA", "WR_EN") for bit in pins[pin]})
        )
        ports = len(pins["RD_CLK"])
        data_w, address_w = len(pins["RD_DATA"]) // ports, len(pins["RD_ADDR"]) // ports
        for n, out in enumerate(pins["RD_DATA"]):
            port = n // data_w
            driver[out] = (
                -id(register),
                *pins["RD_ADDR"][port * address_w : (port + 1) * address_w],
            )
            driver[-id(register)] = frozenset([register])

    def _register(self, cell: str, bit: int, clock: str) -> Register:
        """Return the register at a flip-flop's output, by the name that its module declares as one."""
        path = cell.replace("$flatten", "").replace("\\", "").rpartition(".$")[0]
        module = self.instances[path]
        prefix = f"{path}." if path else ""
        own = [name[len(prefix) :] for name in self.names[bit] if name.startswith(prefix)]
        own = [name for name in own if name.rpartition(".")[2] in self.declared[module]]
        own = [name for name in own if self._owner(prefix + name) == path]
        assert own, (cell, self.names[bit][:20])
        return Register(path, module, min(own, key=len), clock)

    def _owner(self, name: str) -> str:
        while name not in self.instances:
            name = name.rpartition(".")[0]
        return name


def _declared(text: str) -> Any:
    """Give the names that a Verilog text declares as reg."""
    for line in re.sub(r"//.*", "", text).splitlines():
        found = re.search(
            r"\breg\b\s*(?:signed\s*)?(?:\[[^;]*?:[^;]*?\]\s*)?([A-Za-z_][^;)=]*)", line
        )
        if found:
            yield from re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", found[1]))


class _Starts:
    """The registers in which the paths to a bit begin."""

    def __init__(self, driver: dict[int, Any]) -> None:
        self.driver = driver
        self.known: dict[int, frozenset[Register]] = {}

    def of(self, bit: Any) -> frozenset[Register]:
        """Walk back from a bit without recursion; a loop of gates would not end, and there is none."""
        waiting = [bit]
        while waiting:
            at = waiting[-1]
            if at in self.known:
                waiting.pop()
                continue
            source = self.driver.get(at, ())
            if isinstance(source, frozenset):
                self.known[at] = source
                continue
            unknown = [b for b in source if b not in self.known]
            if unknown:
                waiting.extend(unknown)
            else:
                self.known[at] = frozenset().union(*(self.known[b] for b in source))
        return self.known[bit]
