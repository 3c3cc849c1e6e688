"""Damaged and hostile files: an error of one clear line, or the same model; never anything else."""

import json
import os
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import kernelm as km
from kernelm.kernels import Gaussian
from kernelm.store import file, header, load, save
from kernelm.store.file import Content
from problems import classification

X, LABELS = classification(n=25, d=3)
MODELS = {
    "elm": km.ELMClassifier(4, random_state=0),
    "nystrom": km.KernelELMClassifier(Gaussian(), approximation="nystrom", n_landmarks=4),
    "boosted": km.BoostedELMClassifier(2, n_hidden=3, random_state=0),
    "core": km.CoreVectorClassifier(Gaussian(), random_state=0),
    "svc": km.KernelSVC(),
}


@pytest.fixture(scope="module", params=MODELS)
def small(request, tmp_path_factory):
    """A small model and the bytes of its file."""
    model = MODELS[request.param].fit(X, LABELS)
    path = tmp_path_factory.mktemp("small") / "m"
    save(model, path)
    return model, path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.kelm"


def crafted(path, nodes, tensors=None):
    """Write a file with a right checksum and any content."""
    file.write(path, Content({"summary": {}, "nodes": nodes}, tensors or {}))
    return path


def opened(model, path):
    """Read the nodes and tensors of a model."""
    save(model, path)
    document, tensors = file.read(path)
    return document["nodes"], tensors


# --- damage --------------------------------------------------------------------------------------


def assert_refused_or_same(path, model):
    sentence = ""
    try:
        loaded = load(path)
    except ValueError as error:
        sentence = str(error)
    if sentence:
        assert str(path) in sentence
        assert "\n" not in sentence
    else:
        assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_flipped_bytes_give_an_error_or_the_same_model(small, path):
    model, content = small
    rng = np.random.default_rng(0)
    for _ in range(400):
        damaged = bytearray(content)
        for at in rng.integers(0, len(content), rng.integers(1, 4)):
            damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        assert_refused_or_same(path, model)


def test_flips_near_the_start_give_an_error_or_the_same_model(small, path):
    model, content = small
    for at in range(80):
        for bit in (1, 0x40, 0x80):
            damaged = bytearray(content)
            damaged[at] ^= bit
            path.write_bytes(damaged)
            assert_refused_or_same(path, model)


def test_parts_of_a_file_are_refused(small, path):
    _, content = small
    rng = np.random.default_rng(1)
    for end in {0, 1, 7, 8, 9, len(content) - 1, *rng.integers(0, len(content), 60).tolist()}:
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match="not a model file, or only a part"):
            load(path)


def test_a_longer_file_is_refused(small, path):
    path.write_bytes(small[1] + b"\0")
    with pytest.raises(ValueError, match="not a model file"):
        load(path)


def test_a_changed_number_is_noticed(small, path):
    content = bytearray(small[1])
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        load(path)


@pytest.mark.parametrize("read", [load, header])
def test_what_is_not_a_file_of_ours_says_so(read, tmp_path, path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read(path)
    with pytest.raises(ValueError, match="is not a file"):
        read(tmp_path)
    for other in (b"", b"PK\x03\x04 an archive", (10**12).to_bytes(8, "little") + b"{}"):
        path.write_bytes(other)
        with pytest.raises(ValueError, match="not a model file"):
            read(path)
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="without a model of kernelm"):
        read(path)


def rewritten(path, change):
    """Change the text of the document and leave the rest as it is."""
    with safe_open(path, framework="numpy") as f:
        text, tensors = f.metadata()["kernelm"], {n: f.get_tensor(n) for n in f.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata={"kernelm": change(text)})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.replace('"format":1', '"format":2'), "format 2.*upgrade kernelm"),
        (lambda t: t.replace('"format":1', '"format":"1"'), "without a model"),
        (lambda t: t.replace('"format":1', '"format":1,"format":1'), "twice"),
        (lambda t: t.replace('"format":1', '"format":NaN'), "NaN is no number"),
        (lambda t: t.replace('"ELMClassifier"', '"Other"', 1), "checksum"),
        (lambda t: "[" * 10**5, "does not describe a model"),
        (lambda t: "[]", "without a model"),
        (lambda t: t[:-5], "does not describe a model"),
    ],
)
def test_changed_documents_say_what_is_wrong(change, sentence, path):
    save(km.ELMClassifier(4), path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=sentence):
        load(path)


