"""Where do rows come from, and who adds them up?"""

from kernelm.data.chunks import FileSource
from kernelm.data.dask import from_dask
from kernelm.data.datasets import Dataset, load
from kernelm.data.files import scan
from kernelm.data.progress import Progress
from kernelm.data.reduce import alone, block_rows, effective_jobs, here, pooled, reduce, stream
from kernelm.data.sample import Sample
from kernelm.data.source import ArraySource, Rows, Source, width

__all__ = [
    "ArraySource",
    "Dataset",
    "FileSource",
    "Progress",
    "Rows",
    "Sample",
    "Source",
    "alone",
    "block_rows",
    "effective_jobs",
    "from_dask",
    "here",
    "load",
    "pooled",
    "reduce",
    "scan",
    "stream",
    "width",
]
