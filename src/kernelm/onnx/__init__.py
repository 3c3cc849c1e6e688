"""Fitted models as ONNX graphs: preprocessing, model and calibration in one file for any runtime.

Every idea of the library has its counterpart here: :mod:`~kernelm.onnx.kernels` writes kernels,
:mod:`~kernelm.onnx.features` maps, :mod:`~kernelm.onnx.machines` scores, and
:mod:`~kernelm.onnx.outputs` what scores mean.
"""

from kernelm.onnx.export import to_onnx

__all__ = ["to_onnx"]
