"""Core vector machines for classes: pairs that vote, or one ball for all."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import _ovr_decision_function

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Rows, Source, effective_jobs, pooled
from kernelm.data.targets import Classes
from kernelm.kernels import Kernel
from kernelm.margin.core_machine import BIAS, HELD_OUT_ROWS, CoreVectorMachine, as_they_are
from kernelm.margin.furthest import Points
from kernelm.margin.machine import CoreMachine, Part
from kernelm.margin.rows import merged
from kernelm.tasks import Classifier

MARGIN = 0.1  # with eps="auto", no row's margin is short by more, in units of the margin


@final
class CoreVectorClassifier(CoreVectorMachine, Classifier):
    r"""Core vector machine for classification: a large margin from an enclosing ball.

    The support vector machine with squared slacks is the smallest ball around the rows, each
    taken with the sign of its class and a coordinate of its own. A core set of them is enough
    for all, and its size does not depend on the number of rows.

    Parameters
    ----------
    kernel : Kernel, str or "auto"
        A kernel object, a name in ``kernelm.kernels.NAMED``, or "auto": the best of a short list
        by closed-form leave-one-out of ridge regression on 1,000 rows. Any kernel: a diagonal
        that is not constant is made so by one more private coordinate of each row.
    C : float or "auto"
        Cost of squared slacks; "auto" takes it from the same leave-one-out.
    eps : float or "auto"
        No row may be further from the centre than (1 + eps) radii. "auto": until no margin is
        short by more than a tenth, which is what matters for the classes; with method="bvm", 1e-5.
    method : "cvm" or "bvm"
        Solve for the centre on the core set, or move a ball of fixed radius point by point.
    multiclass : "ovo" or "vector"
        A ball for each pair of classes, which vote; or one ball with a code for each class,
        cheaper and less accurate.
    max_core : int or "auto"
        Most core vectors of a ball; "auto": as many as twice the working memory holds a matrix of.
    max_seconds : float, optional
        For each ball. Where a limit ends the search, ``status_`` and ``gap_`` say so.
    scale_inputs : bool
        Scale inputs by a sample of the rows, frozen: standardised, or as kernel="auto" finds best.
    class_weight : dict or "balanced", optional
        Factors of C.
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    core_indices_, n_core_, radius_, gap_, n_evaluations_, status_, kernel_, kernel_path_, C_,
    classes_, loo_score_

    Notes
    -----
    Overlapping classes need many core vectors: every row on the wrong side of its margin is
    one, and then an exact or Nyström kernel ELM is the faster machine.
    ``predict_proba`` is calibrated on left-out scores: rows outside the core set have no part in
    the model, for those inside the others of the core set are assumed to stay in it.

    References
    ----------
    Tsang, Kwok and Cheung (2005), Core vector machines: fast SVM training on very large data
    sets. Tsang, Kocsor and Kwok (2007), Simpler core vector machines with enclosing balls.
    Asharaf, Murty and Shevade (2007), Multiclass core vector machine.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import CoreVectorClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CoreVectorClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.96
    """

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        *,
        C: float | str = "auto",
        eps: float | str = "auto",
        method: str = "cvm",
        multiclass: str = "ovo",
        max_core: int | str = "auto",
        max_seconds: float | None = None,
        scale_inputs: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.eps = eps
        self.method = method
        self.multiclass = multiclass
        self.max_core = max_core
        self.max_seconds = max_seconds
        self.scale_inputs = scale_inputs
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def loo_score_(self) -> float:
        """Accuracy of left-out predictions on the kept rows."""
        return self._held_out_score

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _checks.one_of(self.method, "method", ["cvm", "bvm"])
        _checks.one_of(self.multiclass, "multiclass", ["ovo", "vector"])

    def _check_y(self, y: Any) -> NDArray:
        y = super()._check_y(y)
        _checks.one_output(np.ndim(y) == 1)
        return y

    def _fit(self, source: Source, classes: Any) -> Self:
        survey = self._survey(source, classes)
        everything = source
        source, original, stands_for = _each_once(source)
        coding, n_classes = survey.coding, len(survey.coding.labels)  # pyright: ignore
        assert isinstance(coding, Classes)
        eta = self._largest_diag(everything, survey.class_weight)

        def part(pair: tuple[int, int] | None, n_jobs: int | None) -> Part:
            table = _codes(n_classes, pair)
            own, positions = _rows_of(source, coding, pair)

            def points(rows: Rows) -> Points | None:
                index = coding.index(_checks.has_targets(rows.y))
                weight = rows.weight
                if survey.class_weight is not None:
                    factor = survey.class_weight[index]
                    weight = factor if weight is None else factor * weight
                ridge = self._ridge(weight, rows.n)
                ridge[~table[index].any(axis=1)] = np.inf  # rows of other classes
                return self._points(rows, table[index][:, None], np.full((rows.n, 1), eta), ridge)

            tolerance = self._tolerance(lambda ball: 2 * MARGIN * ball.rho)
            ball = self._ball(own, points, tolerance, n_jobs)
            for names in (positions, original):
                if names is not None:
                    ball = ball.with_core(ball.core._replace(position=names[ball.core.position]))
            return Part(ball, 1 / ball.rho, self.method == "cvm")

        if n_classes == 2:
            parts, combine = [part((0, 1), self.n_jobs)], as_they_are
        elif self.multiclass == "vector":
            parts = [part(None, self.n_jobs)]
            combine = ByCodes(_codes(n_classes, None))
        else:
            pairs = list(combinations(range(n_classes), 2))
            workers = effective_jobs(self.n_jobs)
            with self._progress("pairs of classes", source) as progress:
                parts = []
                for done in pooled(lambda pair: part(pair, 1), iter(pairs), workers):
                    parts.append(done)
                    if progress is not None:
                        progress.advance((source.n_rows or 0) // len(pairs))
            combine = ByVotes(n_classes)
        self.machine_ = CoreMachine.of(
            parts,
            self.kernel_,
            self.scaler_,
            targets=coding,
            sample=survey.sample.head(HELD_OUT_ROWS),
            bias=BIAS,
            combine=combine,
            stands_for=stands_for,
            class_weight=survey.class_weight,
            n_jobs=self.n_jobs,
        )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


def _codes(n_classes: int, pair: tuple[int, int] | None) -> NDArray:
    """Return the code of each class: signs for a pair, corners of a simplex for all."""
    if pair is not None:
        table = np.zeros((n_classes, 1))
        table[list(pair), 0] = -1, 1
        return table
    corners = np.eye(n_classes) - 1 / n_classes
    return corners * np.sqrt(n_classes / (n_classes - 1))


def _rows_of(
    source: Source, coding: Classes, pair: tuple[int, int] | None
) -> tuple[Source, NDArray | None]:
    """Return the rows of two classes with their positions; all rows where they cannot be taken."""
    if pair is None or len(coding.labels) == 2 or not isinstance(source, ArraySource):
        return source, None
    positions = np.flatnonzero(np.isin(coding.index(_checks.has_targets(source.y)), pair))
    rows = source.take(positions)
    return ArraySource(rows.X, rows.y, rows.weight), positions


def _each_once(source: Source) -> tuple[Source, NDArray | None, NDArray | None]:
    """Return distinct rows, their positions, and which of them stands for each row.

    Equal rows are one row with their weights added, exactly, and their order is that of their
    contents: neither samples nor balls that are moved then depend on how rows were given. What
    does not fit the working memory twice stays as it is.
    """
    if not isinstance(source, ArraySource) or _bytes(source.X) > working_bytes():
        return source, None, None
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    positions, total, stands_for = merged(source.X, _checks.has_targets(source.y), weight)
    rows = source.take(positions)
    return ArraySource(rows.X, rows.y, total), positions, stands_for


@final
class ByCodes:
    """Scores of classes from one vector in the space of their codes."""

    def __init__(self, table: NDArray) -> None:
        self.table = table

    def __call__(self, scores: NDArray) -> NDArray:
        """Return how far each row leans to each class."""
        return scores @ self.table.T


@final
class ByVotes:
    """Votes of pairs, with a fraction for how sure they are, brought to -1 … 1."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def __call__(self, scores: NDArray) -> NDArray:
        """Return the share of pairs that each class wins."""
        n = self.n_classes
        return 2 * _ovr_decision_function(scores > 0, scores, n) / (n - 1) - 1


def _bytes(X: Any) -> int:
    return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
