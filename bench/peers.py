"""The machines that are compared, each in a worker process that can be ended.

Peers keep their own defaults. Inputs are standardised for those that need it, gamma of the random
features is SVC's 1/D of standardised inputs, machines that can take every core get it, and those
that are not installed are left out.
"""

import importlib.util
import multiprocessing
import pickle
import time
import warnings
from functools import lru_cache, partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kernelm
from harness import cost_of, timed
from kernelm.data import load

OURS = ("KernelELM", "ELM", "BoostedELM", "CoreVector")
START_S = 60  # for the imports of a worker, which are not what is measured


def ours(task, **options):
    """Machines of this library, untouched."""
    kind = "Classifier" if task == "classification" else "Regressor"
    return {
        name: lambda name=name: getattr(kernelm, name + kind)(random_state=0, **options)
        for name in OURS
    }


def scikit_learn(task, n_features):
    """Machines of scikit-learn, untouched but for 1,000 random features."""
    is_classes = task == "classification"
    ridge = RidgeClassifier if is_classes else Ridge
    gamma = 1 / n_features

    def scaled(*steps):
        model = make_pipeline(StandardScaler(), *steps)
        return model if is_classes else _standard_target(model)

    found = {
        "SVM": lambda: scaled(SVC() if is_classes else SVR()),
        "Nystroem + Ridge": lambda: scaled(
            Nystroem(gamma=gamma, n_components=1000, random_state=0), ridge()
        ),
        "RBFSampler + Ridge": lambda: scaled(
            RBFSampler(gamma=gamma, n_components=1000, random_state=0), ridge()
        ),
        "KernelPCA + Ridge": lambda: scaled(
            KernelPCA(100, kernel="rbf", gamma=gamma, random_state=0), ridge()
        ),
        "MLP": lambda: scaled((MLPClassifier if is_classes else MLPRegressor)(random_state=0)),
        "HistGradientBoosting": lambda: (
            HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
        )(random_state=0),
        "ExtraTrees": lambda: (ExtraTreesClassifier if is_classes else ExtraTreesRegressor)(
            random_state=0, n_jobs=-1
        ),
    }
    if not is_classes:
        found["KernelRidge"] = lambda: scaled(KernelRidge(kernel="rbf", gamma=gamma))
    return found


def others(task):
    """Machines of other libraries, where they are installed."""
    is_classes, found = task == "classification", {}
    if _has("lightgbm"):
        found["LightGBM"] = lambda: _of("lightgbm", "LGBM", is_classes)(random_state=0, verbose=-1)
    if _has("xgboost"):
        found["XGBoost"] = lambda: _Numbered(
            is_classes, _of("xgboost", "XGB", is_classes)(random_state=0)
        )
    for package, name in (("sklearnex.svm", "SVM (intelex)"), ("thundersvm", "SVM (ThunderSVM)")):
        if _has(package.partition(".")[0]):
            found[name] = partial(_svm, package, is_classes)
    if _has("hpelm"):
        found["hpelm"] = lambda: _standard_target(_HPELM(is_classes), is_classes)
    if _has("xrfm"):
        found["xRFM"] = lambda: _XRFM(is_classes)
    return found


def machines(task, n_features):
    """Every machine by name; a function makes it."""
    return ours(task) | scikit_learn(task, n_features) | others(task)


def _has(package):
    return importlib.util.find_spec(package) is not None


def _of(package, prefix, is_classes):
    kind = "Classifier" if is_classes else "Regressor"
    return getattr(importlib.import_module(package), prefix + kind)


def _svm(package, is_classes):
    """A support vector machine of another library with the defaults of scikit-learn's."""
    kind = getattr(importlib.import_module(package), "SVC" if is_classes else "SVR")
    model = _Numbered(is_classes, make_pipeline(StandardScaler(), kind(gamma="auto")))
    return _standard_target(model, as_it_is=is_classes)


def _standard_target(model, as_it_is=False):
    return model if as_it_is else TransformedTargetRegressor(model, transformer=StandardScaler())


class _Labels(BaseEstimator):
    """Labels as numbers from 0 on, which some libraries ask for."""

    def __init__(self, is_classes):
        self.is_classes = is_classes

    def numbers(self, y):
        if self.is_classes:
            self.classes, y = np.unique(y, return_inverse=True)
        return y

    def labels(self, numbers):
        return self.classes[np.asarray(numbers, int)] if self.is_classes else numbers


class _Numbered(_Labels):
    """A model that wants its classes as numbers from 0 on."""

    def __init__(self, is_classes, model):
        super().__init__(is_classes)
        self.model = model

    def fit(self, X, y):
        self.model.fit(X, self.numbers(y))
        return self

    def predict(self, X):
        return self.labels(self.model.predict(X))


