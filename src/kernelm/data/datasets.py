"""Data sets by name, from the nearest place that has them.

A file is a Parquet table with the column ``target``, perhaps ``split`` ("train" or "test"), and
features; or an ``.npz`` with the CSR arrays ``data, indices, indptr, shape`` (or a dense ``X``),
``target`` and perhaps ``is_train``. ``manifest.json`` beside them may tell task and notes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split

from kernelm.data.columns import csr, labels_of, matrix, numbers

Task = Literal["classification", "regression"]

_CSR = ("data", "indices", "indptr", "shape")

#: Sets that come with scikit-learn.
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class _OpenML(NamedTuple):
    name: str
    version: int
    task: Task = "classification"
    n_train: int | None = None  #: leading rows of the official training part


#: What OpenML calls the sets that can be downloaded.
OPENML = {
    "abalone": _OpenML("abalone", 1, "regression"),
    "adult": _OpenML("adult", 2),
    "ailerons": _OpenML("ailerons", 1, "regression"),
    "boston": _OpenML("boston", 1, "regression"),
    "covtype": _OpenML("covertype", 4),
    "cpu_act": _OpenML("cpu_act", 1, "regression"),
    "fashion_mnist": _OpenML("Fashion-MNIST", 1, n_train=60_000),
    "glass": _OpenML("glass", 1),
    "ionosphere": _OpenML("ionosphere", 1),
    "letter": _OpenML("letter", 1),
    "mnist": _OpenML("mnist_784", 1, n_train=60_000),
    "mushroom": _OpenML("mushroom", 1),
    "optdigits": _OpenML("optdigits", 1),
    "pendigits": _OpenML("pendigits", 1),
    "pima_diabetes": _OpenML("diabetes", 1),
    "satimage": _OpenML("satimage", 1),
    "segment": _OpenML("segment", 1),
    "shuttle": _OpenML("shuttle", 1),
    "sonar": _OpenML("sonar", 1),
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows, targets, and what to know about them.

    Examples
    --------
    >>> from kernelm.data import load
    >>> wine = load("wine")
    >>> wine
    Dataset('wine', 178 × 13 float64, classification)
    >>> X_train, X_test, y_train, y_test = wine.split(test_size=0.25, seed=0)
    >>> X_test.shape
    (45, 13)
    """

    name: str
    X: Any  #: dense (N, D) array or CSR matrix; float32 where that is exact
    y: NDArray  #: (N,) labels (integers or strings) or float64 values
    feature_names: tuple[str, ...]
    task: Task
    notes: str = ""  #: origin, and what to beware of
    is_train: NDArray | None = None  #: rows of the official training part, if there is one

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"{type(self).__name__}({self.name!r}, {n} × {d} {self.X.dtype}, {self.task})"

    @property
    def train(self) -> tuple[Any, NDArray]:
        """X and y of the official training part."""
        rows = self._official()
        return self.X[rows], self.y[rows]

    @property
    def test(self) -> tuple[Any, NDArray]:
        """X and y of the official test part."""
        rows = ~self._official()
        return self.X[rows], self.y[rows]

    def split(self, test_size: float = 0.2, seed: int | None = 0) -> tuple[Any, Any, Any, Any]:
        """Return X_train, X_test, y_train, y_test of a random split of all rows.

        Parameters
        ----------
        test_size : float or int
            Share or number of test rows.
        seed : int
            The same seed gives the same split. Classes keep their shares in both parts.
        """
        labels = self.y if self.task == "classification" else None
        X_train, X_test, y_train, y_test = train_test_split(
            self.X, self.y, test_size=test_size, random_state=seed, stratify=labels
        )
        return X_train, X_test, y_train, y_test

    def _official(self) -> NDArray:
        if self.is_train is None:
            raise ValueError(
                f"data set {self.name!r} has no official split into train and test; "
                f"use split(test_size=0.2, seed=0)"
            )
        return self.is_train


def load(name: str) -> Dataset:
    """Return a data set by name.

    Sets bundled with scikit-learn need nothing else. Others are looked for in the folder
    ``$KERNELM_DATA``, then in the cache folder (``$KERNELM_CACHE``, or ``kernelm`` in the
    platform's usual one), and then downloaded from OpenML, which scikit-learn caches.

    Parameters
    ----------
    name : str
        For example "digits", "letter" or "covtype"; an unknown name lists those available.

    Returns
    -------
    Dataset
        Columns of names become integer codes, in the alphabetical order of the names.

    Examples
    --------
    >>> from kernelm.data import load
    >>> digits = load("digits")
    >>> digits.X.shape, digits.X.dtype, digits.task
    ((1797, 64), dtype('float32'), 'classification')
    """
    if name in BUNDLED:
        return _bundled(name)
    for folder in _folders().values():
        path = _files(folder).get(name)
        if path is not None:
            return _read_npz(path) if path.suffix == ".npz" else _read_parquet(path)
    if name in OPENML:
        return _download(name)
    raise _not_found(name)


# --- where to look -------------------------------------------------------------------------------


