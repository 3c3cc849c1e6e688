"""Tables 1 and 2: accuracy against the number of units, columns or sampled rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelm import ELMClassifier, KernelELMClassifier
from kernelm.kernels import Gaussian
from kernelm.ridge import DualCholesky
from papers.akelm.faces import N_FOLDS, Split, expression_folds, identity_splits
from papers.experiment import Column, Mode, Result, Table
from papers.seeds import first

ALPHAS = 1 / 10.0 ** np.arange(-6, 7)  # the paper's λ is 1/α
ENRICHED = 14_000
N_SPLITS = {Mode.QUICK: 2, Mode.FULL: 10}

#: The numbers of units, columns or sampled rows; the last is that of all training rows.
SIZES = {
    "ck48": (25, 50, 100, 250, 500, ENRICHED),
    "olivetti_faces": (25, 50, 100, 250, 320),
    "pie10_32x32": (25, 50, 100, 250, 500, 1360),
}


def row(name: str, n: int) -> str:
    """Return the row of a data set and a size."""
    return f"{name} {n}"


def run(row: str, machine: str, mode: Mode) -> Result:
    """Return the share of test images that are recognised, all splits together."""
    name, size = row.split()
    correct, optimistic, n_train, n_test = 0, 0, 0, 0
    by_split, chosen = [], []
    for split in _splits(name, mode):
        model = build(machine, int(size), split.seed).fit(split.X, split.y)
        right = int(np.sum(model.predict(split.X_test) == split.y_test))
        by_split.append(100 * right / len(split.y_test))
        correct, n_train, n_test = correct + right, len(split.y), n_test + len(split.y_test)
        if machine in ("RELM", "KELM"):
            chosen.append(float(model.alpha_))
            optimistic += _most_right(model, split)
    result: Result = {
        "score": 100 * correct / n_test,
        "std": float(np.std(by_split)),
        "by_split": by_split,
        "n_train": n_train,
        "n_test": n_test,
        "seeds": list(first(len(by_split))),
    }
    if chosen:
        result["chosen"] = chosen
    if optimistic:
        result["optimistic"] = 100 * optimistic / n_test
    return result | ({"thinned": _thinned(name)} if mode is Mode.QUICK else {})


def build(machine: str, n: int, seed: int) -> Any:
    """Return a machine of the paper: no scaling, no intercept, Gaussians of mean width."""
    common: dict[str, Any] = {"scale_inputs": False, "fit_intercept": False, "random_state": seed}
    match machine:
        case "ELM" | "RELM":
            alpha = 0.0 if machine == "ELM" else ALPHAS
            return ELMClassifier(n, activation="rbf", alpha=alpha, **common)
        case "KELM":
            form, alpha = "subset", ALPHAS
        case "AKELM":
            form, alpha = "landmarks", 0.0
        case _:
            raise ValueError(f"machine must be ELM, RELM, KELM or AKELM, got {machine!r}")
    return KernelELMClassifier(
        Gaussian("mean"), approximation=form, n_landmarks=n, alpha=alpha, **common
    )


def _splits(name: str, mode: Mode) -> Iterator[Split]:
    if name != "ck48":
        return identity_splits(name, N_SPLITS[mode])
    if mode is Mode.QUICK:
        return expression_folds(1, ENRICHED // 5)
    return expression_folds(N_FOLDS, ENRICHED)


def _most_right(model: Any, split: Split) -> int:
    """Return how many test rows the best alpha gets right: one factorisation serves them all.

    Zero where the rows are too many for a factorisation that does.
    """
    solution = model.machine_.solution
    if isinstance(solution.factor, DualCholesky):
        return 0
    Phi = solution.phi.map(split.X_test)
    weights = (solution.factor.coef(alpha) for alpha in ALPHAS)
    found = (model.classes_[np.argmax(Phi @ W + b, axis=1)] for W, b in weights)
    return max(int(np.sum(labels == split.y_test)) for labels in found)


def _thinned(name: str) -> str:
    if name == "ck48":
        return f"one fold of {N_FOLDS}, enriched to {ENRICHED // 5:,} rows instead of {ENRICHED:,}"
    return f"{N_SPLITS[Mode.QUICK]} splits instead of {N_SPLITS[Mode.FULL]}"


def _columns(better: str) -> tuple[Column, ...]:
    return (
        Column("ELM", better=better),
        Column("KELM", better=better, optimistic="optimistic"),
        Column("RELM", better=better, optimistic="optimistic"),
        Column("AKELM", better=better),
    )


_ON_REQUEST = "its images are handed out on request only, and are not among our data"
_CHOICE = (
    "λ of RELM and KELM is chosen in closed form on training rows (generalised cross-validation, "
    "leave-one-out; the paper does not say where it was chosen); *best on test* is the best of "
    "the 13 strengths on the test rows of each split. ELM and AKELM have none."
)

TABLE1 = Table(
    name="table1",
    title="facial expressions",
    rows=(*(row("ck48", n) for n in SIZES["ck48"]), "BU"),
    columns=_columns(better=""),
    run=run,
    note="The printed numbers are of BU, ours of the 981 images of CK+ (ck48): the printed ones "
    "are there to be read from row to row, not to be compared with ours. Five folds, no person in "
    "two of them; each training part is enriched to 14,000 images, here by crops off the middle. "
    "A row has as many hidden units (ELM, RELM), sampled training rows (KELM) or columns (AKELM) "
    "as it says. " + _CHOICE,
    not_run={"BU": _ON_REQUEST}
    | {
        f"{row('ck48', ENRICHED)}/{machine}": "the paper has no number there"
        for machine in ("ELM", "RELM", "AKELM")
    },
)

TABLE2 = Table(
    name="table2",
    title="persons",
    rows=(
        *(row(name, n) for name in ("olivetti_faces", "pie10_32x32") for n in SIZES[name]),
        "YouTube Faces",
    ),
    columns=_columns(better="higher"),
    run=run,
    note="Images of 40 persons (Olivetti) and 10 persons (CMU PIE) instead of YouTube Faces; "
    "random splits 80:20. The last row of each is that of all training rows. A plain ELM with "
    "about as many units as rows has no ridge to keep its weights small, and fails. " + _CHOICE,
    not_run={"YouTube Faces": _ON_REQUEST},
)