class _HPELM(_Labels):
    """The toolbox of Akusok et al., which has no default size: 1,000 sigmoid units at most."""

    def fit(self, X, y):
        from hpelm import ELM

        self.scaler = StandardScaler().fit(X)
        X, y = self.scaler.transform(X).astype(np.float64), self.numbers(y)
        T = np.eye(len(self.classes))[y] if self.is_classes else np.reshape(y, (len(y), -1))
        self.model = ELM(X.shape[1], T.shape[1], classification="c" if self.is_classes else "")
        rng, units = np.random.default_rng(0), min(1000, len(X) // 2)
        W = rng.standard_normal((X.shape[1], units)) * 3 / np.sqrt(X.shape[1])  # its own scale
        self.model.add_neurons(units, "sigm", W, rng.standard_normal(units))
        self.model.train(X, T)
        return self

    def predict(self, X):
        T = self.model.predict(self.scaler.transform(X).astype(np.float64))
        return self.labels(T.argmax(axis=1)) if self.is_classes else T[:, 0]


class _XRFM(_Labels):
    """Recursive feature machines, which want validation rows: a fifth of the training rows."""

    def fit(self, X, y):
        from sklearn.model_selection import train_test_split
        from xrfm import xRFM

        self.scaler = StandardScaler().fit(X)
        X, y = self.scaler.transform(X).astype(np.float32), self.numbers(y)
        can_stratify = self.is_classes and np.bincount(y).min() > 1
        stratify = y if can_stratify else None
        parts = train_test_split(X, y, test_size=0.2, random_state=0, stratify=stratify)
        self.model = xRFM(random_state=0, verbose=False)
        self.model.fit(parts[0], parts[2], parts[1], parts[3])
        return self

    def predict(self, X):
        found = np.asarray(self.model.predict(self.scaler.transform(X).astype(np.float32)))
        return self.labels(found.astype(int).ravel()) if self.is_classes else found.ravel()


# --- measuring -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _set(name):
    return load(name)


def split(name, seed, most_rows):
    """Training and test rows: the official ones for the first seed, else a random 80/20."""
    data = _set(name)
    if seed == 0 and data.is_train is not None:
        (X, y), (X_test, y_test) = data.train, data.test
    else:
        X, X_test, y, y_test = data.split(0.2, seed)
    if most_rows and X.shape[0] > most_rows:
        rows = np.random.default_rng(seed).permutation(X.shape[0])[:most_rows]
        X, y = X[rows], y[rows]
    return X, X_test, y, y_test


def score(task, y, predicted):
    """Accuracy, or R²."""
    if task == "classification":
        return float(np.mean(predicted == y))
    return float(1 - np.mean((y - predicted) ** 2) / np.var(y))


def measure(machine, name, seed, most_rows):
    """Fit and predict once; what it cost and how good it is."""
    task = _set(name).task
    X, X_test, y, y_test = split(name, seed, most_rows)
    model = machines(task, X.shape[1])[machine]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_s, megabytes = cost_of(model.fit, X, y)
        found = []
        predict_s = timed(lambda: found.append(model.predict(X_test)))
        row_s = min(timed(model.predict, X_test[k : k + 1]) for k in range(5))
    try:
        size = len(pickle.dumps(model))
    except Exception:
        size = None
    return {
        "score": score(task, y_test, np.ravel(found[0])),
        "fit_s": fit_s,
        "predict_s": predict_s,
        "row_s": row_s,
        "extra_mb": megabytes,
        "model_bytes": size,
        "rows": X.shape[0],
        "tested": X_test.shape[0],
        "features": X.shape[1],
    }


def _serve(pipe):
    """Answer calls until the other side is gone."""
    import sklearn.datasets

    X, y = sklearn.datasets.load_iris(return_X_y=True)
    for make in machines("classification", 4).values():  # imports are not what is measured
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make().fit(X, y).predict(X)
    pipe.send("ready")
    while True:
        function, args = pipe.recv()
        try:
            pipe.send(function(*args))
        except Exception as error:
            pipe.send({"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"})


class Worker:
    """A process that answers calls, one at a time, each within a limit of seconds."""

    def __init__(self):
        self._process = None

    def call(self, function, *args, limit):
        """Return the result of a call, or None if it took longer: then the process is ended."""
        self._start()
        self._pipe.send((function, args))
        start = time.perf_counter()
        try:
            if self._pipe.poll(limit):
                return self._pipe.recv()
        except EOFError:
            self.end()
            return {"error": "the process ended, for want of memory perhaps"}
        self.end()
        return {"over_s": round(time.perf_counter() - start, 1)}

    def end(self):
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self):
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(4 * START_S) or self._pipe.recv() != "ready":
            raise RuntimeError("a worker did not start")
