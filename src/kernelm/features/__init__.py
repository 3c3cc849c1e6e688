"""Which finite vector stands for a row?"""

from kernelm.features.base import FeatureMap, fingerprint
from kernelm.features.kernel_columns import KernelColumns
from kernelm.features.landmarks import CHOICES, Landmarks, choose, distinct
from kernelm.features.mixed import KINDS, MixedUnits
from kernelm.features.partition import Partition
from kernelm.features.random import HiddenLayer, RandomLayer
from kernelm.features.scaling import InputScaler, RowNormalizer, scaled_chunks

__all__ = [
    "CHOICES",
    "KINDS",
    "FeatureMap",
    "HiddenLayer",
    "InputScaler",
    "KernelColumns",
    "Landmarks",
    "MixedUnits",
    "Partition",
    "RandomLayer",
    "RowNormalizer",
    "choose",
    "distinct",
    "fingerprint",
    "scaled_chunks",
]
