"""Checks of targets: labels, numbers, classes that are announced."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelm._checks.values import non_negative


def class_index(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the position of each entry of y in the sorted labels; all must be known."""
    index = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
    unknown = labels[index] != y
    if np.any(unknown):
        listed = ", ".join(repr(v) for v in np.unique(np.asarray(y)[unknown]).tolist()[:5])
        raise ValueError(
            f"y holds classes that were not announced: {listed}; pass every class that can "
            f"occur as `classes=` to partial_fit"
        )
    return index


def at_least_two_classes(labels: np.ndarray) -> np.ndarray:
    """Return the labels if there are at least two of them."""
    if len(labels) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got {len(labels)} class: {labels.tolist()}; "
            f"there is nothing to tell apart"
        )
    return labels


def has_targets(y: Any) -> Any:
    """Return the targets if there are any."""
    if y is None:
        raise ValueError("the source has no targets y; pass them to fit a model")
    return y


def same_targets(mine: Any, other: Any) -> None:
    """Raise if two models were fitted to different targets."""
    if mine != other:
        raise ValueError(
            "the models to merge differ in their targets (classes or number of outputs); "
            "announce the same `classes=` to both"
        )


def real_targets(y: Any) -> np.ndarray:
    """Return regression targets as finite floats of one or two dimensions."""
    y = np.asarray(y)
    if y.dtype.kind not in "fiub":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers for regression, got dtype {y.dtype}; "
                f"use a classifier for labels"
            ) from None
    return y.astype(np.float64, copy=False) if y.dtype.kind != "f" else y


def classes_announced(classes: Any) -> None:
    """Raise if the first partial_fit of a classifier does not say which classes there are."""
    if classes is None:
        raise ValueError(
            "classes must be given in the first call of partial_fit: "
            "all labels that can occur, for example classes=np.unique(y_all)"
        )


def one_output(single: bool) -> None:
    """Raise for an option that several outputs do not have."""
    if not single:
        raise ValueError(
            "class_weight and classes= are for a single output; pass sample_weight instead"
        )


def class_weight_keys(class_weight: Any, labels: np.ndarray) -> None:
    """Raise if class_weight is not a dictionary of known labels."""
    if not isinstance(class_weight, dict):
        raise ValueError(
            f'class_weight must be None, "balanced" or a dictionary, got {class_weight!r}'
        )
    unknown = [key for key in class_weight if key not in labels.tolist()]
    if unknown:
        raise ValueError(f"class_weight names classes that y does not hold: {unknown}")
    for key, value in class_weight.items():
        non_negative(value, f"class_weight[{key!r}]")


def outputs(y: np.ndarray, expected: int) -> None:
    """Raise if targets have another number of columns than the model."""
    n = 1 if y.ndim == 1 else y.shape[1]
    if n != expected:
        raise ValueError(
            f"y has {n} outputs, but the model was fitted with {expected}; pass the same columns"
        )
