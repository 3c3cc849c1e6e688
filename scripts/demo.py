"""Extreme learning machines on the bundled digits: a table here, a picture in out/demo.png."""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelm import ELMClassifier
from kernelm.data import load

REPO = Path(__file__).resolve().parents[1]
PICTURE = REPO / "out" / "demo.png"
UNITS = [10, 16, 25, 40, 64, 100, 160, 256, 400, 640, 900, 1100, 1257, 1400, 1700, 2048]
BLUE, ORANGE, GREY = "#1f5fa8", "#d9730d", "0.5"


def elm(**parameters):
    return ELMClassifier(**{"random_state": 0, **parameters})


def machines():
    nystroem = Nystroem(n_components=300, random_state=0)
    return {
        "ELMClassifier()": elm(),
        "  alpha=0, n_hidden=200 (plain ELM)": elm(alpha=0, n_hidden=200),
        '  activation="relu"': elm(activation="relu"),
        '  activation="sign"': elm(activation="sign"),
        '  activation="rbf", weights="data"': elm(activation="rbf", weights="data"),
        '  activation="fourier"': elm(activation="fourier"),
        '  weights="orthogonal"': elm(weights="orthogonal"),
        "Nystroem(300) + RidgeClassifier": make_pipeline(
            StandardScaler(), nystroem, RidgeClassifier()
        ),
        "SVC(C=10)": make_pipeline(StandardScaler(), SVC(C=10)),
    }


def row(label, machine, X, X_test, y, y_test):
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    ours = isinstance(machine, ELMClassifier)
    units = f"{machine.n_hidden_}" if ours else ""
    alpha = f"{machine.alpha_:.2g}" if ours else ""
    loo = f"{100 * machine.loo_score_:.2f}" if ours else ""
    test = 100 * machine.score(X_test, y_test)
    return f"{label:<37} {units:>6} {alpha:>9} {loo:>10} {test:9.2f} {seconds:8.2f}"


def table(parts):
    X, X_test, y, _ = parts
    elm(n_hidden=10).fit(X, y)  # thread pools and caches are not what is timed
    print(f"digits: {len(X)} training rows, {len(X_test)} test rows, 64 pixels, 10 classes\n")
    print(f"{'machine':<37} {'units':>6} {'alpha':>9} {'LOO %':>10} {'test %':>9} {'fit s':>8}")
    compared = machines()
    for label, machine in compared.items():
        print(row(label, machine, *parts), flush=True)
    print("\nLOO: leave-one-out accuracy on the training rows, in closed form, no refits")
    return compared["ELMClassifier()"]


def curves(X, X_test, y, y_test):
    """Accuracies in percent for each number of units: test, leave-one-out, plain ELM's test."""
    found = []
    for n_hidden in UNITS:
        machine = elm(n_hidden=n_hidden).fit(X, y)
        plain = elm(n_hidden=n_hidden, alpha=0).fit(X, y)
        scores = machine.score(X_test, y_test), machine.loo_score_, plain.score(X_test, y_test)
        found.append(scores)
    return 100 * np.array(found).T


def draw(auto, parts):
    test, loo, plain = curves(*parts)
    n_rows, score = len(parts[0]), 100 * auto.score(parts[1], parts[3])
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(UNITS, 100 - test, "o-", color=BLUE, markersize=4, label="test")
    ax.plot(UNITS, 100 - loo, "--", color=ORANGE, label="leave-one-out, in closed form")
    ax.plot(UNITS, 100 - plain, color=GREY, label="test, plain ELM (alpha=0)", zorder=1.8)
    ax.plot(auto.n_hidden_, 100 - score, "*", color=BLUE, markersize=15)
    chosen = f'n_hidden="auto":\n{auto.n_hidden_} units, {score:.2f} %'
    note(ax, chosen, (auto.n_hidden_, 100 - score), (11, 0), color=BLUE, ha="left")
    dip = np.argmin(np.abs(np.subtract(UNITS, n_rows)))
    note(
        ax,
        f"plain ELM with as many\nunits as rows ({n_rows})",
        (UNITS[dip], 100 - plain[dip]),
        (-9, 2),
        color=GREY,
        ha="right",
    )
    units_axis(ax)
    accuracy_axis(ax)
    ax.set_title("Digits: accuracy against the number of hidden units", loc="left")
    ax.legend(frameon=False, loc="upper left")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


def note(ax, text, point, offset, **style):
    ax.annotate(text, point, offset, textcoords="offset points", va="center", **style)


def units_axis(ax):
    shown = [10, 30, 100, 300, 1000, 3000]
    ax.set(xscale="log", xlim=(9, 9000), xlabel="hidden units")
    ax.set_xticks(shown, [str(n) for n in shown])
    ax.set_xticks([], minor=True)


def accuracy_axis(ax):
    """Error on a log axis, upside down and labelled as accuracy: 98 and 99 % lie far apart."""
    shown = [60, 70, 80, 90, 95, 97, 98, 99]
    ax.set(yscale="log", ylim=(45, 1), ylabel="accuracy, %")
    ax.set_yticks([100 - a for a in shown], [str(a) for a in shown])
    ax.set_yticks([], minor=True)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)


def main():
    parts = load("digits").split(test_size=0.3, seed=0)
    draw(table(parts), parts)
    print(f"\npicture: {PICTURE.relative_to(REPO)}")
    print(
        "Look at how the dashed leave-one-out curve, which never saw the test rows, follows the "
        "test\ncurve, and how the plain ELM breaks down at as many units as rows while the ridge "
        "does not."
    )


if __name__ == "__main__":
    main()
