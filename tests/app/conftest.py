"""Comparisons that several tests look at."""

import numpy as np
import pytest

from hostile import HOSTILE, hostile_frame
from kernelm.app.compare import compare
from kernelm.app.comparison import Comparison

MACHINES = ["Baseline", "Linear model", "ELM", "NKELM", "OP-ELM", "Kernel ELM", "Local kernel ELM"]


@pytest.fixture(scope="session")
def regression() -> Comparison:
    frame, value = hostile_frame()
    return compare(frame, value, machines=MACHINES, n_splits=2, budget=60)


@pytest.fixture(scope="session")
def classification() -> Comparison:
    frame, value = hostile_frame()
    y = np.array(HOSTILE[:3], dtype=object)[np.digitize(value, [-1, 1])]
    return compare(frame, y, machines=MACHINES, n_splits=2, budget=60)
