"""Seconds and megabytes of a call."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PROCESS = Path("/proc/self")


def cost_of(call: Callable[[], Any]) -> tuple[float, float | None]:
    """Return the seconds of a call, and the megabytes that it adds to this process at its peak.

    The megabytes are None where the system does not tell (it is Linux that does).

    Examples
    --------
    >>> seconds, megabytes = cost_of(lambda: bytes(range(256)) * 2**18)
    >>> seconds > 0, megabytes is None or megabytes > 60
    (True, True)
    """
    before = _resident()
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    return seconds, None if before is None else _status("VmHWM") - before


def _resident() -> float | None:
    """Return the megabytes in use, and have the peak start again from there."""
    gc.collect()
    try:
        # What earlier calls freed goes back first: reused, it would not show as growth.
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
        (_PROCESS / "clear_refs").write_text("5")
        return _status("VmRSS")
    except (OSError, TypeError):
        return None


def _status(key: str) -> float:
    lines = (_PROCESS / "status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(key)).split()[1]) / 1024
