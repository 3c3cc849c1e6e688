"""Novelty detection: the ball around the rows, and who is outside."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kernelm import _checks
from kernelm.data import (
    ArraySource,
    Rows,
    Sample,
    Source,
    block_rows,
    effective_jobs,
    stream,
    width,
)
from kernelm.features import InputScaler, KernelColumns
from kernelm.kernels import Kernel, named
from kernelm.margin.ball import Ball, enclose, most_core
from kernelm.margin.furthest import Points, Search, share_of
from kernelm.ridge import Status
from kernelm.tasks import SAMPLE_ROWS

_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


@final
class CoreVectorDetector(OutlierMixin, BaseEstimator):
    r"""Novelty detection by the smallest ball around the rows in the space of a kernel.

    .. math:: \min_{c, R, \xi} R^2 + C \sum_i w_i \xi_i^2, \qquad
       \lVert \varphi(x_i) - c \rVert^2 \le R^2 + \xi_i

    up to the scale of C: the ball is that of rows with a private coordinate
    :math:`\sqrt{1/(C w_i)}` each.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel, or the name of one in ``kernelm.kernels.NAMED``. Scales such as ``"median"``
        are taken from the training rows.
    C : float
        Cost of rows outside; the larger, the tighter the ball follows the outermost rows.
    eps : float
        No row is further from the centre than (1 + eps) radii, slacks included.
    contamination : float or "auto"
        Share of the training rows that shall be called outliers, up to 0.5; "auto": those that
        are further from the centre than the radius.
    max_core : int or "auto"
        Most core vectors.
    max_seconds : float, optional
        Where a limit ends the fit, ``status_`` and ``gap_`` say so.
    scale_inputs : bool
        Standardise the inputs by a sample of the rows.
    random_state, n_jobs
        As in scikit-learn.

    Attributes
    ----------
    core_indices_ : ndarray
        Positions of the core rows among the training rows.
    n_core_, radius_, gap_, status_, offset_, kernel_

    References
    ----------
    Tax and Duin (2004), Support vector data description. Tsang, Kwok and Cheung (2005), Core
    vector machines.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm import CoreVectorDetector
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = CoreVectorDetector(contamination=0.05).fit(X)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        *,
        C: float = 1.0,
        eps: float = 1e-3,
        contamination: float | str = "auto",
        max_core: int | str = "auto",
        max_seconds: float | None = None,
        scale_inputs: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.eps = eps
        self.contamination = contamination
        self.max_core = max_core
        self.max_seconds = max_seconds
        self.scale_inputs = scale_inputs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to arrays, CSR matrices or data frames of numbers; ``y`` is ignored."""
        X = validate_data(self, X, **_ACCEPTED)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            _checks.some_weight(sample_weight)
        return self._fit(ArraySource(X, None, sample_weight))

    def fit_source(self, source: Source) -> Self:
        """Fit to rows that are read block by block, as many as there are."""
        _checks.source(source, Source)
        self.n_features_in_ = source.n_features
        return self._fit(source)

    def score_samples(self, X: Any) -> NDArray:
        """Return minus the squared distance of each row from the centre."""
        check_is_fitted(self)
        return self._scored(ArraySource(validate_data(self, X, reset=False, **_ACCEPTED)))

    def decision_function(self, X: Any) -> NDArray:
        """Return scores that are negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray:
        """Return 1 for inliers and -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _fit(self, source: Source) -> Self:
        kernel = named(self.kernel)
        for name in ("C", "eps"):
            _checks.positive(getattr(self, name), name)
        if not isinstance(self.contamination, str):
            _checks.share(self.contamination, "contamination", most=0.5)
        else:
            _checks.one_of(self.contamination, "contamination (or a share)", ["auto"])
        effective_jobs(self.n_jobs)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        sample = Sample.of(source, SAMPLE_ROWS, seed)
        self.scaler_ = (
            InputScaler.fit(sample.X, sample.weight, unit_length=False)
            if self.scale_inputs
            else InputScaler.identity(source.n_features)
        )
        self.kernel_ = kernel.resolve(self.scaler_.transform(sample.X), sample.weight, seed)
        share = (1 + float(self.eps)) ** 2 - 1
        limits: dict[str, Any] = {"max_core": most_core(self.max_core), "seed": seed}
        if self.max_seconds is not None:
            limits["seconds"] = _checks.positive(self.max_seconds, "max_seconds")
        search = Search(source, self._points, self.kernel_, 0.0, self.n_jobs)
        self.ball_ = enclose(
            search, self.kernel_, 0.0, tolerance=lambda ball: share * ball.radius**2, **limits
        ).carrying()
        # The slack of a row lies in its private coordinate: without it the ball is smaller.
        self.offset_ = self._offset(source)
        return self

    def _offset(self, source: Source) -> float:
        if isinstance(self.contamination, str):
            return -float(self.ball_.rho + self.ball_.level - 1 / self.C)
        scores = self._scored(source)
        weight = source.weight if isinstance(source, ArraySource) else None
        return _quantile(scores, float(self.contamination), weight)

    def _points(self, rows: Rows) -> Points | None:
        weight = np.ones(rows.n) if rows.weight is None else rows.weight
        there = np.flatnonzero(weight > 0)
        if not len(there):
            return None
        S = self.scaler_.transform(rows.X[there])
        ridge = 1 / (self.C * weight[there])
        # A row of weight 2 is two points: g must not know the weight, or it would be another.
        g = self.kernel_.diag(S).astype(np.float64) + 1 / self.C
        share = share_of(rows)[there]
        return Points(S, np.ones((len(there), 1, 1)), g[:, None], ridge, share, rows.start + there)

    def _scored(self, source: Source) -> NDArray:
        ball: Ball = self.ball_
        phi = KernelColumns(self.kernel_, self.scaler_, ball.core.X, in_kernel_norm=True)
        # ρ counts the private coordinates of the centre: a row has none of them.
        length = ball.rho - float(ball.alpha**2 @ ball.core.ridge)

        def score(rows: Rows) -> NDArray:
            X = rows.X.astype(np.float64)
            K = phi.map(X)
            diag = self.kernel_.diag(self.scaler_.transform(X))
            return 2 * (K @ ball.alpha) - length - diag

        D = width(source, fills=self.scaler_.fills)
        per_row = 8 * (3 * len(ball.alpha) + 3 * D)
        rows = block_rows(per_row, source.n_rows, self.n_jobs)
        return np.concatenate(list(stream(source, score, rows=rows, n_jobs=self.n_jobs)))

    @property
    def core_indices_(self) -> NDArray:
        """Positions of the core rows among the training rows."""
        return self._fitted().core.position

    @property
    def n_core_(self) -> int:
        """Number of core rows."""
        return len(self._fitted().alpha)

    @property
    def radius_(self) -> float:
        """Radius of the ball."""
        return self._fitted().radius

    @property
    def gap_(self) -> float:
        """No row is further than (1 + gap_) radii."""
        return self._fitted().violation

    @property
    def status_(self) -> Status:
        """What happened in the fit, with advice; empty if all is well."""
        return self._fitted().status

    def _fitted(self) -> Ball:
        if not hasattr(self, "ball_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.ball_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _quantile(scores: NDArray, share: float, weight: NDArray | None) -> float:
    """Return a number above a share of the weighted scores, halfway between two of them."""
    order = np.argsort(scores)
    w = np.ones(len(scores)) if weight is None else weight
    order = order[w[order] > 0]
    below = np.cumsum(w[order])
    at = int(np.searchsorted(below, share * below[-1] * (1 + 1e-12), side="right"))
    high = scores[order[min(at, len(order) - 1)]]
    # Copies of a row differ by rounding: the next score below is that of another row.
    apart = high - 1e-9 * (1 + abs(high))
    lower = scores[order][scores[order] < apart]
    return float(0.5 * (high + (lower.max() if len(lower) else apart)))
