"""Similarities of rows: elementary kernels, their algebra, and layers that stack on them."""

from kernelm.kernels.algebra import Constant, Product, Scaled, Sum
from kernelm.kernels.arc_cosine import ArcCosine, ArcCosineLayer
from kernelm.kernels.base import Kernel
from kernelm.kernels.chi_square import AdditiveChiSquare, ChiSquare
from kernelm.kernels.dot import Linear, Polynomial, Sigmoid
from kernelm.kernels.elm import ArcSineLayer, AsymptoticELM, ELMKernel
from kernelm.kernels.layers import Exp, GaussianLayer, Layer, Normalize, PolynomialLayer, Power
from kernelm.kernels.named import NAMED, named
from kernelm.kernels.radial import (
    Circular,
    Gaussian,
    Laplacian,
    LaplacianL1,
    Matern32,
    Matern52,
    Spherical,
)
from kernelm.kernels.stack import Stacked

__all__ = [
    "NAMED",
    "AdditiveChiSquare",
    "ArcCosine",
    "ArcCosineLayer",
    "ArcSineLayer",
    "AsymptoticELM",
    "ChiSquare",
    "Circular",
    "Constant",
    "ELMKernel",
    "Exp",
    "Gaussian",
    "GaussianLayer",
    "Kernel",
    "Laplacian",
    "LaplacianL1",
    "Layer",
    "Linear",
    "Matern32",
    "Matern52",
    "Normalize",
    "Polynomial",
    "PolynomialLayer",
    "Power",
    "Product",
    "Scaled",
    "Sigmoid",
    "Spherical",
    "Stacked",
    "Sum",
    "named",
]
