"""Points of a sweep on the machines of a Dask scheduler; Dask is an extra, and not needed without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import described
from freezeframe.emulator.profile_files import ProfileFile

_TOGETHER = 64  # points a task, so that a point's own few milliseconds are not lost in the sending
_PATIENCE_S = 10  # until the scheduler has to answer


def run_points(
    file: ProfileFile, points: Sequence[dict[str, Any]], swept: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return what each point shows; this runs on a worker, which needs the package and the files that a flow names."""
    return [run_adapter(described(file, point, swept)).shown() for point in points]


def on_scheduler(
    address: str,
    file: ProfileFile,
    points: Sequence[dict[str, Any]],
    progress: Callable[[int, int], None] | None = None,
    swept: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return what each point shows, in their order, run on a scheduler's workers.

    Args:
        swept: as `described`.
    Raises:
        InputError: Dask is not installed here, nobody answers there, it has no workers, they cannot import this
            package, or a value is not allowed.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise InputError(
            "--scheduler: Dask is not installed here; pip install 'freezeframe[dask]', here and on the workers"
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler {address}: nobody answers there: {error}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"--scheduler {address}: it has no workers; start one: dask worker {address}"
            )
        parts = [points[at : at + _TOGETHER] for at in range(0, len(points), _TOGETHER)]
        tasks = {
            client.submit(run_points, file, part, swept, pure=False): number
            for number, part in enumerate(parts)
        }
        found: list[list[dict[str, Any]]] = [[] for _ in parts]
        done = 0
        try:
            for task in as_completed(list(tasks), loop=client.loop):  # type: ignore[no-untyped-call]
                number = tasks[task]
                found[number] = task.result()
                done += len(parts[number])
                if progress is not None:
                    progress(done, len(points))
        except ImportError as error:
            raise InputError(
                f"--scheduler {address}: a worker cannot import the package: {error}; install it there, too"
            ) from None
    return [shown for part in found for shown in part]
