"""What an estimator of scikit-learn does with rows, and with the scores of a machine."""

from kernelm.tasks.calibration import Link, fit_link, probabilities
from kernelm.tasks.classification import Classifier
from kernelm.tasks.estimator import SAMPLE_ROWS, Estimator, Survey
from kernelm.tasks.held_out import Coded, Coding, HeldOut
from kernelm.tasks.plan import Plan, doublings, largest_layer
from kernelm.tasks.regression import Regressor

__all__ = [
    "SAMPLE_ROWS",
    "Classifier",
    "Coded",
    "Coding",
    "Estimator",
    "HeldOut",
    "Link",
    "Plan",
    "Regressor",
    "Survey",
    "doublings",
    "fit_link",
    "largest_layer",
    "probabilities",
]