# --- hostility -----------------------------------------------------------------------------------

HUGE = 2**61
GAUSSIAN = ["object", ["kernels.radial.Gaussian", {"scale": 1.0}]]
LAUGHS = [["list", [1]], *(["list", [[k]] * 10] for k in range(12))]

#: Graphs that no model has.
GRAPHS = {
    "nothing": [],
    "no estimator": [GAUSSIAN],
    "a number": 5,
    "nodes that are none": [None],
    "unknown kind": [["eval", "1 + 1"]],
    "foreign class": [["object", ["os.system", {}]]],
    "foreign class by its path": [["object", ["subprocess.Popen", {"args": "true"}]]],
    "module": [["object", ["data.checkpoint.Checkpoint", {"directory": "x", "identity": "y"}]]],
    "class that is not a string": [["object", [["os"], {}]]],
    "foreign function": [["function", "os.system"]],
    "function of ours that models do not keep": [["function", "data.files.write.write"]],
    "abstract class": [["object", ["kernels.base.Kernel", {}]]],
    "enum as object": [["object", ["ridge.status.Status", {}]]],
    "record as object": [["object", ["ridge.factor.Weights", {}]]],
    "object as record": [["record", ["kernels.radial.Gaussian", {"scale": 1.0}]]],
    "member that is none": [["enum", ["ridge.status.Status", "mro"]]],
    "record with too little": [["record", ["ridge.factor.Weights", {}]]],
    "record of wrong types": [["record", ["ridge.factor.Weights", {"coef": 1, "intercept": 2}]]],
    "kernel of a bad scale": [["object", ["kernels.radial.Gaussian", {"scale": -1.0}]]],
    "kernel of a wrong type": [["object", ["kernels.radial.Gaussian", {"scale": None}]]],
    "kernel with more": [["object", ["kernels.radial.Gaussian", {"scale": 1.0, "x": 1}]]],
    "method replaced": [["object", ["kernels.radial.Gaussian", {"scale": 1.0, "gram": 1}]]],
    "class replaced": [["object", ["margin.svm.KernelSVC", {"__class__": "x"}]]],
    "scaler without fields": [["object", ["features.scaling.InputScaler", {}]]],
    "circle": [["list", [[0]]]],
    "later part": [["list", [[1]]], ["list", []]],
    "negative part": [["list", []], ["list", [[-1]]]],
    "part by a truth value": [["list", []], ["list", [[True]]]],
    "object for a value": [["list", [{}]]],
    "deep": [["list", []], *(["list", [[k]]] for k in range(1000))],
    "a billion laughs": LAUGHS,
    "key that hashes for ever": [
        ["tuple", [1]],
        *(["tuple", [[k], [k]]] for k in range(15)),
        ["dict", [[[15], 1]]],
    ],
    "key twice": [["dict", [["a", 1], ["a", 2]]]],
    "key that is a list": [["list", []], ["dict", [[[0], 1]]]],
    "missing tensor": [["array", {"tensor": "a"}]],
    "objects of a giant shape": [["objects", [[HUGE], []]]],
    "objects of a negative shape": [["objects", [[-1, 1], [1]]]],
    "scalar of objects": [["scalar", ["|O", "00" * 8]]],
    "scalar of a structure": [["scalar", ["f8,O", "00" * 16]]],
    "scalar too long": [["scalar", ["<f8", "00" * 16]]],
    "generator": [["random", ["RandomState", {"bit_generator": "Philox"}]]],
}


@pytest.mark.parametrize("name", GRAPHS)
def test_hostile_graphs_are_refused_in_little_memory(name, path):
    crafted(path, GRAPHS[name])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="does not describe a model"):
            load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def array(content, tensor):
    return [["array", content | {"tensor": "a"}]], {"a": tensor}


