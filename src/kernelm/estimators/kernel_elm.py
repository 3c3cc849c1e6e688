"""Kernel extreme learning machines: exact, on a subset, on landmarks, Nyström, local, deep."""

from __future__ import annotations

from typing import Any, final

from kernelm.estimators.kernel_machine import KernelMachine
from kernelm.estimators.tasks import MomentClassifier, MomentRegressor
from kernelm.kernels import Kernel


@final
class KernelELMClassifier(KernelMachine, MomentClassifier):
    """Kernel extreme learning machine for classification; tunes itself.

    Parameters
    ----------
    kernel : Kernel, str or "auto"
        A kernel object, a name ("gaussian", "laplacian", "matern32", "matern52", "arccosine",
        "elm", "linear"), or "auto": the best of a short list by closed-form leave-one-out, all
        of them on 128 rows, fewer and fewer on 256, 512 and 1,000, together with the
        scaling of the inputs.
    approximation : str
        "exact" (a weight on every row), "subset" (exact on sampled rows), "landmarks" (kernel
        columns on landmarks, plain ridge: AKELM), "nystrom" (the same with the norm of the
        kernel's space as penalty: NKELM), "local" (an exact machine in every leaf of a tree of
        cuts), or "auto": exact while a float32 kernel matrix takes no more than four times the
        working memory (16,384 rows by default), else nystrom; beyond that, for dense rows in
        memory, local where the leave-one-out error of some leaves is less than that of
        landmarks, were it to go on falling as it did from 512 to 1,024 of them.
    n_landmarks : int or "auto"
        "auto" doubles them while the closed-form criterion still improves by a percent, then
        goes on to as many as twice the working memory and a minute of arithmetic allow;
        ``landmark_path_`` says what was tried and why it stopped.
    landmarks : str, array-like or callable
        "uniform", "kmeans", "leverage", "rpcholesky", the landmarks themselves (in the units
        of the kernel: scaled inputs), or a function ``(X, n, kernel, rng) -> rows``.
    stratify : bool
        Give each class its share of the landmarks.
    solver : str
        "direct" keeps sums over the rows and takes an eigendecomposition, which serves every
        alpha; "falkon" makes passes of preconditioned conjugate gradients, with the alpha that
        2,048 landmarks choose. "auto" is direct up to 2,048 landmarks; beyond, it adds up sums
        in place, compares a few alphas by leave-one-out, each with a Cholesky factor, and drops
        the sums; where those would take more than four times the working memory, falkon.
    leaf_size : int
        Local form: most rows of a leaf, those that it shares with its neighbours included.
    n_trees : int
        Local form: trees that are averaged, the first cut along principal directions, the others
        along random ones.
    overlap : float
        Local form: share of the rows of a node, those nearest to its cut, that both sides learn
        from, so that scores do not jump there.
    scale_inputs : bool
        Scale inputs by a sample of the rows, frozen: standardised, or, where kernel="auto" finds
        it better by leave-one-out, all columns by the same number (pixels), square roots first
        (counts, intensities), and each column weighed by the slopes of a small machine along it
        (``feature_weights_``), if rows that this machine has not seen are the better for it. The
        local form with kernel="auto" takes slopes in some leaves, and weighs and cuts again while
        their leave-one-out error falls by a percent.
    alpha : float, array-like, "auto", "gcv" or "loo"
        Ridge strength (papers: 1/C), given or chosen in closed form as in
        :class:`~kernelm.ELMClassifier`; the exact form always
        chooses by leave-one-out, which it has for free.
    fit_intercept : bool
        Fit an unpenalised intercept.
    feature_rounds : int
        After the first fit, fit so many times more (recursive feature machine): each time inputs
        are weighted by the root mean square slope of the scores along them, and kernel, width and
        landmarks are chosen anew. The round with the best closed-form criterion is kept. At most
        2,048 columns; ``partial_fit`` and ``freeze`` make no rounds, their map being frozen.
    class_weight : dict or "balanced", optional
        Factors of the row weights, class by class.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs=None`` takes as many threads as BLAS would.

    Attributes
    ----------
    feature_importances_ : ndarray
        Share of each input in the mean squared slope of the scores at rows kept from the fit,
        along inputs in the units of ``scale_inputs``; zeros for a constant model.
    feature_weights_ : ndarray
        Factors of the scaled inputs in the round that was kept (ones: the first fit).
    round_path_ : list of float
        Criterion of the first fit and of each round, the smaller the better. Later ones flatter
        a little, most with few rows and many columns: their weights have seen every target.
    kernel_, kernel_path_, n_landmarks_, landmark_path_, classes_, alpha_, path_, status_,
    effective_df_, coef_, intercept_, loo_score_

    References
    ----------
    Iosifidis, Tefas and Pitas (2017), Approximate kernel extreme learning machine for large
    scale data classification. Williams and Seeger (2001), Using the Nyström method to speed up
    kernel machines. Radhakrishnan, Beaglehole, Pandit and Belkin (2024), Mechanism for feature
    learning in neural networks and backpropagation-free machine learning models.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import KernelELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelELMClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.98
    """

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        *,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: Any = "uniform",
        stratify: bool = False,
        solver: str = "auto",
        leaf_size: int = 2500,
        n_trees: int = 1,
        overlap: float = 0.1,
        scale_inputs: bool = True,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        feature_rounds: int = 0,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel,
            approximation=approximation,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            stratify=stratify,
            solver=solver,
            leaf_size=leaf_size,
            n_trees=n_trees,
            overlap=overlap,
            scale_inputs=scale_inputs,
            alpha=alpha,
            fit_intercept=fit_intercept,
            feature_rounds=feature_rounds,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight


@final
class KernelELMRegressor(KernelMachine, MomentRegressor):
    """Kernel extreme learning machine for regression; tunes itself.

    Parameters
    ----------
    kernel, approximation, n_landmarks, landmarks, stratify, solver, leaf_size, n_trees, overlap,
    scale_inputs, alpha, fit_intercept, feature_rounds
        As in :class:`KernelELMClassifier` (``stratify`` makes sense for few distinct targets).
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    kernel_, kernel_path_, n_landmarks_, landmark_path_, feature_importances_, feature_weights_,
    round_path_, alpha_, path_, status_,
    effective_df_, coef_, intercept_, loo_score_

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import KernelELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelELMRegressor(random_state=0).fit(X, y)
    >>> print(f"leave-one-out R2 {model.loo_score_:.2f}")
    leave-one-out R2 0.51
    """
