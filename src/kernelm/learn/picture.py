"""A picture of a multilayer kernel machine; the only module here that needs matplotlib."""

from __future__ import annotations

from typing import Any

from kernelm import _checks
from kernelm.kernels import Kernel

_COLOURS = ("#1f5fa8", "#d9730d", "#3a8f5c", "#8a4fa0", "#a33c3c", "#5c6670")
_BOX = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "0.3"}


def draw(model: Any, ax: Any = None) -> Any:
    """Draw layers from left to right, with a bar for the weight of each kernel."""
    if ax is None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise _checks.missing("plot", "matplotlib", "report") from error
        ax = Figure(figsize=(2.6 * (model.n_layers_ + 1.2), 2.6), layout="constrained").subplots()
    n = model.n_layers_
    ax.set(xlim=(0, n + 1.3), ylim=(-0.05, 1.25))
    ax.axis("off")
    _box(ax, 0.2, f"{model.n_features_in_}\ninputs")
    for at, layer in enumerate(model.layers_, 1):
        _bars(ax, at, layer.kernels, layer.weights)
        title = f"layer {at}: {len(layer.chosen)} features"
        ax.text(at, 1.12, title, ha="center", weight="bold", fontsize=9)
    _box(ax, n + 0.95, f"{type(model.final_).__name__}\n{len(model.classes_)} classes")
    for at in range(n + 1):
        ax.annotate(
            "", (at + 0.61, 0.5), (at + 0.41, 0.5), arrowprops={"arrowstyle": "->", "color": "0.3"}
        )
    return ax


def _box(ax: Any, at: float, text: str) -> None:
    ax.text(at, 0.5, text, ha="center", va="center", fontsize=9, bbox=_BOX)


def _bars(ax: Any, at: float, kernels: list[Kernel], weights: Any) -> None:
    """Draw the weights of one layer, kernel below kernel."""
    step = 1 / len(kernels)
    for k, (kernel, weight) in enumerate(zip(kernels, weights.tolist(), strict=True)):
        low = 1 - (k + 1) * step
        ax.barh(low + 0.25 * step, 0.7, 0.3 * step, at - 0.36, align="center", color="0.93")
        colour = _COLOURS[k % len(_COLOURS)]
        ax.barh(low + 0.25 * step, 0.7 * weight, 0.3 * step, at - 0.36, color=colour)
        ax.text(at - 0.36, low + 0.6 * step, f"{weight:.2f}  {_short(kernel)}", fontsize=8)


def _short(kernel: Kernel) -> str:
    """Return a name that fits into a layer."""
    name, values = type(kernel).__name__, list(kernel.get_params(deep=False).values())
    first = values[0] if values else ""
    if isinstance(first, float):
        first = f"{first:.3g}"
    text = f"{name}({', '.join(map(str, first)) if isinstance(first, tuple) else first})"
    return text if len(text) <= 24 else name
