"""Run as a program: start `capture/files/wave_child.py` again and again, as forks of a process that has loaded it.

A message on the socket, whose number is the first argument, is the child's arguments as JSON, with two descriptors:
what its standard output and standard error are. The answer is sent when it has ended: its exit code as `subprocess`
has it, and the seconds of the processor it took. Any message meanwhile ends it; one without descriptors that comes too
late for that is nothing. One child at a time; a child shuts itself in as it always does, the nursery does not.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any

_MESSAGE_B = 1 << 16


def main(number: int, child_place: str) -> None:
    """Fork a child for each message until the socket is closed."""
    spec = importlib.util.spec_from_file_location("wave_child", child_place)
    if spec is None or spec.loader is None:
        raise ImportError(child_place)
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    child._jail()  # loads what it needs; nobody is shut in
    import pywellen  # type: ignore[import-untyped]  # noqa: F401  # so that no fork loads it

    gc.freeze()
    line = socket.socket(fileno=number)
    while True:
        message, handed, _, _ = socket.recv_fds(line, _MESSAGE_B, 2)
        if not message:
            return
        if not handed:
            continue
        pid = os.fork()
        if not pid:
            _born(child, json.loads(message), handed)
        for one in handed:
            os.close(one)
        watched = os.pidfd_open(pid)
        while watched not in select.select([watched, line.fileno()], [], [])[0]:
            line.recv(_MESSAGE_B)
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
        os.close(watched)
        answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
        line.send(json.dumps(answer).encode())


def _born(child: Any, given: list[str], handed: list[int]) -> None:
    code = 1
    try:
        for here, there in zip(handed, (1, 2), strict=True):
            os.dup2(here, there)
        child.main(int(given[0]), int(given[1]), given[2], given[3], given[4:])
        code = 0
    except BaseException:  # as a program of its own would say it
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
