"""The machines that users import."""

from kernelm.estimators.elm import ELMClassifier, ELMRegressor

__all__ = ["ELMClassifier", "ELMRegressor"]
