"""What a fitted model says about itself: for people, and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelm.app.report.table import size
from kernelm.estimators.exact import ExactMachine
from kernelm.estimators.local import LocalMachine

MOST_LISTED = 10

#: What is shown, in this order: attribute and words. Those that a model does not have are left out.
_ATTRIBUTES = {
    "kernel_": "kernel",
    "alpha_": "alpha",
    "C_": "C",
    "loo_score_": "leave-one-out score",
    "approximate_loo_score_": "leave-one-out score (approximate)",
    "effective_df_": "degrees of freedom",
    "n_landmarks_": "landmarks",
    "n_hidden_": "units",
    "n_units_": "units",
    "n_steps_": "steps",
    "n_core_": "core vectors",
}


def about(model: Any) -> dict[str, Any]:
    """Return the choices, scores and sizes of a fitted model under plain names.

    Examples
    --------
    >>> from kernelm import ELMRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> found = about(ELMRegressor(50, random_state=0).fit(*load_diabetes(return_X_y=True)))
    >>> found["machine"], found["units"], found["columns"]
    ('ELMRegressor', 50, 10)
    """
    found: dict[str, Any] = {"machine": type(model).__name__}
    if hasattr(model, "approximation"):
        found["form"] = _form(model)
    for attribute, words in _ATTRIBUTES.items():
        value = _asked(model, attribute)
        if value is not None:
            found[words] = value if isinstance(value, int | float | np.number) else str(value)
    found["status"] = str(_asked(model, "status_") or "") or "ok"
    found["columns"] = _asked(model, "n_features_in_")
    names, classes = _asked(model, "feature_names_in_"), _asked(model, "classes_")
    found["features"] = None if names is None else [str(name) for name in names]
    found["classes"] = None if classes is None else np.asarray(classes).tolist()
    return found


def importances(model: Any) -> dict[str, float]:
    """Return the share of the most important inputs, where the model can tell."""
    values = _asked(model, "feature_importances_")
    if values is None or not np.any(values):
        return {}
    names = _asked(model, "feature_names_in_")
    names = [f"x{j}" for j in range(len(values))] if names is None else names
    top = np.argsort(-values, kind="stable")[:MOST_LISTED]
    return {str(names[j]): float(values[j]) for j in top if values[j] > 0}


def shown(found: dict[str, Any]) -> dict[str, str]:
    """Return the same in words."""
    words = {name: _words(name, value) for name, value in found.items() if value is not None}
    return {"size" if name == "bytes" else name: value for name, value in words.items()}


def _words(name: str, value: Any) -> str:
    if name == "bytes":
        return size(value)
    if isinstance(value, list):
        more = f" and {len(value) - MOST_LISTED} more" if len(value) > MOST_LISTED else ""
        return ", ".join(map(str, value[:MOST_LISTED])) + more
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)


def _form(model: Any) -> str:
    machine = getattr(model, "machine_", None)
    if model.approximation != "auto":
        return model.approximation
    if isinstance(machine, ExactMachine):
        return "exact"
    return "local" if isinstance(machine, LocalMachine) else "nystrom"


def _asked(model: Any, attribute: str) -> Any:
    """Return an attribute that is derived when it is asked for, or None where it cannot be."""
    try:
        return getattr(model, attribute, None)
    except ValueError:  # such as importances of too many columns
        return None
