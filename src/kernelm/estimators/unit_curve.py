"""How many hidden units? The leave-one-out error of every number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernelm import _checks
from kernelm.data import Rows
from kernelm.data.targets import Values
from kernelm.estimators.elm import ELMClassifier, ELMRegressor
from kernelm.ridge import Prefixes, fewest


@final
@dataclass(frozen=True, eq=False)
class UnitCurve:
    """A leave-one-out error for every number of units.

    Attributes
    ----------
    n_units : ndarray of shape (L,)
        1, 2, …, L.
    errors : ndarray of shape (L,)
        Mean squared leave-one-out error: in units of y (averaged over outputs where there are
        several, each in units of its variance), or of codes of ±1 for classes. Infinite where
        the units use up every row.
    """

    n_units: NDArray
    errors: NDArray

    @property
    def best(self) -> int:
        """The fewest units whose error is within a tenth of a percent of the lowest."""
        return int(self.n_units[fewest(self.errors) - 1])


def unit_curve(
    elm: ELMClassifier | ELMRegressor,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    alpha: float = 0.0,
) -> UnitCurve:
    """Return the leave-one-out error of an ELM with 1, 2, …, ``n_hidden`` units.

    Units are nested: a machine with fewer units and the same ``random_state`` has the first ones
    of a machine with more. So one factorisation serves every number of them, at the cost of
    fitting the largest, in memory (about three arrays of rows × units).

    Parameters
    ----------
    elm : ELMClassifier or ELMRegressor
        Says which units, and with ``n_hidden`` how many at most ("auto": 512). It is not fitted,
        and its ``alpha`` plays no part.
    X, y, sample_weight
        As in ``fit``.
    alpha : float
        Ridge strength for every number of units; 0 is least squares, the ELM of the papers,
        where the number of units is what regularises. (``ELMRegressor(alpha=0)`` solves from
        sums of products, which resolve half of the digits: many units that are nearly dependent
        overfit less there.)

    Returns
    -------
    UnitCurve

    Examples
    --------
    Twenty noisy points of a sine: few units underfit, many overfit.

    >>> import numpy as np
    >>> from kernelm import ELMRegressor, unit_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (20, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 20)
    >>> unit_curve(ELMRegressor(20, random_state=0), X, y).best
    8
    """
    _checks.instance_of(elm, "elm", (ELMClassifier, ELMRegressor))
    _checks.non_negative(alpha, "alpha")
    elm = cast("ELMClassifier | ELMRegressor", clone(elm))
    source = elm._source(X, y, sample_weight, reset=True)
    counts = elm._feature_counts(source.n_features, source.n_rows)[0]
    machine = elm._machine(elm._survey(source, None), counts)
    rows = Rows(source.X.astype(np.float64), source.y, source.weight, 0)
    Phi, Y = machine.phi.map(rows.X), machine._encode(rows)
    prefixes = Prefixes.of(
        Phi, Y, *machine._weights(rows), alpha=float(alpha), intercept=elm.fit_intercept
    )
    linked = source.n_features if elm.direct_links else 0
    scale = machine.targets.scale if isinstance(machine.targets, Values) else ()
    unit = float(scale[0]) ** 2 if len(scale) == 1 else 1.0
    errors = unit * prefixes.errors()[linked:] / Y.shape[1]
    return UnitCurve(np.arange(1, len(errors) + 1), errors)