EIGHT = np.zeros(8, np.uint8)
ARRAYS = {
    "objects": array({"dtype": "|O", "shape": [1]}, EIGHT),
    "structure": array({"dtype": "V8", "shape": [1]}, EIGHT),
    "no size": array({"dtype": "<U0", "shape": [1]}, EIGHT),
    "giant": array({"dtype": "<f8", "shape": [HUGE]}, EIGHT),
    "guessed": array({"dtype": "<c8", "shape": [-1]}, EIGHT),
    "giant and repeated": array({"repeated": [HUGE, HUGE]}, np.zeros(1)),
    "no text": array({"dtype": "<U1", "shape": [2]}, np.full(8, 255, np.uint8)),
    "unused": ([["list", []]], {"a": EIGHT}),
    "used twice": ([["array", {"tensor": "a"}], ["array", {"tensor": "a"}]], {"a": EIGHT}),
    "sparse, beyond the columns": (
        [["array", {"tensor": n}] for n in "abc"]
        + [["sparse", ["csr_matrix", [2, 3], [0], [1], [2]]]],
        {"a": np.ones(2), "b": np.array([0, 10**6], np.int32), "c": np.array([0, 1, 2], np.int32)},
    ),
    "sparse, beyond the entries": (
        [["array", {"tensor": n}] for n in "abc"]
        + [["sparse", ["csr_matrix", [2, 3], [0], [1], [2]]]],
        {"a": np.ones(2), "b": np.zeros(2, np.int32), "c": np.array([0, 10**6, 2], np.int32)},
    ),
    "sparse, of a giant shape": (
        [["array", {"tensor": n}] for n in "abc"]
        + [["sparse", ["csr_matrix", [HUGE, 3], [0], [1], [2]]]],
        {"a": np.ones(2), "b": np.zeros(2, np.int32), "c": np.array([0, 1, 2], np.int32)},
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_arrays_are_refused(name, path):
    nodes, tensors = ARRAYS[name]
    crafted(path, nodes, tensors)
    with pytest.raises(ValueError, match="does not describe a model"):
        load(path)


def changed_nodes(nodes, cls, **attributes):
    """Give attributes of the objects of a class other values."""
    text = json.dumps(nodes)
    nodes = json.loads(text)
    for kind, content in nodes:
        if kind in ("object", "record") and content[0].endswith(cls):
            content[1] = content[1] | attributes
    assert json.dumps(nodes) != text
    return nodes


@pytest.mark.parametrize(
    ("model", "cls", "attributes"),
    [
        ("elm", "HiddenLayer", {"scaler": None}),
        ("elm", "HiddenLayer", {"width": "wide"}),
        ("elm", "RandomLayer", {"seed": 10**9}),
        ("elm", "RandomLayer", {"n_units": "many"}),
        ("elm", "Machine", {"phi": 5}),
        ("elm", "Machine", {"predict": 5}),
        ("elm", "Machine", {"sample": "all"}),
        ("elm", "ELMClassifier", {"n_features_in_": "three"}),
        ("elm", "ELMClassifier", {"fit": None}),
        ("boosted", "Layers", {"n_features": 10**9}),
        ("boosted", "Layers", {"n_units": -1}),
        ("boosted", "BoostedModel", {"weights": [1]}),
        ("boosted", "BoostedELMClassifier", {"n_features_in_": 10**6}),
        ("core", "CoreMachine", {"combine": "os.system"}),
        ("nystrom", "KernelColumns", {"kernel": "gaussian"}),
    ],
)
def test_attributes_that_do_not_fit_are_refused(model, cls, attributes, path):
    nodes, tensors = opened(MODELS[model].fit(X, LABELS), path)
    crafted(path, changed_nodes(nodes, cls, **attributes), tensors)
    with pytest.raises(ValueError, match="does not describe a model"):
        load(path)


def test_a_giant_layer_costs_nothing_to_load(path):
    nodes, tensors = opened(MODELS["elm"].fit(X, LABELS), path)
    crafted(path, changed_nodes(nodes, "RandomLayer", n_units=10**15), tensors)
    tracemalloc.start()
    with pytest.raises(ValueError, match="random weights"):
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_random_changes_of_the_graph_never_do_more_than_fail(path):
    """Mutants with a right checksum: what loads can be asked to predict, and may fail cleanly."""
    nodes, tensors = opened(MODELS["core"].fit(X, LABELS), path)
    rng = np.random.default_rng(0)
    others = [None, True, 0, -1, 10**18, 1e308, "", "x", [0], [5], [10**6], [], {}]
    loaded = 0
    for _ in range(400):
        mutant = json.loads(json.dumps(nodes))
        _mutate(mutant, rng, others)
        crafted(path, mutant, tensors)
        try:
            model = load(path)
        except ValueError:
            continue
        loaded += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.predict(X)
            except Exception as error:
                assert not isinstance(error, MemoryError | RecursionError)  # noqa: PT017
    assert loaded


def _mutate(nodes, rng, others):
    """Replace one entry somewhere."""
    place = nodes
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not len(keys):
            return
        key = keys[int(rng.integers(len(keys)))]
        inner = place[key]
        if not isinstance(inner, list | dict) or not inner or rng.random() < 0.1:
            place[key] = others[int(rng.integers(len(others)))]
            return
        place = inner


def test_loading_starts_nothing_and_opens_nothing(path):
    """In a process that watches itself: no program, no socket, no file written, no pickle."""
    save(MODELS["nystrom"].fit(X, LABELS), path)
    program = f"""
import sys
import kernelm, numba
from kernelm.store import load
from kernelm.store.attributes import schema
from kernelm.store.registry import classes
for cls in classes().values():
    schema(cls)  # evaluates annotations of our own sources, once
seen = []
watched = ("subprocess", "os.system", "os.exec", "os.posix_spawn", "socket", "pickle", "exec",
           "compile", "os.remove", "os.rename", "os.mkdir", "shutil")
sys.addaudithook(lambda event, args: seen.append((event, args)) if event.startswith(watched)
                 or event == "open" and isinstance(args[1], str) and args[1] != "r"
                 and args[1] != "rb" else None)
model = load({str(path)!r})
print(type(model).__name__, seen)
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "KernelELMClassifier []", done.stdout + done.stderr


# --- writing -------------------------------------------------------------------------------------


def bump(A):
    return np.exp(-(A**2))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (km.ELMClassifier(4, activation=bump), "activation"),
        (km.ELMClassifier(4, activation=np.tanh), "activation"),
        (km.BoostedELMClassifier(2, activation=bump), "activation"),
        (km.KernelELMClassifier(landmarks=lambda X, n, rng: X[:n]), "landmarks"),
    ],
)
def test_code_is_refused_by_the_name_of_its_parameter(model, name, path):
    with pytest.raises(ValueError, match=f"^{name} of {type(model).__name__} is code of your own"):
        save(model, path)
    assert not list(path.parent.iterdir())


def test_only_estimators_of_kernelm_are_stored(path):
    from sklearn.pipeline import make_pipeline

    for other in (make_pipeline(km.ELMClassifier()), Gaussian(), None, km.ELMClassifier):
        with pytest.raises(TypeError, match="save takes an estimator of kernelm"):
            save(other, path)


def test_places_that_cannot_be_written_say_so(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        save(km.ELMClassifier(), tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        save(km.ELMClassifier(), tmp_path / "no" / "m")


@pytest.mark.parametrize("step", ["save_file", "os.fsync", "Path.replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(step, path, monkeypatch):
    save(km.ELMClassifier(5), path)

    def fails(*args, **options):
        raise OSError("the disk is full")

    owner, _, name = step.rpartition(".")
    monkeypatch.setattr(getattr(file, owner) if owner else file, name, fails)
    with pytest.raises(OSError, match="disk is full"):
        save(km.ELMClassifier(6), path)
    monkeypatch.undo()
    assert load(path).n_hidden == 5
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "m")
    save(km.ELMClassifier(5), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "there" / "m").n_hidden == 5


def test_a_description_that_no_reader_takes_is_not_written(path, monkeypatch):
    monkeypatch.setattr(file, "HEADER_BYTES", 500)
    with pytest.raises(ValueError, match="description of this model takes"):
        save(km.ELMClassifier(), path)
