"""What one hidden unit computes: an activation of a random projection."""

from kernelm.units.activations import ACTIVATIONS, activate
from kernelm.units.weights import WEIGHTS, Hashed, draw, draw_biases

__all__ = ["ACTIVATIONS", "WEIGHTS", "Hashed", "activate", "draw", "draw_biases"]
