"""Starting the desktop: what is missing on the machine is reported before Qt ends the process without a word."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.options import DesktopOptions
from freezeframe.gui.desktop.sources.choice import kind_of

_EXTRA = "install it with: pip install 'freezeframe[desktop]'"
# Libraries that the wheels of Qt do not bring, by the Debian package that does.
_ALWAYS: Mapping[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
}
_X11: Mapping[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_HEADLESS = ("offscreen", "minimal", "vnc")


def check_desktop(
    environment: Mapping[str, str] = os.environ,
    load: Callable[[str], object] = ctypes.CDLL,
    platform: str = sys.platform,
) -> None:
    """Check that a window can be shown here.

    Raises:
        InputError: there is no display, a library of the system is missing (the message names its
            Debian package), or the extra is not installed.
    """
    if importlib.util.find_spec("PyQt6") is None:
        raise InputError(f"the desktop needs PyQt6, which is not installed; {_EXTRA}")
    chosen = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    on_x11 = platform.startswith("linux") and chosen in ("", "xcb")
    has_wayland = bool(environment.get("WAYLAND_DISPLAY")) and chosen in ("", "wayland")
    if (
        platform.startswith("linux")
        and chosen not in _HEADLESS
        and not environment.get("DISPLAY")
        and not has_wayland
    ):
        raise InputError(
            "there is no display (DISPLAY and WAYLAND_DISPLAY are not set); over ssh use ssh -X, "
            "without a screen xvfb-run, or 'freezeframe explain' and 'freezeframe report', which "
            "need none"
        )
    if platform.startswith("linux"):
        wanted = {**_ALWAYS, **(_X11 if on_x11 and not has_wayland else {})}
        missing = missing_libraries(wanted, load)
        if missing:
            raise InputError(
                f"libraries that Qt needs are missing: {', '.join(missing)}; on Debian: "
                f"apt-get install {' '.join(dict.fromkeys(missing.values()))}"
            )
    try:
        from PyQt6 import QtGui, QtSvg, QtWidgets  # noqa: F401 - the three that the desktop is made of
    except ImportError as error:
        raise InputError(f"Qt cannot be loaded: {error}; {_EXTRA}") from None


def missing_libraries(
    wanted: Mapping[str, str], load: Callable[[str], object] = ctypes.CDLL
) -> dict[str, str]:
    """Return those of the libraries that cannot be loaded, with their Debian packages."""
    missing = {}
    for library, package in wanted.items():
        try:
            load(library)
        except OSError:
            missing[library] = package
    return missing


def start(options: DesktopOptions) -> int:
    """Show the window until it is closed; return the exit code of the application.

    Raises:
        InputError: as `check_desktop`, or a source is nothing that can be opened.
        KeyboardInterrupt: it was ended by Ctrl-C in the terminal, after all was saved.
    """
    check_desktop()
    for what in options.sources:
        kind_of(what)
    from freezeframe.gui.desktop.application import show  # Qt, which is an extra

    return show(options)
