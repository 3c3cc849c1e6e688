"""Which kernel? Mixtures learned from rows, components, and layers of both."""

from kernelm.learn.learner import MultipleKernelLearner
from kernelm.learn.multilayer import MultilayerKernelClassifier
from kernelm.learn.pca import KernelPCA

__all__ = ["KernelPCA", "MultilayerKernelClassifier", "MultipleKernelLearner"]
