"""Tables 2 and 3 of the paper, and the curves of its figures 2 and 3."""

from __future__ import annotations

from papers.elm_svr.machine import MACHINES
from papers.elm_svr.protocol import LARGE, SMALL, run
from papers.elm_svr.toys import SHAPES, run_shape, run_sine
from papers.experiment import Column, Table

_NOTE = (
    "Mean squared error over the test folds of a cross-test, in units of y². *Gaussian* has its "
    "width chosen by inner folds; the other columns are the normalised ELM kernel with that σ_w, "
    "which is not chosen. C and ε are chosen for all of them."
)
_COLUMNS = tuple(Column(name, unit="MSE", better="lower") for name in MACHINES)

TABLE2 = Table("table2", "support vector regression, small sets", SMALL, _COLUMNS, run, _NOTE)
TABLE3 = Table("table3", "support vector regression, large sets", LARGE, _COLUMNS, run, _NOTE)
FIGURE2 = Table(
    "figure2",
    "best number of units of an ELM that learns a sine from 20 rows",
    ("sine",),
    (Column("ELM", unit="units", better=""),),
    run_sine,
)
FIGURE3 = Table(
    "figure3",
    "distance at which the normalised ELM kernel is a half",
    ("zero",),
    tuple(Column(sigma, unit="", better="") for sigma in SHAPES),
    run_shape,
)
TABLES = (TABLE2, TABLE3, FIGURE2, FIGURE3)

#: Each set with its table.
HOME = {row: table.name for table in (TABLE2, TABLE3) for row in table.rows}
