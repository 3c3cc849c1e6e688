"""Which mixture of kernels? An estimator whose result is a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from kernelm import _checks
from kernelm.data import ArraySource, Sample
from kernelm.kernels import ArcCosine, Gaussian, Kernel, named
from kernelm.learn.mixing import Programme, alignment, mixture, programme, repicked
from kernelm.learn.neighbors import nearest
from kernelm.search import coding_of

#: What is mixed where nothing is given: a narrow and a wide Gaussian around an arc-cosine kernel.
DEFAULT_MIX: tuple[Kernel, ...] = (
    Gaussian("0.5*median"),
    ArcCosine([1], normalize=True),
    Gaussian("median"),
)
_ALIGNED_ROWS = 2000  # rows of the kernel matrices that are aligned with labels
_POOL = 4  # times as many rows as neighbours to pick from
_SAME = 1e-6  # change of the weights that ends the rounds


@final
class MultipleKernelLearner(BaseEstimator):
    r"""Weights of several kernels, learned without labels: the result is one kernel.

    Each row is rebuilt from its nearest rows, weighed by the kernel; the mixture that does it best,
    with little weight on far neighbours, is a quadratic programme in as many variables as there
    are kernels (:mod:`kernelm.learn.mixing` has the formulas). Its sums need kernel values
    between neighbours only: time and memory are linear in the rows.

    Parameters
    ----------
    kernels : sequence of Kernel or str, optional
        What is mixed; scales such as "median" are taken from the rows. By default two Gaussians
        and an arc-cosine kernel.
    criterion : "reconstruction" or "alignment"
        Without labels as above; or centred alignment with ``y``, for comparison, on at most 2,000
        rows.
    n_neighbors : int
        Neighbours B of each row.
    gamma : float
        Price of far neighbours. Small ones leave the kernel that is largest between neighbours,
        large ones the narrowest; 0.3 mixes on most of the sets that were looked at.
    average : bool
        Rebuild a row from the mean of its weighed neighbours. False takes their sum, as the papers
        print it: then the kernel with the smallest values wins, whatever the rows are.
    rounds : int
        How often neighbours are picked anew, greedily from four times as many near rows, for the
        weights that were found; 0 keeps the nearest.
    neighbors : "exact" or "approximate"
        Exact neighbours by scikit-learn, or by a few random trees for many rows in many dimensions.
    n_samples : int, optional
        At most so many rows, drawn at random, are looked at; None for all.
    random_state, n_jobs
        As in scikit-learn.

    Attributes
    ----------
    kernel_ : Kernel
        The mixture, with numbers for its scales, usable wherever a kernel is.
    weights_ : ndarray of shape (n_kernels,)
        Its weights, which sum to one.
    kernels_ : list of Kernel
        What was mixed, with numbers for the scales.
    objective_ : list of float
        Value of the programme after each round, per row; empty for "alignment".
    residual_ : float
        How far the weights are from optimal: the largest violation of the optimality conditions
        in units of the gradient; NaN for "alignment".

    Notes
    -----
    Rows are taken as they are: scale them before, as for any kernel.

    References
    ----------
    Zhuang, Wang, Hoi and Lan (2011), Unsupervised multiple kernel learning. Cortes, Mohri and
    Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import scale
    >>> from kernelm import KernelELMClassifier, MultipleKernelLearner
    >>> X, y = load_digits(return_X_y=True)
    >>> X = scale(X)
    >>> learner = MultipleKernelLearner(random_state=0).fit(X)
    >>> learner.weights_.round(1)
    array([0. , 0.6, 0.4])
    >>> elm = KernelELMClassifier(learner.kernel_, scale_inputs=False).fit(X[:1000], y[:1000])
    >>> print(f"{elm.score(X[1000:], y[1000:]):.2f}")
    0.96
    """

    kernel_: Kernel
    weights_: NDArray
    kernels_: list[Kernel]
    objective_: list[float]
    residual_: float

    def __init__(
        self,
        kernels: Sequence[Kernel | str] | None = None,
        *,
        criterion: str = "reconstruction",
        n_neighbors: int = 10,
        gamma: float = 0.3,
        average: bool = True,
        rounds: int = 0,
        neighbors: str = "exact",
        n_samples: int | None = 10_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.criterion = criterion
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.average = average
        self.rounds = rounds
        self.neighbors = neighbors
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows, scaled as the kernels want them.
        y : array-like, optional
            Labels or numbers, needed for "alignment" and else ignored.
        """
        offered = DEFAULT_MIX if self.kernels is None else self.kernels
        _checks.some_candidates(offered)
        kernels = [named(kernel) for kernel in offered]
        self._check_parameters()
        aligned = self.criterion == "alignment"
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
        if aligned:
            X, y = validate_data(self, X, y, multi_output=True, **options)
        else:
            X, y = validate_data(self, X, **options), None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        most = X.shape[0] if self.n_samples is None else self.n_samples
        most = min(most, _ALIGNED_ROWS) if aligned else most
        sample = Sample.of(ArraySource(X, y), most, seed)
        self.kernels_ = [kernel.resolve(sample.X, random_state=seed) for kernel in kernels]
        if aligned:
            Y = coding_of(y).encode(_checks.has_targets(sample.y), np.float64)
            self.weights_ = alignment([k.gram(sample.X) for k in self.kernels_], Y)
            self.objective_, self.residual_ = [], np.nan
        else:
            self._reconstruct(sample.X, seed)
        self.kernel_ = mixture(self.kernels_, self.weights_)
        return self

    def _check_parameters(self) -> None:
        _checks.one_of(self.criterion, "criterion", ["reconstruction", "alignment"])
        _checks.one_of(self.neighbors, "neighbors", ["exact", "approximate"])
        _checks.integer(self.n_neighbors, "n_neighbors")
        _checks.non_negative(self.gamma, "gamma")
        _checks.integer(self.rounds, "rounds", low=0)
        if self.n_samples is not None:
            _checks.integer(self.n_samples, "n_samples (or None for all)", low=2)

    def _reconstruct(self, X: Any, seed: int) -> None:
        wanted = self.n_neighbors * (_POOL if self.rounds else 1)
        pool = nearest(X, wanted, approximate=self.neighbors == "approximate", seed=seed)
        index, gamma = pool[:, : self.n_neighbors], float(self.gamma)
        d = 1.0 / max(index.shape[1], 1) if self.average else 1.0
        total = programme(X, index, self.kernels_, n_jobs=self.n_jobs).scaled(d)
        mu = total.solve(gamma)
        values = [total.value(mu, gamma) / X.shape[0]]
        for _ in range(self.rounds if index.shape[1] else 0):
            kernel = mixture(self.kernels_, mu)
            index = repicked(X, index, pool, kernel, gamma, d=d, n_jobs=self.n_jobs)
            total = programme(X, index, self.kernels_, n_jobs=self.n_jobs).scaled(d)
            mu, before = total.solve(gamma), mu
            values.append(total.value(mu, gamma) / X.shape[0])
            if np.abs(mu - before).max() <= _SAME:
                break
        self.weights_, self.objective_ = mu, values
        self.residual_ = _violation(total, mu, gamma)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.criterion == "alignment"
        return tags


def _violation(total: Programme, mu: NDArray, gamma: float) -> float:
    """Return how far slopes of kernels with weight are above the least, and none below it."""
    slope = total.slope(mu, gamma)
    largest = float(np.abs(slope).max()) or 1.0
    return float(mu @ (slope - slope.min())) / largest
