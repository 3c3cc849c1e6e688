"""The machines that users import."""

from kernelm.estimators.boosted import BoostedELMClassifier, BoostedELMRegressor
from kernelm.estimators.elm import ELMClassifier, ELMRegressor
from kernelm.estimators.kernel_elm import KernelELMClassifier, KernelELMRegressor
from kernelm.estimators.op_elm import OPELMClassifier, OPELMRegressor
from kernelm.estimators.unit_curve import UnitCurve, unit_curve

__all__ = [
    "BoostedELMClassifier",
    "BoostedELMRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "KernelELMClassifier",
    "KernelELMRegressor",
    "OPELMClassifier",
    "OPELMRegressor",
    "UnitCurve",
    "unit_curve",
]
