"""The machines that are compared, cheap ones first: a table to read and to add to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, final

from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kernelm.data import effective_jobs
from kernelm.estimators import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    OPELMClassifier,
    OPELMRegressor,
)
from kernelm.kernels import ArcCosine, Gaussian
from kernelm.learn import MultilayerKernelClassifier
from kernelm.margin import CoreVectorClassifier, CoreVectorRegressor

OURS, OTHERS, BASELINE = "kernelm", "alternative", "baseline"

EXACT_ROWS = 16_384  # more make a kernel matrix of all rows too large
LOCAL_ROWS = 10_000  # fewer are better served by one exact machine
LANDMARKS, FEW_ROWS = 500, 4096


@final
@dataclass(frozen=True)
class Shape:
    """What a machine may ask about the training rows before it is made."""

    task: str
    n_rows: int
    n_columns: int
    is_sparse: bool = False
    seed: int = 0

    @property
    def is_classification(self) -> bool:
        """Whether classes are asked for."""
        return self.task == "classification"


def always(shape: Shape) -> str:
    """Say that nothing is against a machine."""
    return ""


@final
@dataclass(frozen=True)
class Machine:
    """A name, how to make an estimator, and why it may not suit the rows.

    Examples
    --------
    >>> shape = Shape("classification", n_rows=1000, n_columns=10)
    >>> find("OP-ELM").make(shape)
    OPELMClassifier(random_state=0)
    >>> find("Local kernel ELM").suits(shape)
    'for 10,000 training rows or more, here are 1,000'
    """

    name: str
    family: str  #: OURS, OTHERS or BASELINE
    make: Callable[[Shape], Any]
    suits: Callable[[Shape], str] = always  #: "" or the reason why it does not
    growth: float = 1.0  #: fit time grows like this power of the rows


def _each(classifier: Any, regressor: Any, *args: Any, **options: Any) -> Callable[[Shape], Any]:
    """Make the one of two twins that the task asks for."""

    def make(shape: Shape) -> Any:
        kind = classifier if shape.is_classification else regressor
        return kind(*args, random_state=shape.seed, **options)

    return make


def _kernel_elm(*args: Any, **options: Any) -> Callable[[Shape], Any]:
    return _each(KernelELMClassifier, KernelELMRegressor, *args, **options)


def _akelm(shape: Shape) -> Any:
    n = min(LANDMARKS, max(shape.n_rows // 3, 1))  # least squares wants more rows than landmarks
    options = {"approximation": "landmarks", "n_landmarks": n, "alpha": 0}
    return _kernel_elm(Gaussian("mean"), **options)(shape)


def _nkelm(shape: Shape) -> Any:
    # Of many rows "auto" would take thousands, which is for those who have the time.
    n = "auto" if shape.n_rows <= FEW_ROWS else 2 * LANDMARKS
    return _kernel_elm(Gaussian("mean"), approximation="nystrom", n_landmarks=n)(shape)


def _scaled(shape: Shape, *steps: Any) -> Any:
    return make_pipeline(StandardScaler(with_mean=not shape.is_sparse), *steps)


def _baseline(shape: Shape) -> Any:
    return DummyClassifier() if shape.is_classification else DummyRegressor()


def _linear(shape: Shape) -> Any:
    return _scaled(
        shape, LogisticRegression(max_iter=500) if shape.is_classification else RidgeCV()
    )


def _nystroem_ridge(shape: Shape) -> Any:
    n = min(LANDMARKS, shape.n_rows)
    columns = Nystroem(gamma=1 / max(shape.n_columns, 1), n_components=n, random_state=shape.seed)
    return _scaled(shape, columns, RidgeClassifier() if shape.is_classification else Ridge())


def _svm(shape: Shape) -> Any:
    if shape.is_classification:
        return _scaled(shape, SVC(C=10))
    return TransformedTargetRegressor(_scaled(shape, SVR()), transformer=StandardScaler())


def _lightgbm(shape: Shape) -> Any:
    import lightgbm  # pyright: ignore[reportMissingImports]

    kind = lightgbm.LGBMClassifier if shape.is_classification else lightgbm.LGBMRegressor
    # As many threads as the others have: more than there are free cores wait for each other.
    return kind(random_state=shape.seed, n_jobs=effective_jobs(None), verbose=-1)


def _up_to_exact_rows(shape: Shape) -> str:
    if shape.n_rows <= EXACT_ROWS:
        return ""
    return f"for up to {EXACT_ROWS:,} training rows, here are {shape.n_rows:,}"


def _many_rows(shape: Shape) -> str:
    if shape.is_sparse:
        return "for dense rows"
    if shape.n_rows >= LOCAL_ROWS:
        return ""
    return f"for {LOCAL_ROWS:,} training rows or more, here are {shape.n_rows:,}"


def _dense(shape: Shape) -> str:
    return "for dense rows" if shape.is_sparse else ""


def _classes(shape: Shape) -> str:
    return "" if shape.is_classification else "for classes only"


def _installed(shape: Shape) -> str:
    return "" if find_spec("lightgbm") else "not installed (pip install lightgbm)"


_EXACT = {"approximation": "exact"}

# fmt: off
MACHINES: tuple[Machine, ...] = (
    Machine("Baseline", BASELINE, _baseline),
    Machine("Linear model", OTHERS, _linear),
    Machine("Nystroem + Ridge", OTHERS, _nystroem_ridge),
    Machine("SVM", OTHERS, _svm, growth=2),
    Machine("LightGBM", OTHERS, _lightgbm, _installed),
    Machine("Hist. gradient boosting", OTHERS,
            _each(HistGradientBoostingClassifier, HistGradientBoostingRegressor), _dense),
    Machine("ELM", OURS, _each(ELMClassifier, ELMRegressor)),
    Machine("OP-ELM", OURS, _each(OPELMClassifier, OPELMRegressor)),
    Machine("Boosted ELM", OURS, _each(BoostedELMClassifier, BoostedELMRegressor)),
    Machine("AKELM", OURS, _akelm),
    Machine("NKELM", OURS, _nkelm),
    Machine("Kernel ELM, Gaussian", OURS, _kernel_elm(Gaussian("mean"), **_EXACT),
            _up_to_exact_rows, growth=3),
    Machine("Deep kernel ELM", OURS, _kernel_elm(ArcCosine([1, 0]), **_EXACT),
            _up_to_exact_rows, growth=3),
    Machine("Core vectors", OURS, _each(CoreVectorClassifier, CoreVectorRegressor)),
    Machine("Local kernel ELM", OURS, _kernel_elm(approximation="local"), _many_rows),
    Machine("Kernel ELM", OURS, _kernel_elm()),
    Machine("Multilayer kernels", OURS,
            lambda shape: MultilayerKernelClassifier(2, keep=0.05, random_state=shape.seed),
            _classes),
)
# fmt: on


def find(name: str) -> Machine:
    """Return the machine of the table with this name."""
    known = {machine.name: machine for machine in MACHINES}
    if name not in known:
        listed = ", ".join(repr(n) for n in known)
        raise ValueError(f"machines must be among {listed}; got {name!r}")
    return known[name]
