"""Support vector machines: libsvm, through scikit-learn, on any kernel of this library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import combinations
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.svm import SVC, SVR
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Rows, block_rows, stream, width
from kernelm.data.targets import best_class
from kernelm.features import InputScaler, KernelColumns
from kernelm.kernels import Kernel, named
from kernelm.margin.rows import merged
from kernelm.tasks.classification import class_weights

LIMIT = 16  # the kernel matrix of all rows may take so many times the working memory
_INSTEAD = "CoreVectorClassifier or CoreVectorRegressor, which never hold it"
_GRAM_ROWS = 512  # rows of a block of that matrix: enough blocks for every core to be busy
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


class SupportVectorMachine(BaseEstimator, ABC):
    """Kernel matrix, libsvm, and scores from the rows that it kept.

    Equal rows with equal targets become one row with the sum of their weights, and rows are
    put into an order of their contents. So weights are repeated rows, and the order of the
    rows does not matter, although libsvm stops at a tolerance.
    """

    kernel: Kernel | str
    C: float
    scale_inputs: bool
    tol: float
    cache_size: float
    max_iter: int
    random_state: Any

    kernel_: Kernel  #: with scales that are numbers
    scaler_: InputScaler
    support_: NDArray  #: positions of the support rows among the rows given to fit
    support_vectors_: Any  #: these rows, as they came
    n_support_: NDArray
    dual_coef_: NDArray
    intercept_: NDArray
    n_features_in_: int

    @abstractmethod
    def _solver(self) -> SVC | SVR:
        """Return libsvm for a kernel matrix."""

    @abstractmethod
    def _costs(self, y: NDArray, weight: NDArray) -> NDArray:
        """Return how much an error in each row counts."""

    @abstractmethod
    def _scores_of(self, K: NDArray) -> NDArray:
        """Return scores from kernel columns on the support rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to arrays, CSR matrices or data frames of numbers.

        Parameters
        ----------
        X : {array-like, CSR matrix, data frame} of shape (n_samples, n_features)
            Inputs. The kernel matrix is computed in double precision.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; a whole number means the row repeated so many times.

        Returns
        -------
        self
        """
        kernel = self._checked_kernel()
        X, y = validate_data(self, X, y, y_numeric=is_regressor(self), **_ACCEPTED)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        _checks.some_weight(weight)
        if not is_regressor(self):
            check_classification_targets(y)
        rows, weight, _ = merged(X, y, weight)
        X, y = X[rows], y[rows]
        costs = self._costs(y, weight)
        _checks.fits_memory(len(rows), working_bytes(), LIMIT, _INSTEAD)

        S = self._settle(kernel, X.astype(np.float64), weight)
        solver = self._solver().fit(_gram_matrix(self.kernel_, S), y, costs)
        self.support_ = rows[solver.support_]
        self.support_vectors_ = X[solver.support_]
        self.dual_coef_, self.intercept_ = np.asarray(solver.dual_coef_), solver.intercept_
        self.n_support_, self.n_iter_ = solver.n_support_, solver.n_iter_
        return self

    def _checked_kernel(self) -> Kernel:
        for name in ("C", "tol", "cache_size"):
            _checks.positive(getattr(self, name), name)
        _checks.integer(self.max_iter, "max_iter (-1 means no limit)", low=-1)
        return named(self.kernel)

    def _options(self) -> dict[str, Any]:
        names = ("C", "tol", "cache_size", "max_iter")
        return {"kernel": "precomputed"} | {name: getattr(self, name) for name in names}

    def _settle(self, kernel: Kernel, X: Any, weight: NDArray) -> Any:
        """Freeze scaling and kernel, and return scaled rows."""
        self.scaler_ = (
            InputScaler.fit(X, weight, unit_length=False)
            if self.scale_inputs
            else InputScaler.identity(X.shape[1])
        )
        S = self.scaler_.transform(X)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.kernel_ = kernel.resolve(S, weight, seed)
        return S

    def _scores(self, X: Any) -> NDArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_ACCEPTED)
        Z = self.scaler_.transform(self.support_vectors_.astype(np.float64))
        phi = KernelColumns(self.kernel_, self.scaler_, Z, in_kernel_norm=False)

        def score(rows: Rows) -> NDArray:
            # In double precision: coefficients as large as C blow up the rounding of columns.
            return self._scores_of(phi.map(rows.X.astype(np.float64)))

        # Kernels with layers need as much again for scratch.
        source = ArraySource(X)
        D = width(source, fills=self.scaler_.fills)
        per_row = 8 * (3 * Z.shape[0] + 3 * D + 2 * len(self.intercept_))
        parts = stream(source, score, rows=block_rows(per_row, X.shape[0]))
        return np.concatenate(list(parts))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@final
class KernelSVC(ClassifierMixin, SupportVectorMachine):
    r"""Support vector classification with a kernel object.

    .. math:: f(x) = \sum_i a_i y_i\, k(x, x_i) + b, \qquad \min_a\;
              \tfrac12 \sum_{ij} a_i a_j y_i y_j\, k(x_i, x_j) - \sum_i a_i, \quad
              0 \le a_i \le C w_i,\; \sum_i a_i y_i = 0

    Several classes are told apart in pairs, which vote. A deep kernel makes it the deep support
    vector machine, DSVM.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel, or the name of one in ``kernelm.kernels.NAMED``. Scales such as ``"median"``
        are taken from the training rows.
    C : float
        Cost of an error: the largest weight of a row.
    scale_inputs : bool
        Standardise the inputs by the training rows.
    class_weight : dict, "balanced" or None
        Factors of C. "balanced" makes classes count alike, whatever the number of their rows.
    tol : float
        Where libsvm stops: violation of the optimality conditions.
    cache_size : float
        Megabytes for rows of the kernel matrix that libsvm has signed.
    max_iter : int
        Limit of libsvm's steps, -1 for none.
    random_state : int, RandomState or None
        Draws rows for scales such as ``"median"`` where there are more than 1000.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with scales that are numbers.
    classes_ : ndarray
        Class labels.
    support_, support_vectors_ : ndarray of shape (n_support,), and array or CSR matrix
        Positions of the support rows among those given to fit, and these rows as they came.
    n_support_ : ndarray of shape (n_classes,)
        Number of support rows of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Their coefficients, laid out as in :class:`sklearn.svm.SVC`.
    intercept_ : ndarray
        One for each pair of classes.
    n_iter_ : ndarray
        Steps of libsvm for each pair.

    Notes
    -----
    There is no ``predict_proba``: wrap it in
    :class:`sklearn.calibration.CalibratedClassifierCV`. ``predict`` is the class with the
    largest ``decision_function``, so equal votes are decided by confidence: what SVC does with
    ``break_ties=True``. The whole kernel matrix is held while fitting; a :class:`MemoryError`
    says where that ends.

    References
    ----------
    C. Cortes and V. Vapnik, "Support-vector networks", Machine Learning 20, 1995.
    Y. Cho and L. K. Saul, "Kernel methods for deep learning", NIPS 2009.
    C.-C. Chang and C.-J. Lin, "LIBSVM", ACM TIST 2, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from kernelm.kernels import ArcCosine
    >>> from kernelm import KernelSVC
    >>> X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
    >>> dsvm = KernelSVC(ArcCosine([0, 1])).fit(X, y)
    >>> print(f"{dsvm.score(X_test, y_test):.2f} with {len(dsvm.support_)} of {len(X)} rows")
    0.98 with 921 of 1347 rows
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        *,
        C: float = 1.0,
        scale_inputs: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.scale_inputs = scale_inputs
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.random_state = random_state

    def decision_function(self, X: Any) -> NDArray:
        """Return scores.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Votes of the pairs plus a fraction that says how sure they are.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray:
        """Predict class labels."""
        scores = self._scores(X)
        return self.classes_[best_class(scores)]

    def _solver(self) -> SVC:
        return SVC(**self._options())

    def _costs(self, y: NDArray, weight: NDArray) -> NDArray:
        self.classes_, index = np.unique(y, return_inverse=True)
        _checks.at_least_two_classes(self.classes_)
        if self.class_weight is None:
            return weight
        counts = dict(zip(self.classes_, np.bincount(index, weight), strict=True))
        factors = class_weights(self.class_weight, self.classes_, [counts])
        for label, factor in zip(self.classes_.tolist(), factors.tolist(), strict=True):
            _checks.positive(factor, f"class_weight[{label!r}]")  # pairs need rows of both
        return weight * factors[index]

    def _scores_of(self, K: NDArray) -> NDArray:
        C = len(self.classes_)
        if C == 2:
            return K @ self.dual_coef_.T + self.intercept_
        # A row of class i has a coefficient for each other class; the pair of i and j adds
        # those of i against j (entry j - 1, for i is left out) and of j against i.
        ends = np.cumsum(self.n_support_)
        of_class = [slice(e - n, e) for e, n in zip(ends, self.n_support_, strict=True)]
        sums = [K[:, rows] @ self.dual_coef_[:, rows].T for rows in of_class]
        pairs = [sums[i][:, j - 1] + sums[j][:, i] for i, j in combinations(range(C), 2)]
        scores = np.stack(pairs, axis=1) + self.intercept_
        return _ovr_decision_function(scores < 0, -scores, C)


@final
class KernelSVR(RegressorMixin, SupportVectorMachine):
    r"""Support vector regression with a kernel object.

    .. math:: \min_{f, b}\; \tfrac12 \lVert f \rVert_k^2
              + C \sum_i w_i \max(0,\, |y_i - f(x_i) - b| - \epsilon)

    Parameters
    ----------
    kernel, C, scale_inputs, tol, cache_size, max_iter, random_state
        As in :class:`KernelSVC`.
    epsilon : float
        Errors up to here cost nothing, in units of y.

    Attributes
    ----------
    kernel_, support_, support_vectors_, n_support_
        As in :class:`KernelSVC`.
    dual_coef_, intercept_ : ndarray of shape (1, n_support) and (1,)
        Coefficients of the support rows, and b.
    n_iter_ : int
        Steps of libsvm.

    Notes
    -----
    C and epsilon have the units of y: standardise y, for example with
    :class:`sklearn.compose.TransformedTargetRegressor`, before a usual grid makes sense.

    References
    ----------
    B. Frénay and M. Verleysen, "Parameter-insensitive kernel in extreme learning for
    non-linear support vector regression", Neurocomputing 74, 2011.
    C.-C. Chang and C.-J. Lin, "LIBSVM", ACM TIST 2, 2011.

    Examples
    --------
    The ELM kernel, for which there is no scale to tune:

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from kernelm.kernels import AsymptoticELM
    >>> from kernelm import KernelSVR
    >>> X, X_test, y, y_test = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    >>> kernel = AsymptoticELM(weight_scale=10).normalized()
    >>> svr = KernelSVR(kernel, C=10, epsilon=5, scale_inputs=True).fit(X, y)
    >>> print(f"R² {svr.score(X_test, y_test):.2f} with {len(svr.support_)} of {len(X)} rows")
    R² 0.37 with 300 of 331 rows
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        scale_inputs: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.scale_inputs = scale_inputs
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray:
        """Predict targets."""
        return self._scores(X)[:, 0]

    def _solver(self) -> SVR:
        return SVR(epsilon=self.epsilon, **self._options())

    def _costs(self, y: NDArray, weight: NDArray) -> NDArray:
        _checks.non_negative(self.epsilon, "epsilon")
        return weight

    def _scores_of(self, K: NDArray) -> NDArray:
        return K @ self.dual_coef_.T + self.intercept_


def _gram_matrix(kernel: Kernel, X: Any) -> NDArray:
    """Return the kernel matrix of all rows in double precision, each pair computed once."""
    N = X.shape[0]
    K = np.empty((N, N))

    def write(rows: Rows) -> None:
        start, stop = rows.start, rows.start + rows.n
        K[start:stop, start:stop] = kernel.gram(rows.X)
        if start:
            K[start:stop, :start] = kernel.gram(rows.X, X[:start])
            K[:start, start:stop] = K[start:stop, :start].T

    step = min(block_rows(2 * 8 * N, N), _GRAM_ROWS)
    for _ in stream(ArraySource(X), write, rows=step):
        pass
    _checks.finite_diag(np.diagonal(K), repr(kernel))
    return K
