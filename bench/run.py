"""Run the benchmarks one after the other, and write docs/benchmarks.md from what they measured.

Every script of this folder that has a claim and a ``main`` is run in a process of its own, with
``--json bench/results/NAME.json``; date, seconds, machine and versions go to NAME.run.json beside
it. A script whose results are newer than itself is left out, so that a run that was ended goes on
where it was; results of ``--quick`` runs do not count as those of full ones. Ctrl-C, or the limit
of seconds, ends the script that runs; what it has written is kept in ``results/unfinished``, where
a script that reads its own JSON goes on. Scripts that know ``--quick`` get it; the others run in
full.

    KERNELM_DATA=... python bench/run.py [--only NAME ...] [--quick] [--limit 3600] [--again]
    python bench/run.py --list     # what there is, and what it took
    python bench/run.py --page     # the page only, from the results there are
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from claims import RESULTS, ROOT, Kept, is_newer, scripts
from page import write_page

PACKAGES = ["kernelm", "numpy", "scipy", "scikit-learn", "numba", "lightgbm", "xgboost", "hpelm"]
PACKAGES += ["xrfm", "scikit-learn-intelex", "thundersvm-cpu"]
ENDED_WELL = ("done", "claim not met")
BUSY = 0.5  # cores at other work from which on it is likely to show in the times


def chosen(only):
    """Return the scripts whose names contain one of the given texts, or all of them."""
    names = [Path(text).stem for text in only or [""]]
    found = [script for script in scripts() if any(name in script.name for name in names)]
    unknown = [name for name in names if not any(name in script.name for script in found)]
    if unknown:
        raise SystemExit(f"no benchmark has {', '.join(unknown)} in its name; see --list")
    return found


def is_done(script, kept, quick):
    """Whether the results are newer than the script, and not from a quicker run than this one."""
    was_quick = kept.record.get("quick", False)
    return is_newer(kept.results_file, script.path) and (quick or not was_quick)


# -- one script -----------------------------------------------------------------------------------


def run(script, kept, *, quick, limit, again):
    """Run a script, write its results and its record, and return how it ended."""
    quick = quick and script.takes("--quick")
    part = unfinished(script, kept, quick, again)
    command = [sys.executable, str(script.path)]
    command += ["--json", str(part)] if script.takes("--json") else []
    command += ["--quick"] if quick else []
    busy, start = busy_cores(), time.perf_counter()
    code, out, err = watched(command, limit)
    record = {
        "script": f"bench/{script.path.name}",
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "seconds": round(time.perf_counter() - start, 1),
        "quick": quick,
        "outcome": outcome(code, err, part.is_file() or not script.takes("--json"), limit),
        "load_before": round(busy, 2),
        "machine": machine(),
        "versions": versions(),
    }
    if record["outcome"] in ENDED_WELL:
        if not part.is_file():  # a script that prints and no more
            printed = json.dumps({"printed": out}, indent=1, ensure_ascii=False)
            part.write_text(printed, encoding="utf-8")
        part.replace(kept.results_file)
        kept.write_record(record)
    elif kept.results is None:  # else what was measured before stays, with its own record
        kept.write_record(record)
    return record


def unfinished(script, kept, quick, again):
    """Return where a script writes; what it wrote before it was edited is of no use."""
    file = kept.unfinished_file(quick)
    file.parent.mkdir(exist_ok=True)
    (file.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    if again or not is_newer(file, script.path):
        file.unlink(missing_ok=True)
    return file


def watched(command, limit):
    """Run a command, show its lines, and return exit code (None: over the limit) and output."""
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # its children end with it
    )
    late = threading.Event()

    def stop():
        late.set()
        end(process)

    said = []
    listener = threading.Thread(target=lambda: said.extend(echoed(process.stderr, sys.stderr)))
    timer = threading.Timer(limit, stop)
    listener.start()
    timer.start()
    try:
        out = list(echoed(process.stdout, sys.stdout))
        code = process.wait()
    except BaseException:
        end(process)
        raise
    finally:
        timer.cancel()
        listener.join()
    return None if late.is_set() else code, out, said


def echoed(stream, to):
    """Yield the lines of a stream, which are shown as they come."""
    for line in stream:
        print("    " + line, end="", file=to, flush=True)
        yield line.rstrip("\n")


def end(process):
    """End a process and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def outcome(code, err, has_results, limit):
    if code is None:
        return f"over {limit:g} s"
    if code == 0:
        return "done"
    # Scripts that judge themselves return 1 after all is measured.
    judged = code == 1 and has_results and not any(line.startswith("Traceback") for line in err)
    return "claim not met" if judged else "failed"


