"""Which weights fit best? Sums over rows, one factorisation, every alpha."""

from kernelm.ridge.dual import DualFactor
from kernelm.ridge.dual_cholesky import DualCholesky, dual_loo_error, observation_part
from kernelm.ridge.factor import Factor, Weights
from kernelm.ridge.falkon import CrossSums, FalkonResult, Preconditioner, falkon
from kernelm.ridge.given import GivenRidge, solve_given
from kernelm.ridge.lars import lars_order
from kernelm.ridge.loo import loo_residuals
from kernelm.ridge.moments import Moments, observations
from kernelm.ridge.path import EQUAL, Path, walk
from kernelm.ridge.prefixes import Prefix, Prefixes, fewest
from kernelm.ridge.primal_cholesky import PrimalCholesky, shared_directions
from kernelm.ridge.select import default_alphas, gcv_path, kfold_path
from kernelm.ridge.status import Status

__all__ = [
    "EQUAL",
    "CrossSums",
    "DualCholesky",
    "DualFactor",
    "Factor",
    "FalkonResult",
    "GivenRidge",
    "Moments",
    "Path",
    "Preconditioner",
    "Prefix",
    "Prefixes",
    "PrimalCholesky",
    "Status",
    "Weights",
    "default_alphas",
    "dual_loo_error",
    "falkon",
    "fewest",
    "gcv_path",
    "kfold_path",
    "lars_order",
    "loo_residuals",
    "observation_part",
    "observations",
    "shared_directions",
    "solve_given",
    "walk",
]
