"""The published tables of the five papers, run again: ``kernelm reproduce``.

One folder a paper: ``expected.toml`` holds the printed numbers, the modules say how each cell is
computed, ``results`` what came out. Beside them: what an experiment is (``experiment``), how its
cells are run and kept (``runner``, ``results``), how ours compares with the paper's (``expected``,
``verdicts``) and how that is shown (``page``, ``figures``).
"""
