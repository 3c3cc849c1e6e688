"""Extreme learning machines and deep kernel machines, in closed form.

Rows become features, features become sums, sums become a model.
"""

__version__ = "0.1.0"

from kernelm import data, kernels
from kernelm._config import config_context, get_config, set_config
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
from kernelm.ridge import Status
from kernelm.search import select_kernel

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
    "select_kernel",
    "set_config",
    "unit_curve",
]
