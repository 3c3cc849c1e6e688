"""Which finite vector stands for a row?"""

from kernelm.features.base import FeatureMap, fingerprint
from kernelm.features.random import HiddenLayer, RandomLayer
from kernelm.features.scaling import InputScaler

__all__ = ["FeatureMap", "HiddenLayer", "InputScaler", "RandomLayer", "fingerprint"]
