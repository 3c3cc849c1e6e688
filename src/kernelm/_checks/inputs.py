"""Checks of rows, their columns and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np


def same_shape(array: np.ndarray, like: np.ndarray, name: str) -> None:
    """Raise if ``array`` has another shape than ``like``."""
    if array.shape != like.shape:
        raise ValueError(f"{name} must have shape {like.shape}, got {array.shape}")


def rows(X: Any, name: str = "X") -> Any:
    """Return ``X`` as a 2-D float32 or float64 array, or as a CSR matrix if it is sparse."""
    from scipy.sparse import issparse

    X = X if issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D (rows, features), got shape {X.shape}; "
            f"use {name}.reshape(1, -1) for one row"
        )
    if X.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}")
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return X.tocsr().astype(dtype, copy=False) if issparse(X) else X.astype(dtype, copy=False)


def same_columns(X: Any, Z: Any) -> None:
    """Refuse two sets of rows with different numbers of features."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features but Z has {Z.shape[1]}; both must have the same columns"
        )


def same_rows(X: Any, Z: Any) -> None:
    """Check that rows come in pairs."""
    if X.shape[0] != Z.shape[0]:
        raise ValueError(
            f"Z must have a row for each row of X ({X.shape[0]}), got {Z.shape[0]}; "
            "use gram(X, Z) for all pairs"
        )


def usable_landmarks(Z: Any) -> None:
    """Refuse landmarks of a user that are none, or not finite."""
    if not Z.shape[0]:
        raise ValueError("landmarks must hold at least one row, got none")
    if not np.isfinite(Z.data if hasattr(Z, "indptr") else Z).all():
        raise ValueError("landmarks must be finite, got NaN or infinity; drop such rows")


def non_negative_rows(X: Any, name: str, owner: str) -> None:
    """Refuse rows with a negative entry."""
    values = X.data if hasattr(X, "indptr") else X
    low = values.min(initial=0)
    if low < 0:
        raise ValueError(
            f"{owner} is defined for non-negative features, but {name} has {low:.6g}; "
            f"use counts or histograms, or shift the features"
        )


def weights(values: np.ndarray, n_rows: int, name: str = "sample_weight") -> np.ndarray:
    """Return ``values`` if they are one finite non-negative weight for each row."""
    if values.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name} must be finite and not negative")
    return values


def known_columns(n_features: int, expected: int, name: str) -> None:
    """Raise if a block has another number of columns than the model."""
    if n_features != expected:
        raise ValueError(
            f"{name} has {n_features} features, but the model was fitted with {expected}; "
            f"pass the same columns"
        )


def has_rows(n_rows: int | None) -> None:
    """Raise if a source is known to be empty."""
    if n_rows == 0:
        raise ValueError("the source holds no rows; a model needs at least one")


def some_weight(weight: np.ndarray) -> None:
    """Raise if no row counts."""
    if not weight.sum() > 0:
        raise ValueError("sample_weight must have at least one positive entry, got only zeros")


def few_columns(n_features: int, most: int, name: str) -> None:
    """Raise if slopes along every column would take too long."""
    if n_features > most:
        raise ValueError(
            f"{name} evaluates the model twice for each column and row, for at most {most} "
            f"columns; got {n_features}: select columns or project them first"
        )
