"""Which benchmarks there are, what each of them claims, and what it has measured so far."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
RESULTS = BENCH / "results"
TOOLS = {"harness", "run", "claims", "page", "figures"}

_CAPITALS = "ELM NKELM AKELM OP GEMM SYRK BLAS PCA ONNX LIBSVM MNIST LightGBM Dask Falkon"
_NAMES = {name.lower(): name for name in _CAPITALS.split()}


@dataclass(frozen=True)
class Script:
    """A benchmark: a module with a claim in its docstring and a ``main``."""

    path: Path
    doc: str
    text: str

    @property
    def name(self):
        return self.path.stem

    @property
    def title(self):
        """The name as a sentence."""
        words = [_NAMES.get(word, word) for word in self.name.split("_")]
        return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])

    @property
    def claim(self):
        """The first paragraph, and the one that begins with "Claim"."""
        paragraphs = [" ".join(p.split()) for p in self.doc.split("\n\n")]
        claims = [p for p in paragraphs[1:2] if p.startswith("Claim")]
        return "\n\n".join([paragraphs[0], *claims]).replace("``", "`")

    def takes(self, option):
        """Whether the script knows an option; those of ``harness.options`` know ``--json``."""
        shared = option == "--json" and "options(__doc__)" in self.text
        return shared or f'"{option}"' in self.text


def scripts():
    """Return all benchmarks in the order of their names."""
    found = []
    for path in sorted(BENCH.glob("*.py")):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        runs = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        doc = ast.get_docstring(tree)
        if path.stem not in TOOLS and runs and doc:
            found.append(Script(path, doc, text))
    return found


@dataclass(frozen=True)
class Kept:
    """The files of a benchmark: what it measured, and when and how it was run."""

    folder: Path
    name: str

    @property
    def results_file(self):
        return self.folder / f"{self.name}.json"

    @property
    def record_file(self):
        return self.folder / f"{self.name}.run.json"

    def unfinished_file(self, quick):
        """What a script has written that was ended: some go on from there."""
        return self.folder / "unfinished" / f"{self.name}{'.quick' if quick else ''}.json"

    @property
    def results(self):
        return _read(self.results_file)

    @property
    def unfinished(self):
        """What was measured before a script was ended, where no run came to its end."""
        return _read(self.unfinished_file(False)) or _read(self.unfinished_file(True))

    @property
    def record(self):
        return _read(self.record_file) or {}

    def write_record(self, record):
        text = json.dumps(record, indent=1, ensure_ascii=False)
        self.record_file.write_text(text + "\n", encoding="utf-8")


def is_newer(file, path):
    """Whether a file is there and was written after the other one."""
    return file.is_file() and file.stat().st_mtime >= path.stat().st_mtime


def _read(path):
    return json.loads(path.read_text("utf-8")) if path.is_file() else None
