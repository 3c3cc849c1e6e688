r"""Which inputs does a fitted kernel machine answer to? Slopes of its scores along each of them.

The mean over rows of the squared slopes,

.. math:: M_j = \frac1m \sum_{i=1}^m \sum_c
          \left(\frac{\partial f_c}{\partial s_j}(s_i)\right)^2,

is the diagonal of the average gradient outer product. Inputs that count for more get more
weight in the metric of the next kernel: :math:`w_j = \sqrt{M_j / \bar M}`, the recursive feature
machine in its diagonal form (Radhakrishnan, Beaglehole, Pandit and Belkin, 2024, Mechanism for
feature learning in neural networks and backpropagation-free machine learning models).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm.data import ArraySource, Rows, block_rows, reduce
from kernelm.estimators.solution import Solver
from kernelm.features import KernelColumns
from kernelm.features.scaling import counted
from kernelm.kernels import Kernel
from kernelm.kernels.slopes import has_plane
from kernelm.kernels.slopes import squared_slopes as kernel_slopes

#: Half the width of a central difference, in root mean square lengths of the scaled rows,
#: for kernels whose slopes have no formula.
#:
#: Widths of kernels are some tenth of that length or more, so that the error of truncation,
#: (step/width)²/2, stays near 1e-4 or below; rounding, 1e-16/step for each unit of weight on a
#: landmark, is smaller still. A kink of the kernel at a landmark is even in the step: at the
#: rows of an exact machine it cancels.
STEP = 1e-3

MAX_COLUMNS = 2048  # differences take two evaluations for each column and row: here, minutes
MAX_FLOPS = 1e11  # a few seconds, unless that leaves too few rows
FEWEST_ROWS, MOST_ROWS = 32, 512

SMALLEST_WEIGHT = 1e-3  # a column that counts for nothing stays in the metric, barely


def mean_squared_slopes(machine: Solver) -> NDArray:
    """Return the mean squared slope of the scores along each scaled input, (D,).

    The rows are some of those that the machine keeps; outputs (codes of classes, values in
    standard deviations) are added up. Columns that are constant in the kept rows have slope 0.
    """
    phi, coef = machine.solution.phi, machine.solution.weights.coef
    assert isinstance(phi, KernelColumns)
    Z, W = phi.Z.astype(np.float64), coef.astype(np.float64)
    few = machine.sample.head(_affordable_rows(phi.kernel, Z, W))
    X, weight = counted(few.X, few.weight)
    X = X.toarray() if sparse.issparse(X) else X
    S = phi.scaler.transform(X.astype(np.float64))
    step = _step(S)
    varying = _varying(counted(machine.sample.X, machine.sample.weight)[0])

    def squares(rows: Rows) -> NDArray:
        return _summed(phi.kernel, rows.X, Z, W, rows.weight, varying, step)

    total = reduce(
        ArraySource(S, weight=weight),
        squares,
        operator.iadd,
        rows=block_rows(8 * (3 * Z.shape[0] + 4 * Z.shape[1]), len(S), machine.n_jobs),
        n_jobs=machine.n_jobs,
    )
    assert total is not None
    return total / (len(S) if weight is None else weight.sum())


def squared_slopes(kernel: Kernel, S: Any, Z: Any, W: NDArray) -> NDArray:
    """Return the mean squared slope of k(s, Z) W along each input at rows S of a machine on Z."""
    varying = _varying(Z)
    S, Z = (R.toarray() if sparse.issparse(R) else R for R in (S, Z))
    if not len(Z) or not len(S) or not W.size:
        return np.zeros(Z.shape[1])
    return _summed(kernel, S, Z, W, None, varying, _step(S)) / len(S)


def metric_weights(squared_slopes: NDArray) -> NDArray:
    """Return the factor of each input that the next kernel shall see, of mean square one."""
    relative = squared_slopes / squared_slopes.max()  # squares of small slopes could underflow
    return np.maximum(np.sqrt(relative / relative.mean()), SMALLEST_WEIGHT)


def _step(S: NDArray) -> float:
    return STEP * (float(np.sqrt(S.var(axis=0).sum())) or 1.0)


def _summed(
    kernel: Kernel,
    S: NDArray,
    Z: Any,
    W: NDArray,
    weight: NDArray | None,
    varying: NDArray,
    step: float,
) -> NDArray:
    """Return the weighted sum over rows of squared slopes, for the columns that vary."""
    w = np.ones(len(S)) if weight is None else weight
    total = np.zeros(S.shape[1])
    if has_plane(kernel):
        total[varying] = (w @ kernel_slopes(kernel, S, Z, W))[varying]
        return total
    for j in varying:
        total[j] = w @ (_differences(kernel, S, Z, W, j, step) ** 2).sum(axis=1)
    return total


def _differences(kernel: Kernel, S: NDArray, Z: Any, W: NDArray, j: int, step: float) -> NDArray:
    """Return the slopes along input j of the scores k(s, Z) W, (m, C)."""
    up, down = S.copy(), S.copy()
    up[:, j] += step
    down[:, j] -= step
    if kernel._domain.non_negative:  # there the difference is one-sided at zero
        np.maximum(down[:, j], 0, out=down[:, j])
    # Columns are subtracted before they are weighed: large weights of both signs cancel less.
    K = kernel.gram(up, Z)
    K -= kernel.gram(down, Z)
    return K @ W / (up[:, j] - down[:, j])[:, None]


def _varying(X: Any) -> NDArray:
    """Return the columns that are not constant."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.flatnonzero(high > low)


def _affordable_rows(kernel: Kernel, Z: Any, W: NDArray) -> int:
    (n, D), C = Z.shape, W.shape[1]
    per_row = 2.0 * n * (D + 20) * (C if has_plane(kernel) else 2 * D)
    return int(np.clip(MAX_FLOPS / per_row, FEWEST_ROWS, MOST_ROWS))
