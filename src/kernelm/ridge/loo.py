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
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelm.ridge.factor import Factor
from kernelm.ridge.spectrum import EPS


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
    alphas = np.atleast_1d(alphas)
    P = (Phi - factor.mean) @ factor.vectors
    inverses = np.array([factor.inverse(a) for a in alphas])
    hat = (P * P) @ inverses.T + 1.0 / factor.weight
    if unit is not None:  # 0 for a row of no weight: its residual is honest as it is
        hat *= unit[:, None]
    keep = np.maximum(1.0 - hat, np.sqrt(EPS))
    residuals = np.empty((len(alphas), *Y.shape))
    for e, inverse, k in zip(residuals, inverses, keep.T, strict=True):
        np.matmul(P, inverse[:, None] * factor.target, out=e)
        np.subtract(Y - factor.y_mean, e, out=e)
        e /= k[:, None]
    return residuals
