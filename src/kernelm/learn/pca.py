r"""Kernel principal components: exactly from all rows, or from landmarks in one pass.

Components of the centred kernel matrix :math:`K^c = V \Lambda V^\top` give the scores

.. math:: s_p(x) = k(x, X)\, a_p - b_p, \qquad a_p = v_p / \sqrt{\lambda_p},\quad
   b_p = \tfrac1N 1^\top K a_p,

where the row means of :math:`k(x, X)` need not be taken off: :math:`1^\top v_p = 0`. With
landmarks Z and :math:`K_{ZZ} = U S U^\top`, the features
:math:`\varphi(x) = k(x, Z) U S^{-1/2}` have a mean and a covariance
:math:`W \Lambda W^\top / N`, which are sums over rows, and

.. math:: s_p(x) = k(x, Z)\, a_p - b_p, \qquad a_p = U S^{-1/2} w_p,\quad
   b_p = \bar\varphi \cdot w_p .

Both have one form, and with all rows as landmarks they are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Progress, Rows, Sample, Source, block_rows, reduce, stream
from kernelm.features import CHOICES, InputScaler, choose, distinct
from kernelm.kernels import Kernel, named
from kernelm.ridge import Moments

EXACT_ROWS = 4096  # "auto" takes all rows as they are up to here
LANDMARKS = 1024  # and so many landmarks beyond
_CANDIDATES = 8  # rows from which each landmark is chosen
_LIMIT = 16  # the kernel matrix of all rows may take so many times the working memory


class _Components(NamedTuple):
    """Eigenvalues of the centred kernel matrix, and what turns kernel columns into scores."""

    values: NDArray  #: (r,) λ, the largest first
    coef: NDArray  #: (n, r) a
    offset: NDArray  #: (r,) b
    total: float  #: trace of the centred kernel matrix
    rows: int


class _Sums(NamedTuple):
    """Moments of the landmarks' features, and the trace of the kernel matrix."""

    moments: Moments
    trace: float

    def plus(self, other: _Sums) -> _Sums:
        moments = self.moments
        moments += other.moments
        return _Sums(moments, self.trace + other.trace)


