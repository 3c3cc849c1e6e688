"""What one hidden unit computes: an activation of a random projection."""

from kernelm.units.activations import ACTIVATIONS, activate
from kernelm.units.weights import WEIGHTS, draw

__all__ = ["ACTIVATIONS", "WEIGHTS", "activate", "draw"]
