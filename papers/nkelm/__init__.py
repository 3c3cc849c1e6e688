"""Deng, Zheng and Chen: the Nyström kernel extreme learning machine (NKELM)."""

from papers.experiment import Paper
from papers.nkelm.accuracy import TABLE3, TABLE4
from papers.nkelm.claims import CLAIMS
from papers.nkelm.figures import FIGURES
from papers.nkelm.sweeps import FIGURE4, FIGURE5, FIGURE6

PAPER = Paper(
    key="nkelm",
    title="Nyström kernel ELM",
    page="papers/nkelm.md",
    tables=(TABLE3, TABLE4, FIGURE4, FIGURE5, FIGURE6),
    claims=CLAIMS,
    figures=FIGURES,
)
