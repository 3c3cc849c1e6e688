"""Extreme learning machines and deep kernel machines, in closed form.

Rows become features, features become sums, sums become a model.
"""

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
from kernelm.ridge import Status
from kernelm.search import select_kernel
from kernelm.store import load, save

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
