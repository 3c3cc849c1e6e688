"""Checks of single arguments: numbers, names, lists to choose from."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def positive(value: Any, name: str) -> Any:
    """Return ``value`` if it is a finite number above zero."""
    if not _is_number(value) or not value > 0:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return value


def non_negative(value: Any, name: str) -> Any:
    """Return ``value`` if it is a finite number of at least zero."""
    if not _is_number(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return value


def number(value: Any, name: str) -> Any:
    """Return ``value`` if it is a finite number."""
    if not _is_number(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return value


def integer(value: Any, name: str, *, low: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``low``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}")
    return int(value)


def one_of(value: Any, name: str, allowed: Iterable[Any]) -> Any:
    """Return ``value`` if it is among ``allowed``."""
    allowed = list(allowed)
    if value not in allowed:
        listed = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}")
    return value


def _is_number(value: Any) -> bool:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    return bool(np.isfinite(float(value)))


def unknown_parameter(name: str, owner: str, valid: Iterable[str]) -> ValueError:
    """Return the error for a parameter name that ``owner`` does not have."""
    listed = ", ".join(repr(v) for v in sorted(valid)) or "none"
    return ValueError(f"{owner} has no parameter {name!r}; valid names are: {listed}")


def instance(value: Any, name: str, kind: type) -> Any:
    """Return ``value`` if it is of class ``kind``."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {value!r}")
    return value


def instance_of(value: Any, name: str, kinds: tuple[type, ...]) -> Any:
    """Return ``value`` if it is of one of several classes."""
    if not isinstance(value, kinds):
        listed = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be an {listed}, got {value!r}")
    return value


def bad_scale(value: Any, name: str) -> ValueError:
    """Return the error for a scale that is neither a positive number nor a rule."""
    return ValueError(
        f"{name} must be a finite number above 0, or 'mean', 'median' or a multiple such as "
        f"'0.5*median'; got {value!r}"
    )


def positive_or_rule(value: Any, name: str) -> Any:
    """Return ``value`` if it is a finite number above zero (rules are recognised before)."""
    if not _is_number(value) or not value > 0:
        raise bad_scale(value, name)
    return value


def alpha_choice(alpha: Any) -> None:
    """Raise if alpha is neither a criterion nor one or more ridge strengths."""
    if isinstance(alpha, str):
        one_of(alpha, "alpha", ["auto", "gcv", "loo"])
        return
    values = np.atleast_1d(np.asarray(alpha, dtype=object)).ravel()
    if not len(values) or not all(_is_number(v) and v >= 0 for v in values):
        raise ValueError(
            'alpha must be "auto", "gcv", "loo", a number of at least 0 or an array of such '
            f"numbers, got {alpha!r}"
        )


def between(value: Any, name: str, low: float, high: float) -> Any:
    """Return ``value`` if it lies strictly between two numbers."""
    if not _is_number(value) or not low < value < high:
        raise ValueError(f"{name} must be a number between {low} and {high}, got {value!r}")
    return value


def share(value: Any, name: str, most: float = 1) -> Any:
    """Return ``value`` if it is a number above 0 and at most 1, or less."""
    if not _is_number(value) or not 0 < value <= most:
        raise ValueError(f"{name} must be a number above 0 and at most {most}, got {value!r}")
    return value


def no_fewer_steps(n_steps: int, fitted: int) -> None:
    """Raise if a warm start asks for fewer steps than there are."""
    if n_steps < fitted:
        raise ValueError(
            f"n_steps must be at least {fitted}, the steps already made, for warm_start=True to "
            f"add to them, got {n_steps}; use staged_predict for fewer steps, or warm_start=False"
        )


def some_units(units: Any, kinds: Iterable[str]) -> None:
    """Raise if ``units`` does not list kinds of units."""
    if isinstance(units, str) or not len(units):
        listed = ", ".join(repr(kind) for kind in kinds)
        raise ValueError(f"units must list one or more of {listed}; got {units!r}")
    for kind in units:
        one_of(kind, "each of units", kinds)


def several_folds(n_folds: int) -> None:
    """Raise if there is nothing to validate on."""
    if n_folds < 2:
        raise ValueError(f"folds must hold the moments of at least 2 folds, got {n_folds}")


def some_candidates(candidates: Any) -> None:
    """Raise if there is nothing to choose from."""
    if not len(candidates):
        raise ValueError("candidates must hold at least one kernel, got none")


def missing(what: str, package: str, extra: str) -> ImportError:
    """Return the error for a package that is not installed."""
    return ImportError(f"{what} needs {package}: pip install kernelm[{extra}]")
