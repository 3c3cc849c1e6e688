"""Large-margin machines: support vector machines on any kernel, and core vector machines."""

from kernelm.margin.core_classifier import CoreVectorClassifier
from kernelm.margin.core_regressor import CoreVectorRegressor
from kernelm.margin.detector import CoreVectorDetector
from kernelm.margin.evaluation import CrossTest, cross_test
from kernelm.margin.svm import KernelSVC, KernelSVR

__all__ = [
    "CoreVectorClassifier",
    "CoreVectorDetector",
    "CoreVectorRegressor",
    "CrossTest",
    "KernelSVC",
    "KernelSVR",
    "cross_test",
]
