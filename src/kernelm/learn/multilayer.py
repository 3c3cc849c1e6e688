"""Multilayer kernel machines: layers of kernel components, and a machine on top."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelm import _checks
from kernelm.data import ArraySource, Sample
from kernelm.data.targets import Classes
from kernelm.features import InputScaler
from kernelm.kernels import ArcCosine, Gaussian, Kernel, named
from kernelm.learn.layer import NO_DIFFERENCE, KernelLayer, Structure, compare, learn_layer
from kernelm.learn.learner import MultipleKernelLearner
from kernelm.learn.pca import LANDMARKS, KernelPCA
from kernelm.margin import CoreVectorClassifier
from kernelm.search import arc_cosine_lists, best_metric, scalings
from kernelm.tasks import SAMPLE_ROWS

MOST_LAYERS = 3  # that "auto" tries
KEEPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # shares of the components that "auto" tries
_FEW_LISTS = [ArcCosine(degrees, normalize=True) for degrees in ([0], [1], [2], [1, 0])]
_OPTIONS: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def _final_has(name: str) -> Any:
    def check(self: Any) -> bool:
        final = getattr(self, "final_", None) or self.final or CoreVectorClassifier()
        getattr(final, name)  # its AttributeError says what is missing
        return True

    return check


@final
class MultilayerKernelClassifier(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """Layers that mix kernels, find their components and keep those that tell classes apart.

    Each layer learns the weights of its kernels without labels, takes the principal components
    of the mixture, and keeps the components with the largest F ratio between classes; the next
    layer starts from these. A classifier of any kind is trained on the last features. Everything
    is frozen on training rows.

    Parameters
    ----------
    layers : int, "auto", or sequence of layers
        How many layers of the default mixture (two Gaussians and an arc-cosine kernel whose
        degrees are chosen on training rows); "auto" tries up to three and takes the number with
        the least leave-one-out error; or for each layer its kernels, or its one kernel.
    final : classifier, optional
        What is trained on the features, by default a :class:`~kernelm.CoreVectorClassifier` with
        an arc-cosine kernel whose degrees are chosen on training rows.
    keep : float, int, "auto" or sequence of numbers
        Share of the components that is kept in a layer, or how many (a whole number), or several
        of either to choose from.
    n_components : int, None or sequence of them
        Components that a layer finds, or numbers to choose from; None for all.
    mixing : "reconstruction", "alignment" or "uniform"
        How kernels are weighed: without labels, by alignment with the labels, or all alike.
    n_neighbors, gamma : int, float
        Of :class:`~kernelm.MultipleKernelLearner`.
    approximation, n_landmarks
        Of :class:`~kernelm.KernelPCA`.
    scale_inputs : bool
        Scale inputs first: column by column, all alike (pixels), or their roots (counts),
        whichever suits some training rows best; frozen from at most 4,096 rows.
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    layers_ : list of KernelLayer
        With the ``kernels`` and ``weights`` of each, and its ``pca``.
    weights_ : list of ndarray
        Weights of the kernels, layer by layer.
    final_ : classifier
        Fitted on the features of the last layer.
    structure_ : list of Structure
        The structure of each layer that was tried, with its leave-one-out error (NaN where there
        was nothing to choose).
    n_layers_ : int
    widths_ : list of int
        Features of each layer.
    classes_ : ndarray

    Notes
    -----
    Structures are compared on at most 3,000 training rows by closed-form leave-one-out of ridge
    regression with the arc-cosine kernel: components are chosen with the labels of one half of
    these rows and judged on the other half. A layer more must lower the error by 2 %, and of
    widths that differ by less the largest is taken. No test row is seen by components or choices.

    References
    ----------
    Cho and Saul (2009), Kernel methods for deep learning. Afzal and Asharaf (2018), Deep multiple
    multilayer kernel learning in core vector machines.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import MultilayerKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MultilayerKernelClassifier(2, keep=0.1, random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}, features {model.widths_}")
    0.97, features [100, 100]

    The multilayer kernel machine of Cho and Saul, one kernel a layer and an SVM on top:

    >>> from kernelm import KernelSVC
    >>> from kernelm.kernels import ArcCosine
    >>> svm = KernelSVC(ArcCosine([1]))
    >>> mkm = MultilayerKernelClassifier([ArcCosine([1])] * 2, final=svm, random_state=0)
    >>> mkm.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    classes_: NDArray
    layers_: list[KernelLayer]
    final_: Any
    structure_: list[Structure]
    scaler_: InputScaler
    n_features_in_: int

    def __init__(
        self,
        layers: int | str | Sequence[Any] = "auto",
        *,
        final: Any = None,
        keep: float | str | Sequence[float] = "auto",
        n_components: int | Sequence[int | None] | None = None,
        mixing: str = "reconstruction",
        n_neighbors: int = 10,
        gamma: float = 0.3,
        approximation: str = "auto",
        n_landmarks: int = LANDMARKS,
        scale_inputs: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.layers = layers
        self.final = final
        self.keep = keep
        self.n_components = n_components
        self.mixing = mixing
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.scale_inputs = scale_inputs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Fit layers and the final classifier to arrays, CSR matrices or data frames of numbers."""
        self._check_parameters()
        X, y = validate_data(self, X, y, **_OPTIONS)
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        _checks.at_least_two_classes(self.classes_)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.scaler_, judge = self._ranked(X, index, seed, scale=self.scale_inputs)
        layers, features = self._grow(self.scaler_.transform(X), index, judge, seed)
        self.layers_ = layers
        self.final_ = self._final(features, index, seed).fit(features, y)
        return self

    def _grow(
        self, H: Any, index: NDArray, judge: Kernel, seed: int
    ) -> tuple[list[KernelLayer], NDArray]:
        """Return the layers up to the best one, and the features of the rows above it."""
        grown, best, n_best, least = [], H, 0, np.inf
        self.structure_ = []
        for kernels in self._kernels(judge):
            layer, H = learn_layer(
                H,
                index,
                self._learner(kernels, seed),
                self._pca(seed),
                self._widths(),
                self._keeps(),
                judge,
                seed,
            )
            grown.append(layer)
            found = layer.trials[0] if layer.trials else self._judged(H, index, judge, seed)
            self.structure_.append(found)
            # Without a choice, every layer counts.
            if not self._is_auto or found.error < (1 - NO_DIFFERENCE) * least:
                best, n_best, least = H, len(grown), found.error
        return grown[:n_best], best

    def _judged(self, H: NDArray, index: NDArray, judge: Kernel, seed: int) -> Structure:
        if not self._is_auto:
            return Structure(H.shape[1], 1.0, np.nan)
        return compare(H, index, [H.shape[1]], [1.0], judge, seed)[0]

    def _learner(self, kernels: list[Kernel], seed: int) -> Any:
        if self.mixing == "uniform":
            return _Uniform(kernels, seed)
        return MultipleKernelLearner(
            kernels,
            criterion=self.mixing,
            n_neighbors=self.n_neighbors,
            gamma=self.gamma,
            random_state=seed,
            n_jobs=self.n_jobs,
        )

    def _pca(self, seed: int) -> KernelPCA:
        widths = self._widths()
        most = None if None in widths else max(w for w in widths if w is not None)
        return KernelPCA(
            most,
            approximation=self.approximation,
            n_landmarks=self.n_landmarks,
            random_state=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _final(self, features: NDArray, index: NDArray, seed: int) -> Any:
        if self.final is None:
            _, kernel = self._ranked(features, index, seed, scale=False)
            return CoreVectorClassifier(
                kernel, scale_inputs=False, random_state=seed, n_jobs=self.n_jobs
            )
        final: Any = clone(self.final)
        if final.get_params().get("random_state", seed) is None:
            final.set_params(random_state=seed)
        return final

    def _ranked(
        self, X: Any, index: NDArray, seed: int, *, scale: bool
    ) -> tuple[InputScaler, Kernel]:
        """Return the scaling and the arc-cosine degrees that suit some training rows best."""
        sample = Sample.of(ArraySource(X, index), SAMPLE_ROWS, seed)
        coding = Classes(np.arange(len(self.classes_)))

        def targets(rows: Sample) -> NDArray:
            return coding.encode(_checks.has_targets(rows.y), np.float64)

        # A few lists tell scalings apart, and then all lists are ranked with the best one.
        scalers = scalings(sample, scale_inputs=scale, several=True)
        if len(scalers) > 1:
            scalers = [best_metric(sample, targets, scalers, _FEW_LISTS, seed=seed)[0]]
        scaler, path = best_metric(sample, targets, scalers, distinct_lists(), seed=seed)
        return scaler, path.best

    # -- parameters ---------------------------------------------------------------------

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.layers, str)

    def _check_parameters(self) -> None:
        if isinstance(self.layers, str):
            _checks.one_of(self.layers, "layers (or a number, or their kernels)", ["auto"])
        elif isinstance(self.layers, Sequence):
            _checks.some_candidates(self.layers)
        else:
            _checks.integer(self.layers, "layers")
        if isinstance(self.keep, str):
            _checks.one_of(self.keep, "keep (or a share)", ["auto"])
        for keep in self._keeps():
            if isinstance(keep, numbers.Integral):
                _checks.integer(keep, "keep")
            else:
                _checks.share(keep, "keep")
        for width in self._widths():
            if width is not None:
                _checks.integer(width, "n_components (or None for all)")
        choices = ["reconstruction", "alignment", "uniform"]
        _checks.one_of(self.mixing, "mixing", choices)

    def _kernels(self, arc_cosine: Kernel) -> list[list[Kernel]]:
        """Return the kernels of each layer."""
        default: list[Kernel] = [Gaussian("0.5*median"), arc_cosine, Gaussian("median")]
        if isinstance(self.layers, str):
            return [default] * MOST_LAYERS
        if not isinstance(self.layers, Sequence):
            return [default] * int(self.layers)
        each = ([k] if isinstance(k, Kernel | str) else list(k) for k in self.layers)
        return [[named(kernel) for kernel in kernels] for kernels in each]

    def _keeps(self) -> list[float]:
        if isinstance(self.keep, str):
            return list(KEEPS)
        return list(self.keep) if isinstance(self.keep, Sequence) else [self.keep]

    def _widths(self) -> list[int | None]:
        widths = self.n_components
        return list(widths) if isinstance(widths, Sequence) else [widths]

    # -- what a fitted machine does -----------------------------------------------------

    def transform(self, X: Any, layer: int | None = None) -> NDArray:
        """Return the features of rows after a layer, by default the last; 0 is scaled inputs."""
        check_is_fitted(self, "final_")
        H = self.scaler_.transform(validate_data(self, X, reset=False, **_OPTIONS))
        n = len(self.layers_) if layer is None else _checks.integer(layer, "layer", low=0)
        for each in self.layers_[:n]:
            H = each.map(H)
        return H

    def predict(self, X: Any) -> NDArray:
        """Predict class labels."""
        H = self.transform(X)
        return self.final_.predict(H)

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray:
        """Return the scores of the final classifier."""
        H = self.transform(X)
        return self.final_.decision_function(H)

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray:
        """Return the probabilities of the final classifier."""
        H = self.transform(X)
        return self.final_.predict_proba(H)

    @property
    def n_layers_(self) -> int:
        """Number of layers in use."""
        return len(self.layers_)

    @property
    def weights_(self) -> list[NDArray]:
        """Weights of the kernels, layer by layer."""
        return [layer.weights for layer in self.layers_]

    @property
    def widths_(self) -> list[int]:
        """Features of each layer."""
        return [len(layer.chosen) for layer in self.layers_]

    @property
    def _n_features_out(self) -> int:
        return self.widths_[-1]

    def plot(self, ax: Any = None) -> Any:
        """Draw the layers with the weights of their kernels; return the axes.

        It needs matplotlib (``pip install kernelm[report]``).
        """
        from kernelm.learn.picture import draw

        check_is_fitted(self, "final_")
        return draw(self, ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@final
class _Uniform:
    """A learner that weighs all kernels alike."""

    def __init__(self, kernels: list[Kernel], seed: int) -> None:
        self.kernels, self.seed = kernels, seed

    def fit(self, X: Any, y: Any) -> Self:
        from kernelm.learn.mixing import mixture

        self.kernels_ = [k.resolve(X, random_state=self.seed) for k in self.kernels]
        self.weights_ = np.full(len(self.kernels), 1 / len(self.kernels))
        self.kernel_ = mixture(self.kernels_, self.weights_)
        return self


def distinct_lists() -> list[Kernel]:
    """Return the arc-cosine kernels of degrees 0 to 3, none of them twice.

    Examples
    --------
    >>> len(distinct_lists())
    64
    """
    every = (kernel for kernel in arc_cosine_lists() if isinstance(kernel, ArcCosine))
    return [kernel for kernel in every if len(set(kernel.degrees)) == len(kernel.degrees)]
