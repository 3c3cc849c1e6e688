"""The rows of chapter 4's tables, and the names of its series."""

from __future__ import annotations

#: Sets that come scaled: they have no row of their own for scaled inputs.
AS_THEY_COME = ("ijcnn1", "usps")
SETS = (
    "australian",
    "breast_cancer_wisconsin",
    "pima_diabetes",
    "letter",
    "optdigits",
    "pendigits",
    "satimage",
    *AS_THEY_COME,
)
#: Sets whose official test rows are unlike the training rows, or may be.
OFFICIAL = ("optdigits", "pendigits", "satimage", "usps")
SCALINGS = ("standard", "robust", "minmax")
_SUFFIX = " scaled"
#: Rows of sets whose inputs are scaled in three ways.
SCALED = tuple(f"{name}{_SUFFIX}" for name in SETS if name not in AS_THEY_COME)


def set_of(row: str) -> str:
    """Return the name of the data set of a row.

    Examples
    --------
    >>> set_of("letter scaled"), set_of("letter")
    ('letter', 'letter')
    """
    return row.removesuffix(_SUFFIX)


def series(scaling: str, depth: int) -> str:
    """Return how the accuracy of a scaling and a depth is called, as in expected.toml.

    Examples
    --------
    >>> series("robust", 2), series("raw", 2)
    ('robust_L2', 'L2')
    """
    return f"L{depth}" if scaling == "raw" else f"{scaling}_L{depth}"
