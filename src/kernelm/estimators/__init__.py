"""The machines that users import."""

from kernelm.estimators.elm import ELMClassifier, ELMRegressor
from kernelm.estimators.kernel_elm import KernelELMClassifier, KernelELMRegressor

__all__ = ["ELMClassifier", "ELMRegressor", "KernelELMClassifier", "KernelELMRegressor"]
