"""The seeds of all experiments: 0, 1, 2 …, or as many from another number on.

A protocol that was settled with some seeds in view says little about how good it is on them. To
run it once more with seeds that nobody has looked at, ``kernelm reproduce --first-seed 1000`` sets
the variable that this module reads where the cells are computed.
"""

from __future__ import annotations

import os

VARIABLE = "KERNELM_FIRST_SEED"

#: The first seed, and the only one of what is drawn once.
SEED = int(os.environ.get(VARIABLE, "0"))


def first(n: int) -> range:
    """Return the seeds of so many repeats.

    Examples
    --------
    >>> len(first(10))
    10
    """
    return range(SEED, SEED + n)
