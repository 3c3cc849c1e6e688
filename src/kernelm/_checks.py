"""Every input check and every error sentence.

A sentence names the argument, what was expected, what came, and the next step.
"""

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


def same_shape(array: np.ndarray, like: np.ndarray, name: str) -> None:
    """Raise if ``array`` has another shape than ``like``."""
    if array.shape != like.shape:
        raise ValueError(f"{name} must have shape {like.shape}, got {array.shape}")


def same_fingerprint(mine: str, other: str) -> None:
    """Raise if two sets of moments come from different feature maps."""
    if mine != other:
        raise ValueError(
            f"moments were built with feature map {other[:12] or '(none)'} but this model uses "
            f"{mine[:12] or '(none)'}; re-accumulate the second set with the same feature map "
            f"(same parameters, seed, and the same frozen sample: see `freeze`)"
        )


def finite_sums(*sums: np.ndarray) -> None:
    """Raise if sums over rows overflowed."""
    if not all(np.isfinite(s).all() for s in sums):
        raise ValueError(
            "the features of these rows are too large to be summed (the sums overflow); "
            "scale the inputs (scale_inputs=True) or pass float64 instead of float32"
        )


def same_alpha(asked: float, solved: float) -> None:
    """Raise if a machine that was solved for one alpha is asked about another."""
    if asked != solved:
        raise ValueError(
            f"alpha was given as {solved:g}, and the sums were solved for it alone, but "
            f"{asked:g} is asked for; give all alphas that shall be compared, or use Factor.of"
        )


# --- kernels -------------------------------------------------------------------------------------


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


def unknown_parameter(name: str, owner: str, valid: Iterable[str]) -> ValueError:
    """Return the error for a parameter name that ``owner`` does not have."""
    listed = ", ".join(repr(v) for v in sorted(valid)) or "none"
    return ValueError(f"{owner} has no parameter {name!r}; valid names are: {listed}")


def unresolved(owner: str) -> ValueError:
    """Return the error for a kernel whose scale is still a rule such as ``"median"``."""
    return ValueError(
        f"{owner} takes its scale from data and has not seen any; "
        f"call kernel.resolve(X) and use the kernel it returns"
    )


def finite_diag(diag: Any, owner: str) -> Any:
    """Return ``diag`` if it is finite; ``owner`` names the kernel or layer that made it."""
    if not np.isfinite(diag).all():
        raise ValueError(
            f"{owner} overflows {diag.dtype} on these rows (or they hold NaN or infinity); "
            f"scale the rows, use float64, lower the degree, or normalise before this step"
        )
    return diag


def non_negative_diag(diag: Any, owner: str) -> Any:
    """Return ``diag`` if no entry is negative."""
    if (diag < 0).any():
        raise ValueError(
            f"{owner} needs k(x, x) of at least 0, got {diag.min():.6g}; "
            f"the kernel below it is not positive semidefinite"
        )
    return diag


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


def weights(values: np.ndarray, n_rows: int, name: str = "sample_weight") -> np.ndarray:
    """Return ``values`` if they are one finite non-negative weight for each row."""
    if values.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name} must be finite and not negative")
    return values


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


def has_targets(y: Any) -> Any:
    """Return the targets if there are any."""
    if y is None:
        raise ValueError("the source has no targets y; pass them to fit a model")
    return y


def some_weight(weight: np.ndarray) -> None:
    """Raise if no row counts."""
    if not weight.sum() > 0:
        raise ValueError("sample_weight must have at least one positive entry, got only zeros")


def same_targets(mine: Any, other: Any) -> None:
    """Raise if two models were fitted to different targets."""
    if mine != other:
        raise ValueError(
            "the models to merge differ in their targets (classes or number of outputs); "
            "announce the same `classes=` to both"
        )


