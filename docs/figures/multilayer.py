"""Draw docs/figures/multilayer.png: layers of a machine for digits, with their weights.

python docs/figures/multilayer.py
"""

from pathlib import Path

from sklearn.datasets import load_digits

from kernelm import MultilayerKernelClassifier
from kernelm.learn.learner import DEFAULT_MIX


def main():
    """Draw the figure."""
    X, y = load_digits(return_X_y=True)
    model = MultilayerKernelClassifier([DEFAULT_MIX] * 2, random_state=0).fit(X, y)
    ax = model.plot()
    ax.figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)


if __name__ == "__main__":
    main()
