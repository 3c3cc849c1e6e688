"""What a fit will cost, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Plan:
    """Passes over the rows, arithmetic and memory of a fit.

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