def were_learned(rows_left: float, diagonal: np.ndarray, before: np.ndarray) -> None:
    """Raise if rows to be forgotten cannot have been learned."""
    # Sums of squares cannot become negative, but rounding may leave a trace of rows gone.
    if rows_left < 1 or np.any(diagonal < -1e-6 * before):
        raise ValueError(
            "forget was asked to take out rows that this model has not learned, or all of its "
            "rows; pass rows that were given to fit or partial_fit, with the same weights"
        )


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


def streams(approximation: str, keeps_rows: bool) -> bool:
    """Return True, or raise if a kernel machine keeps rows instead of sums."""
    if approximation in ("exact", "subset", "local") or keeps_rows:
        raise AttributeError(
            "partial_fit, freeze, merge and forget add and subtract sums over rows, which the "
            'exact, subset and local forms do not have; use approximation="nystrom" or "landmarks"'
        )
    return True


def not_semidefinite(name: str, jitter: float) -> ValueError:
    """Return the error for a matrix that no rounding explains: it has negative eigenvalues."""
    return ValueError(
        f"{name} must be positive semidefinite, but adding {jitter:.2g} to its diagonal did not "
        f"make it so; use a positive semidefinite kernel (not Sigmoid), finite landmarks, or "
        f"float64"
    )


def passes_need_rows(source: Any) -> Any:
    """Return the source if there is one."""
    if source is None:
        raise ValueError(
            "this model was fitted by passes over its rows and keeps no sums; call fit again"
        )
    return source


def factored(info: int) -> None:
    """Raise if LAPACK could not invert a triangle."""
    if info != 0:
        raise ValueError("the kernel matrix is singular to rounding; use a larger alpha")


def missing(what: str, package: str, extra: str) -> ImportError:
    """Return the error for a package that is not installed."""
    return ImportError(f"{what} needs {package}: pip install kernelm[{extra}]")


# --- data frames ---------------------------------------------------------------------------------


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


def few_columns(n_features: int, most: int, name: str) -> None:
    """Raise if slopes along every column would take too long."""
    if n_features > most:
        raise ValueError(
            f"{name} evaluates the model twice for each column and row, for at most {most} "
            f"columns; got {n_features}: select columns or project them first"
        )


# --- matrices of all rows ------------------------------------------------------------------------


def fits_memory(n_rows: int | None, working_bytes: int, times: int, instead: str) -> None:
    """Raise if a kernel matrix of all pairs of rows takes more than ``times`` the budget."""
    if n_rows is None:
        raise ValueError(f"the number of rows of this source is not known; use {instead}")
    needed, limit = 8 * n_rows**2, times * working_bytes
    if needed > limit:
        megabytes = -(-needed // (times * 2**20))
        raise MemoryError(
            f"the kernel matrix of n_samples={n_rows} rows (equal ones counted once) takes "
            f"{needed / 1e9:.3g} GB, and the limit is {limit / 1e9:.3g} GB; use {instead}, or "
            f"raise the limit with kernelm.set_config(working_memory={megabytes})"
        )


# --- sources -------------------------------------------------------------------------------------


def source(value: Any, kind: type) -> None:
    """Raise if rows do not come as a source."""
    if not isinstance(value, kind):
        raise TypeError(
            "source must be rows to read block by block, such as kernelm.data.scan(files) or "
            f"kernelm.data.ArraySource(X, y), got {type(value).__name__}; arrays go to fit(X, y)"
        )


# --- checkpoints ---------------------------------------------------------------------------------


def other_checkpoint(directory: Any) -> ValueError:
    """Return the error for a directory that holds the state of another fit."""
    return ValueError(
        f"checkpoint={str(directory)!r} holds the state of a fit with other parameters or other "
        "rows; give another directory, or delete this one"
    )


def broken_checkpoint(path: Any) -> ValueError:
    """Return the error for a state that cannot be read."""
    return ValueError(
        f"{str(path)!r} is no state of a fit, or damaged; delete the directory to begin anew"
    )
