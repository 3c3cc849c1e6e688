"""Large-margin machines: support vector machines on any kernel, and core vector machines."""

from kernelm.margin.evaluation import CrossTest, cross_test
from kernelm.margin.svm import KernelSVC, KernelSVR

__all__ = ["CrossTest", "KernelSVC", "KernelSVR", "cross_test"]
