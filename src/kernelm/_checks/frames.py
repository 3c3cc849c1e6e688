"""Checks of data frames and their levels."""

from __future__ import annotations

from typing import Any


def frame_of(X: Any, is_frame: bool, names: tuple[Any, ...]) -> None:
    """Raise if X is not a data frame with these columns, in this order."""
    listed = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    if not is_frame:
        raise ValueError(
            f"X must be a data frame with the {len(names)} columns {listed}, some of which were "
            f"names rather than numbers when the model was fitted; got {type(X).__name__}; "
            f"pass such a frame, or encode the columns yourself before fit and predict"
        )
    if tuple(X.columns) != names:
        raise ValueError(
            f"X must have the {len(names)} columns {listed}, in this order; got "
            f"{list(X.columns)[:8]}; select them with X[names]"
        )


def few_levels(n_levels: int, most: int, name: Any) -> None:
    """Raise if a column has too many levels to give each a column of its own."""
    if n_levels > most:
        raise ValueError(
            f"column {name!r} has {n_levels} levels, and at most {most} are one-hot encoded; "
            f"encode it yourself (for example with sklearn.preprocessing.TargetEncoder) or drop it"
        )


def not_a_date(is_date: bool, name: Any, dtype: Any) -> None:
    """Raise for a column of dates or durations."""
    if is_date:
        raise ValueError(
            f"column {name!r} must hold numbers or names, got {dtype}; turn it into numbers "
            f"(for example days since a date, month, hour) or drop it"
        )


def hashable_entries(entries: list[Any], name: Any) -> None:
    """Raise if the entries of a column cannot be levels."""
    try:
        set(entries)
    except TypeError:
        raise ValueError(
            f"column {name!r} must hold numbers or names, got entries that cannot be compared "
            f"as such (lists, arrays or dictionaries); turn them into columns or drop it"
        ) from None


def same_levels(mine: Any, other: Any) -> None:
    """Raise if two models encode the columns of data frames differently."""
    if mine != other:
        raise ValueError(
            "the models to merge were frozen on data frames with different columns or levels; "
            "freeze one model, copy it (copy.deepcopy), and let the copies learn"
        )