def _folders() -> dict[str, Path]:
    data = os.environ.get("KERNELM_DATA")
    return ({"$KERNELM_DATA": Path(data)} if data else {}) | {"cache": _cache_folder()}


def _cache_folder() -> Path:
    chosen = os.environ.get("KERNELM_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kernelm"


def _files(folder: Path) -> dict[str, Path]:
    """Return the data files of a folder by name; Parquet goes before .npz."""
    found = [path for kind in ("*.npz", "*.parquet") for path in sorted(folder.glob(kind))]
    return {path.stem: path for path in found}


def _not_found(name: str, why: str = "") -> FileNotFoundError:
    lines = [f"no data set named {name!r}{why}; looked among", _listed("bundled", BUNDLED)]
    if not os.environ.get("KERNELM_DATA"):
        lines.append("  $KERNELM_DATA: not set; it names a folder of .parquet and .npz files")
    lines += [_listed(f"{place} {folder}", _files(folder)) for place, folder in _folders().items()]
    return FileNotFoundError("\n".join([*lines, _listed("OpenML", OPENML)]))


def _listed(place: str, names: Iterable[str]) -> str:
    return f"  {place}: {', '.join(sorted(names)) or 'no data files'}"


# --- one function for each place -----------------------------------------------------------------


def _bundled(name: str) -> Dataset:
    bunch = getattr(datasets, f"load_{name}")()
    task = "regression" if name == "diabetes" else "classification"
    X = matrix(bunch.data.T)
    return _dataset(name, X, bunch.feature_names, bunch.target, task, "bundled with scikit-learn")


def _read_parquet(path: Path) -> Dataset:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise _needs_files(path.name) from error
    table = pq.read_table(path)
    _need(path, table.column_names, ["target"])

    def column(name: str) -> NDArray:
        values = table[name]
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        return values.to_numpy()

    names = [c for c in table.column_names if c not in ("target", "split")]
    X = matrix([column(c) for c in names])
    is_train = _train_rows(path, column("split")) if "split" in table.column_names else None
    return _dataset(path.stem, X, names, column("target"), *_about(path), is_train)


def _read_npz(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    _need(path, arrays, ["target", "X"] if "X" in arrays else ["target", *_CSR])
    X = matrix(arrays["X"].T) if "X" in arrays else csr(*(arrays[key] for key in _CSR))
    names = [f"x{i}" for i in range(X.shape[1])]
    if "vocabulary_utf8" in arrays:
        names = arrays["vocabulary_utf8"].tobytes().decode().split("\n")
    is_train = arrays.get("is_train")
    return _dataset(path.stem, X, names, arrays["target"], *_about(path), is_train)


def _download(name: str) -> Dataset:
    theirs = OPENML[name]
    try:
        bunch: Any = datasets.fetch_openml(theirs.name, version=theirs.version, as_frame="auto")
    except ImportError as error:
        raise _needs_files(f"{name} from OpenML") from error
    except (OSError, ValueError) as error:  # no network, or OpenML's own complaint
        raise _not_found(name, f" could be had from OpenML ({error})") from error
    frame = bunch.data
    X = matrix([frame[c].to_numpy() for c in frame.columns])
    is_train = None if theirs.n_train is None else np.arange(len(frame)) < theirs.n_train
    notes = f"OpenML {theirs.name}, version {theirs.version}"
    y = bunch.target.to_numpy()
    return _dataset(name, X, frame.columns, y, theirs.task, notes, is_train)


def _about(path: Path) -> tuple[Task | None, str]:
    """Return task and notes of a file from the manifest beside it, if it is there."""
    manifest = path.with_name("manifest.json")
    entries = json.loads(manifest.read_text("utf-8")) if manifest.exists() else []
    entry = next((e for e in entries if e.get("file") == path.name), {})
    return entry.get("task"), entry.get("notes", "")


def _need(path: Path, found: Iterable[str], needed: Sequence[str]) -> None:
    missing = [key for key in needed if key not in found]
    if missing:
        raise ValueError(
            f"{path.name} has no {', '.join(missing)}; a data file needs {', '.join(needed)}"
        )


def _needs_files(what: str) -> ImportError:
    return ImportError(f"{what} needs pandas and pyarrow to be read: pip install kernelm[files]")


# --- the result ---------------------------------------------------------------------------


def _dataset(
    name: str,
    X: Any,
    feature_names: Iterable[Any],
    target: NDArray,
    task: Task | None,
    notes: str,
    is_train: NDArray | None = None,
) -> Dataset:
    # Files without a manifest: labels are integers or strings, values are floats.
    task = task or ("regression" if target.dtype.kind == "f" else "classification")
    y = labels_of(target) if task == "classification" else numbers(target).astype(np.float64)
    return Dataset(name, X, y, tuple(map(str, feature_names)), task, notes, is_train)


def _train_rows(path: Path, split: NDArray) -> NDArray:
    unknown = set(split) - {"train", "test"}
    if unknown:
        raise ValueError(f'split in {path.name} must be "train" or "test", got {unknown}')
    return split == "train"
