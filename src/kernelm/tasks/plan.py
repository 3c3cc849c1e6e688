"""What a fit will cost, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kernelm._config import working_bytes


@final
@dataclass(frozen=True)
class Plan:
    """Passes over the rows, arithmetic and memory of a fit.

    Sources that cannot jump to chosen rows are read once more for a sample, and once more for the
    labels of a classification unless ``classes`` are given.

    Examples
    --------
    >>> print(Plan(passes=1, flops=2e9, bytes_sums=8_000_000, bytes_blocks=2**28,
    ...            bytes_model=56_000))
    1 pass over the rows, 2.0 GFLOP; memory: 8.0 MB sums + 268.4 MB blocks; model 0.1 MB
    """

    passes: int  #: at most so many passes over the rows
    flops: float  #: floating-point operations, mostly in matrix products
    bytes_sums: int  #: moments and their factorisation
    bytes_blocks: int  #: blocks in flight (``set_config(working_memory=…)``)
    bytes_model: int  #: what predict needs

    def __str__(self) -> str:
        passes = "1 pass" if self.passes == 1 else f"{self.passes} passes"
        return (
            f"{passes} over the rows, {self.flops / 1e9:,.1f} GFLOP; "
            f"memory: {self.bytes_sums / 1e6:,.1f} MB sums + {self.bytes_blocks / 1e6:,.1f} MB "
            f"blocks; model {self.bytes_model / 1e6:,.1f} MB"
        )


def largest_layer(smallest: int) -> int:
    """Return the largest doubling of ``smallest`` whose sums and factors fit the memory budget.

    Examples
    --------
    >>> largest_layer(128)
    2048
    """
    top = smallest
    while 3 * 8 * (2 * top) ** 2 <= working_bytes():
        top *= 2
    return top


def doublings(smallest: int, top: int) -> list[int]:
    """Return sizes from ``smallest`` on, each twice the one before, until ``top`` is reached.

    Examples
    --------
    >>> doublings(128, 700)
    [128, 256, 512, 1024]
    """
    sizes = [smallest]
    while sizes[-1] < top:
        sizes.append(2 * sizes[-1])
    return sizes
