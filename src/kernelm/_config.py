"""Settings of the whole process: how much memory a block may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelm import _checks

_settings: dict[str, Any] = {"working_memory": 256}


def get_config() -> dict[str, Any]:
    """Return a copy of the current settings.

    Examples
    --------
    >>> import kernelm
    >>> kernelm.get_config()
    {'working_memory': 256}
    """
    return dict(_settings)


def set_config(*, working_memory: float | None = None) -> None:
    """Change settings for the whole process.

    Parameters
    ----------
    working_memory : float, optional
        Megabytes that the blocks of one ``fit`` or ``predict`` may take together. Data,
        model and moments come on top of it.

    Examples
    --------
    >>> import kernelm
    >>> kernelm.set_config(working_memory=256)
    """
    if working_memory is not None:
        _settings["working_memory"] = _checks.positive(working_memory, "working_memory")


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Change settings inside a ``with`` block only.

    Examples
    --------
    >>> import kernelm
    >>> with kernelm.config_context(working_memory=64):
    ...     kernelm.get_config()["working_memory"]
    64
    """
    before = get_config()
    set_config(**settings)
    try:
        yield
    finally:
        _settings.update(before)


def working_bytes() -> int:
    """Return the memory budget in bytes."""
    return int(_settings["working_memory"] * 2**20)
