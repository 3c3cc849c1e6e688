"""OP-ELM beside ELMs on the eight regression sets of the ELM kernel paper.

Claim: none; the mean squared error of 10 folds (in units of y², mean ± half of a 95 % interval)
of ``OPELMRegressor()``, of ``ELMRegressor()``, which chooses its number of units, and of a ridge
ELM with 1000 units. The paper prints no OP-ELM numbers; those of its support vector regression,
with its ELM kernel (σ = 1) and with a Gaussian kernel tuned by inner folds, are beside them.

    KERNELM_DATA=... python bench/op_elm_on_regression_sets.py [--sets stock] [--folds 10]
"""

import numpy as np
from scipy.stats import t
from sklearn.model_selection import KFold

from harness import options, print_header, save, timed
from kernelm import ELMRegressor, OPELMRegressor
from kernelm.data import load

#: Mean test error of the paper's tables 2 and 3: ELM kernel with σ = 1, Gaussian kernel.
PAPER = {
    "triazines": (0.021, 0.03),
    "r_wpbc": (1000, 1100),
    "machine_cpu": (3900, 4500),
    "stock": (0.43, 0.42),
    "abalone": (4.4, 4.4),
    "delta_ailerons": (2.8e-08, 2.7e-08),
    "cpu_act": (12, 8.8),
    "delta_elevators": (2e-06, 2e-06),
}


def machines():
    return {
        "OPELMRegressor()": OPELMRegressor(random_state=0),
        "ELMRegressor()": ELMRegressor(random_state=0),
        "ELMRegressor(1000)": ELMRegressor(1000, random_state=0),
    }


def units(machine):
    return machine.n_units_ if isinstance(machine, OPELMRegressor) else machine.n_hidden_


def measure(name, folds):
    """Errors, units and fit seconds of each machine on the same folds."""
    data, runs = load(name), {}
    for train, test in KFold(folds, shuffle=True, random_state=0).split(data.X):
        for label, machine in machines().items():
            seconds = timed(machine.fit, data.X[train], data.y[train])
            error = np.mean((machine.predict(data.X[test]) - data.y[test]) ** 2)
            runs.setdefault(label, []).append((error, units(machine), seconds))
    for label, triples in runs.items():
        error, n_units, seconds = np.array(triples, float).T
        half = t.ppf(0.975, folds - 1) * error.std(ddof=1) / np.sqrt(folds)
        result = {"set": name, "rows": len(data.X), "features": data.X.shape[1], "machine": label}
        result |= {"mse": error.mean(), "half_interval": half, "units": np.median(n_units)}
        yield result | {"fit_s": np.median(seconds)}


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=list(PAPER))
    parser.add_argument("--folds", type=int, default=10)
    args = parser.parse_args()
    print_header()
    for machine in machines().values():  # imports and thread pools are not what is measured
        machine.fit(*load("diabetes").split()[::2])
    print(f"\n{'set':<16} {'size':>11}  {'machine':<19} {'MSE':>9}   ±         units   fit s")
    results = []
    for name in args.sets:
        for r in measure(name, args.folds):
            size = f"{r['rows']:,} × {r['features']}"
            print(
                f"{name:<16} {size:>11}  {r['machine']:<19} {r['mse']:9.3g} ± "
                f"{r['half_interval']:<8.2g} {r['units']:6.0f} {r['fit_s']:7.2f}",
                flush=True,
            )
            results.append(r)
        if name in PAPER:
            elm, gaussian = PAPER[name]
            print(f"{'':<30}paper: SVR, ELM kernel {elm:.2g}, Gaussian kernel {gaussian:.2g}")
    save(results, args.json)


if __name__ == "__main__":
    main()
