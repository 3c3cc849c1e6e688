"""Extreme learning machines and deep kernel machines, in closed form.

Rows become features, features become sums, sums become a model.
"""

import importlib
from typing import TYPE_CHECKING, Any

from kernelm import data, kernels
from kernelm._config import config_context, get_config, set_config
from kernelm._version import __version__
from kernelm.estimators import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    OPELMClassifier,
    OPELMRegressor,
    unit_curve,
)
from kernelm.ridge import Status
from kernelm.search import select_kernel

if TYPE_CHECKING:
    from kernelm.learn import KernelPCA, MultilayerKernelClassifier, MultipleKernelLearner
    from kernelm.margin import (
        CoreVectorClassifier,
        CoreVectorDetector,
        CoreVectorRegressor,
        KernelSVC,
        KernelSVR,
        cross_test,
    )
    from kernelm.onnx import to_onnx
    from kernelm.store import load, save

#: What is imported when it is first asked for.
_LATER = {
    "CoreVectorClassifier": "margin",
    "CoreVectorDetector": "margin",
    "CoreVectorRegressor": "margin",
    "KernelPCA": "learn",
    "KernelSVC": "margin",
    "KernelSVR": "margin",
    "MultilayerKernelClassifier": "learn",
    "MultipleKernelLearner": "learn",
    "cross_test": "margin",
    "load": "store",
    "save": "store",
    "to_onnx": "onnx",
}

__all__ = [
    "BoostedELMClassifier",
    "BoostedELMRegressor",
    "CoreVectorClassifier",
    "CoreVectorDetector",
    "CoreVectorRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "KernelELMClassifier",
    "KernelELMRegressor",
    "KernelPCA",
    "KernelSVC",
    "KernelSVR",
    "MultilayerKernelClassifier",
    "MultipleKernelLearner",
    "OPELMClassifier",
    "OPELMRegressor",
    "Status",
    "__version__",
    "config_context",
    "cross_test",
    "data",
    "get_config",
    "kernels",
    "load",
    "save",
    "select_kernel",
    "set_config",
    "to_onnx",
    "unit_curve",
]


def __getattr__(name: str) -> Any:
    if name in _LATER.values():
        return importlib.import_module(f"kernelm.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'kernelm' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"kernelm.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_LATER.values()})
