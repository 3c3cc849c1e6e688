r"""Exact leave-one-out residuals without leaving anything out.

Why it works, in plain words. Let :math:`\hat y = H y` be the fitted values of a ridge
regression with a fixed alpha. Suppose row *i* is taken out and the model is fitted again; call
its prediction for that row :math:`\tilde y_i`. Now put the row back, but with the target
:math:`\tilde y_i` instead of :math:`y_i`. The refitted model predicts that target exactly, so
the row adds nothing to the loss and the solution does not move: it is the solution without the
row. But this problem is the original one with one target changed, and fitted values are linear
in the targets, hence

.. math:: \tilde y_i = \hat y_i + h_{ii} (\tilde y_i - y_i)
   \quad\Longrightarrow\quad
   y_i - \tilde y_i = \frac{y_i - \hat y_i}{1 - h_{ii}} .

The same argument holds with an unpenalised intercept, whose share of the hat value is
:math:`1 / \sum w`, and with row weights: leaving out the part :math:`u_i` of a row's weight
takes :math:`u_i h_{ii}` instead of :math:`h_{ii}`. The whole weight leaves the row out; 1 leaves
out one of several equal rows. All that is needed besides the factorisation is one more look at
the rows: :math:`h_{ii} = \sum_j (\varphi_i \cdot v_j)^2 / (\lambda_j + \alpha) + 1 / \sum w`.

A row that is interpolated has :math:`y_i = \hat y_i` and :math:`h_{ii} = 1`: 0/0, though the
model without the row is as good as any. Its residual is the limit for vanishing alpha.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelm.ridge.factor import Factor

SATURATED = 1e-10  #: rows with 1 - h below this determine their own prediction


def loo_residuals(
    factor: Factor,
    Phi: NDArray,
    Y: NDArray,
    alphas: NDArray,
    unit: NDArray | None = None,
) -> NDArray:
    """Return leave-one-out residuals of a block of training rows.

    Parameters
    ----------
    factor : Factor
        Of all training rows.
    Phi, Y : ndarray of shape (n, L), (n, C)
        Any of the training rows.
    alphas : ndarray of shape (A,)
        Ridge strengths.
    unit : ndarray of shape (n,), optional
        How much of each row's weight is left out (1 by default).

    Returns
    -------
    ndarray of shape (A, n, C)
        Target minus the prediction of the model fitted without that row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.ridge import Factor, Moments
    >>> Phi, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> factor = Factor.of(Moments.of(Phi, Y))
    >>> loo_residuals(factor, Phi, Y, np.array([0.0])).ravel()
    array([ 3. , -1.5,  3. ])
    """
    P = (Phi - factor.mean) @ factor.vectors
    # A unit of 0 for a row of no weight: its residual is honest as it is.
    unit = np.ones(len(P)) if unit is None else unit
    inverses = [factor.inverse(a) for a in np.atleast_1d(alphas)]
    hats = (P * P) @ np.transpose(inverses) + 1.0 / factor.weight
    residuals = np.empty((len(inverses), *Y.shape))
    for i, inverse in enumerate(inverses):
        keep = 1.0 - unit * hats[:, i]
        e = Y - factor.y_mean - P @ (inverse[:, None] * factor.target)
        full = keep < SATURATED
        if full.any():
            keep[full], e[full] = _limits(factor, P[full], inverse)
            keep[full] *= unit[full]
        residuals[i] = e / np.maximum(keep, np.finfo(np.float64).tiny)[:, None]
    return residuals


def _limits(factor: Factor, P: NDArray, inverse: NDArray) -> tuple[NDArray, NDArray]:
    r"""Return :math:`(1 - h)/\alpha` and the residual over :math:`\alpha` of interpolated rows.

    There both are rounding errors if taken as differences; but each is :math:`\alpha` times a
    sum with :math:`1/(\lambda(\lambda + \alpha))`, so their ratio has a limit at 0.
    """
    twice = np.divide(
        inverse, factor.values, out=np.zeros_like(inverse), where=factor.values > factor.floor
    )
    return (P * P) @ twice, P @ (twice[:, None] * factor.target)
