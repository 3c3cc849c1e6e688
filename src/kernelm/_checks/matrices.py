"""Checks of kernels, sums over rows and matrices of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np


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


def were_learned(rows_left: float, diagonal: np.ndarray, before: np.ndarray) -> None:
    """Raise if rows to be forgotten cannot have been learned."""
    # Sums of squares cannot become negative, but rounding may leave a trace of rows gone.
    if rows_left < 1 or np.any(diagonal < -1e-6 * before):
        raise ValueError(
            "forget was asked to take out rows that this model has not learned, or all of its "
            "rows; pass rows that were given to fit or partial_fit, with the same weights"
        )


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
