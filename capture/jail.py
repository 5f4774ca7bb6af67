"""A process that runs foreign native code shuts itself in: memory, no core files, no network, no other program.

Of the standard library alone, and of nothing else of this project: the processes that use it have a path of their own.
They load it by its place. What is forbidden by the kernel's filter answers EPERM; where there is none (not Linux, not
x86-64 or arm64) the limits alone hold, and `enter` says so.

Source: Linux, Documentation/userspace-api/seccomp_filter.rst; prctl(2); setrlimit(2).
"""

from __future__ import annotations

import ctypes
import platform
import resource
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # of classic BPF: ld abs, jeq, ret
_AT_NUMBER, _AT_ARCHITECTURE = 0, 4  # in struct seccomp_data
# (audit number of the architecture, numbers of socket, connect, bind, sendto, socketpair, execve, execveat, ptrace)
_CALLS = {
    "x86_64": (0xC000003E, (41, 42, 49, 44, 53, 59, 322, 101)),
    "aarch64": (0xC00000B7, (198, 203, 200, 206, 199, 221, 281, 117)),
}


def enter(memory_B: int, *, of_data: bool = True) -> bool:
    """Shut this process in, for good; return whether the network and other programs are shut out, too.

    Args:
        memory_B: that may be asked for.
        of_data: count what the process has for itself; else the whole address space, mapped files too.
    """
    which = resource.RLIMIT_DATA if of_data else resource.RLIMIT_AS
    hard_B = resource.getrlimit(which)[1]
    kept_B = memory_B if hard_B == resource.RLIM_INFINITY else min(memory_B, hard_B)
    resource.setrlimit(which, (kept_B, kept_B))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _shut_out()


def _shut_out() -> bool:
    known = _CALLS.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return False
    architecture, calls = known
    # Of another architecture's calls the numbers mean something else, so all of them are refused.
    program = [
        (_LOAD, 0, 0, _AT_ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _EPERM),
    ]
    program.append((_LOAD, 0, 0, _AT_NUMBER))
    for place, number in enumerate(calls):
        program.append((_EQUAL, len(calls) - place, 0, number))
    program += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)]
    text = b"".join(struct.pack("<HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(text, len(text))

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    filtered = Program(len(program), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return not libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filtered), 0, 0)