@final
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal component analysis with any kernel, for any number of rows.

    Parameters
    ----------
    n_components : int, optional
        Components to keep; all that precision resolves if not given.
    kernel : Kernel or str
        A kernel, or the name of one in ``kernelm.kernels.NAMED``. Scales such as ``"median"``
        are taken from the rows.
    approximation : "exact", "nystrom" or "auto"
        From the kernel matrix of all rows; or from landmarks, in one pass over the rows and with
        memory that does not grow with them. "auto": exact up to 4,096 rows.
    n_landmarks : int
        Landmarks of the Nyström form.
    landmarks : str, array or callable
        How they are chosen: "uniform", "kmeans", "leverage" or "rpcholesky"; or the landmarks.
    scale_inputs : bool
        Standardise inputs first.
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        Of the centred kernel matrix, the largest first.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variance of the scores, and its share of all variance in the space of the kernel.
    kernel_ : Kernel
        With numbers for its scales.
    landmarks_ : array or CSR matrix
        Rows that scores are computed from, in scaled units: all of them in the exact form.
    coef_, offset_ : ndarray
        Scores are ``kernel_.gram(x, landmarks_) @ coef_ - offset_``.
    n_components_ : int

    References
    ----------
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.
    Sterge and Sriperumbudur (2022), Statistical optimality and computational efficiency of Nyström
    kernel PCA.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import KernelPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> pca = KernelPCA(20, random_state=0).fit(X)
    >>> pca.transform(X[:3]).shape
    (3, 20)
    >>> print(f"{pca.explained_variance_ratio_.sum():.2f} of the variance")
    0.75 of the variance
    """

    scaler_: InputScaler
    kernel_: Kernel
    landmarks_: Any
    coef_: NDArray
    offset_: NDArray
    eigenvalues_: NDArray
    explained_variance_: NDArray
    explained_variance_ratio_: NDArray
    n_features_in_: int
    feature_names_in_: NDArray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | str = "gaussian",
        approximation: str = "auto",
        n_landmarks: int = LANDMARKS,
        landmarks: Any = "rpcholesky",
        scale_inputs: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.scale_inputs = scale_inputs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of arrays, CSR matrices or data frames of numbers."""
        return self._fit(ArraySource(self._valid(X, reset=True)))

    def fit_source(self, source: Source) -> Self:
        """Find the components of rows that are read block by block, as many as there are."""
        _checks.source(source, Source)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = source.n_features
        return self._fit(source)

    def _fit(self, source: Source) -> Self:
        self._check_parameters()
        _checks.has_rows(source.n_rows)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        sample = Sample.of(source, self._sample_rows(source), seed)
        _checks.has_rows(len(sample.priority))
        self.scaler_ = (
            InputScaler.fit(sample.X, unit_length=False)
            if self.scale_inputs
            else InputScaler.identity(source.n_features)
        )
        S = self.scaler_.transform(sample.X)
        self.kernel_ = named(self.kernel).resolve(S, random_state=seed)
        if self._is_exact(source):
            self.landmarks_, found = S, _exact(self.kernel_.gram(S), self.n_components)
        else:
            # In the order of rows: that of their contents would change with the last digit, and
            # features of a layer below differ in it from one number of threads to another.
            S = S[np.sort(distinct(S))]
            self.landmarks_ = choose(S, self.n_landmarks, self.landmarks, self.kernel_, seed).Z
            found = self._from_landmarks(source)
        found = _signed(found)
        self.eigenvalues_, self.coef_, self.offset_ = found.values, found.coef, found.offset
        self.explained_variance_ = found.values / found.rows
        self.explained_variance_ratio_ = found.values / (found.total or 1.0)
        return self

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            _checks.integer(self.n_components, "n_components (or None for all)")
        _checks.one_of(self.approximation, "approximation", ["exact", "nystrom", "auto"])
        _checks.integer(self.n_landmarks, "n_landmarks")
        if isinstance(self.landmarks, str):
            _checks.one_of(self.landmarks, "landmarks (or rows, or a callable)", CHOICES)

    def _is_exact(self, source: Source) -> bool:
        if self.approximation != "auto":
            return self.approximation == "exact"
        return source.n_rows is not None and source.n_rows <= EXACT_ROWS

    def _sample_rows(self, source: Source) -> int:
        if not self._is_exact(source):
            return _CANDIDATES * self.n_landmarks
        _checks.fits_memory(source.n_rows, working_bytes(), _LIMIT, 'approximation="nystrom"')
        return source.n_rows or 0

    def _from_landmarks(self, source: Source) -> _Components:
        """Return components from the mean and the covariance of Nyström features."""
        T = _whitening(self.kernel_.gram(self.landmarks_.astype(np.float64)), source.dtype)
        whiten = T.astype(source.dtype)

        def work(rows: Rows) -> _Sums:
            S = self._scaled(rows.X)
            # Whitened before they are summed: sums of raw columns lose all digits in float32.
            Phi = self._columns(S) @ whiten
            diag = self.kernel_.diag(S).sum(dtype=np.float64)
            return _Sums(Moments.of(Phi, np.empty((rows.n, 0), Phi.dtype)), float(diag))

        label = type(self).__name__
        progress = Progress(label, source.n_rows) if self.verbose else None
        rows = self._block_rows(source, T.shape[1])
        sums = reduce(source, work, _Sums.plus, rows=rows, n_jobs=self.n_jobs, progress=progress)
        assert sums is not None
        N, mean = sums.moments.rows, sums.moments.phi / sums.moments.rows
        values, W = _largest(sums.moments.gram - N * np.outer(mean, mean), self.n_components)
        total = sums.trace - N * float(mean @ mean)
        return _Components(values, T @ W, mean @ W, total, int(N))

    # -- scores -------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray:
        """Return the scores of rows, block by block, in the precision of X."""
        check_is_fitted(self)
        X = self._valid(X, reset=False)
        source = ArraySource(X)

        def score(rows: Rows) -> NDArray:
            scores = self._columns(self._scaled(rows.X)) @ coef
            scores -= offset
            return scores

        coef, offset = (v.astype(source.dtype) for v in (self.coef_, self.offset_))
        rows = self._block_rows(source, self.coef_.shape[1])
        parts = list(stream(source, score, rows=rows, n_jobs=self.n_jobs))
        return np.concatenate(parts)

    def take(self, components: NDArray) -> Self:
        """Keep some of the components, and return the estimator."""
        check_is_fitted(self)
        for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "offset_"):
            setattr(self, name, getattr(self, name)[components])
        self.coef_ = np.ascontiguousarray(self.coef_[:, components])
        return self

    def _scaled(self, X: Any) -> Any:
        # Rows that are only read need no copy where nothing is scaled.
        return self.scaler_.transform(X) if self.scaler_.changes else X

    def _columns(self, S: Any) -> NDArray:
        return self.kernel_.gram(S, self.landmarks_.astype(S.dtype, copy=False))

    def _block_rows(self, source: Source, n_scores: int) -> int:
        # Kernels with layers need as much again for scratch.
        width = 2 * self.landmarks_.shape[0] + n_scores + 2 * source.n_features
        return block_rows(source.dtype.itemsize * width, source.n_rows, self.n_jobs)

    def _valid(self, X: Any, *, reset: bool) -> Any:
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
        return validate_data(self, X, reset=reset, **options)

    @property
    def n_components_(self) -> int:
        """Number of components that were kept."""
        return len(self.eigenvalues_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _exact(K: NDArray, n_components: int | None) -> _Components:
    """Return components of the kernel matrix of all rows."""
    precision = float(np.finfo(K.dtype).eps)
    K = K.astype(np.float64)
    means = K.mean(axis=0)
    centred = K - means - means[:, None] + means.mean()
    values, V = _largest(centred, n_components, precision)
    V -= V.mean(axis=0)  # orthogonal to the ones, to rounding
    coef = V / np.sqrt(values)
    return _Components(values, coef, means @ coef, float(np.trace(centred)), len(K))


def _largest(
    A: NDArray, n: int | None, precision: float = float(np.finfo(float).eps)
) -> tuple[NDArray, NDArray]:
    """Return the largest eigenvalues that precision resolves, and their vectors."""
    L = len(A)
    some = None if n is None or n >= L else (L - n, L - 1)
    values, V = eigh(A, subset_by_index=some, overwrite_a=True, check_finite=False)
    values, V = values[::-1], V[:, ::-1]
    kept = values > L * precision * max(float(values[0]), np.finfo(float).tiny)
    return values[kept], np.ascontiguousarray(V[:, kept])


def _whitening(K_zz: NDArray, dtype: Any) -> NDArray:
    """Return U S^(−1/2) of the eigenvalues that the precision of the rows resolves."""
    values, U = _largest(K_zz, None, float(np.finfo(dtype).eps))
    if not len(values):  # k(z, z) = 0 for every landmark
        return np.zeros((len(K_zz), 1))
    return U / np.sqrt(values)


def _signed(found: _Components) -> _Components:
    """Return components whose largest coefficient is positive: signs are not left to LAPACK."""
    if not found.coef.size:
        return found
    at = np.abs(found.coef).argmax(axis=0)
    sign = np.sign(found.coef[at, np.arange(found.coef.shape[1])])
    return found._replace(coef=found.coef * sign, offset=found.offset * sign)