# -- where it ran ---------------------------------------------------------------------------------


def busy_cores(seconds=2.0):
    """Return how many cores are at work; a load average would count the benchmark before."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return os.getloadavg()[0]

    def ticks():
        counts = [int(text) for text in stat.read_text().partition("\n")[0].split()[1:9]]
        return sum(counts), counts[3] + counts[4]  # all, and those without work

    before = ticks()
    time.sleep(seconds)
    total, idle = (after - start for after, start in zip(ticks(), before, strict=True))
    return (os.cpu_count() or 1) * (1 - idle / max(total, 1))


def machine():
    """Return processor, cores and memory."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = models[0] if models else platform.processor()
    return f"{model or platform.machine()}, {cores} cores, {memory:.0f} GB, {platform.system()}"


def versions():
    """Return versions of Python and of packages, and the commit."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    with contextlib.suppress(OSError):
        found["commit"] = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    return {name: version for name, version in found.items() if version}


# -- all of them ----------------------------------------------------------------------------------


def expected(script, folder, quick):
    """Return the seconds that a script took before, if it ran in the same way."""
    record = Kept(folder, script.name).record
    same = record.get("quick", False) == (quick and script.takes("--quick"))
    return record.get("seconds") if same else None


def time_left(todo, folder, quick):
    """Return how long the scripts will take by their last runs, and how many have none."""
    known = [expected(script, folder, quick) for script in todo]
    unknown = known.count(None)
    text = span(sum(s for s in known if s is not None))
    return text if not unknown else f"{text} and {unknown} not timed yet"


def span(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def run_all(todo, args):
    """Run scripts and return those that failed; Ctrl-C keeps what is done."""
    failed, start = [], time.perf_counter()
    for i, script in enumerate(todo):
        so_far = span(time.perf_counter() - start)
        left = time_left(todo[i:], args.results, args.quick)
        print(f"[{i + 1}/{len(todo)}] {script.name} (so far {so_far}, left {left})", flush=True)
        kept = Kept(args.results, script.name)
        record = run(script, kept, quick=args.quick, limit=args.limit, again=args.again)
        print(f"    {record['outcome']} in {span(record['seconds'])}", flush=True)
        if record["outcome"] not in ENDED_WELL:
            failed.append(script.name)
        write_page(args.results, args.docs)
    return failed


def show(found, folder, quick):
    """Print what there is, what it took, and whether it would be run."""
    for script in found:
        kept = Kept(folder, script.name)
        record = kept.record
        took = span(record["seconds"]) if record else ""
        how = " quick" if record.get("quick") else ""
        state = "done" if is_done(script, kept, quick) else "to run"
        print(f"{script.name:<45} {state:<7} {took:>7}{how}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="parts of the names of scripts")
    parser.add_argument("--quick", action="store_true", help="small sizes, for scripts that can")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for each script")
    parser.add_argument("--again", action="store_true", help="also those that have results")
    parser.add_argument("--list", action="store_true", help="show scripts and their state")
    parser.add_argument("--page", action="store_true", help="write the page and run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", metavar="DIR")
    args = parser.parse_args()
    found = chosen(args.only)
    if args.list:
        return show(found, args.results, args.quick)
    args.results = args.results.resolve()
    args.results.mkdir(parents=True, exist_ok=True)
    if args.page:
        return print(f"wrote {write_page(args.results, args.docs)}")
    done = [s for s in found if is_done(s, Kept(args.results, s.name), args.quick)]
    todo = found if args.again else [s for s in found if s not in done]
    if len(todo) < len(found):
        print(f"{len(found) - len(todo)} have results already (--again runs them too)")
    busy = busy_cores()
    if busy > BUSY:
        print(f"{busy:.1f} cores are at other work, which will show in the times")
    try:
        failed = run_all(todo, args)
    except KeyboardInterrupt:
        write_page(args.results, args.docs)
        raise SystemExit("\ninterrupted; what was done is kept, the same call goes on") from None
    print(f"wrote {write_page(args.results, args.docs)}")
    if failed:
        raise SystemExit(f"without results: {', '.join(failed)}")
    return None


if __name__ == "__main__":
    main()
