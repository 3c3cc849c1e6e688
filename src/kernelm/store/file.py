"""One safetensors file: a JSON document in its metadata, a checksum over all, written whole."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from kernelm.store import errors

FORMAT = 1  #: of the files that this version writes, and the highest that it reads
HEADER_BYTES = 10**8  #: more is refused by every reader of safetensors

_KEY = "kernelm"  # of the document in the metadata
_TENSOR_BYTES = 256  # at most, of the name, dtype, shape and place of a tensor in the header


class Content(NamedTuple):
    """What a file holds."""

    document: dict[str, Any]
    tensors: dict[str, NDArray]


def write(path: Path, content: Content) -> None:
    """Write a file whole or not at all."""
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.is_dir():
        raise errors.not_a_place(path)
    if not path.parent.is_dir():
        raise errors.no_folder(path)
    document, tensors = content
    document = {"format": FORMAT} | document
    text = _text(document | {"sha256": _checksum(document, tensors)})
    size = len(json.dumps(text)) + sum(len(name) + _TENSOR_BYTES for name in tensors)
    if size > HEADER_BYTES:
        raise errors.header_too_large(size, HEADER_BYTES)
    with _replacing(path) as draft:
        save_file(tensors, draft, metadata={_KEY: text})


def read(path: Path) -> Content:
    """Read a file and compare its checksum."""
    with _opened(path) as file:
        document = _document(path, file)
        try:
            names = list(file.keys())  # the file is no mapping
            tensors = {name: file.get_tensor(name) for name in names}
        except Exception as error:  # dtypes that NumPy does not have
            raise errors.not_readable(path, error) from error
    if document.pop("sha256", None) != _checksum(document, tensors):
        raise errors.changed(path)
    return Content(document, tensors)


def read_document(path: Path) -> dict[str, Any]:
    """Read the document alone; without the tensors its checksum says nothing."""
    with _opened(path) as file:
        return _document(path, file) | {"tensors": len(file.keys())}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    if not path.exists():
        raise errors.missing(path)
    if not path.is_file():
        raise errors.not_a_file(path)
    try:
        file = safe_open(path, framework="numpy")
    except PermissionError:
        raise
    except Exception as error:  # whatever the bytes are, they are not safetensors
        raise errors.not_readable(path, error) from error
    with file:
        yield file


def _document(path: Path, file: Any) -> dict[str, Any]:
    text = (file.metadata() or {}).get(_KEY)
    if text is None:
        raise errors.no_model(path)
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise errors.malformed(path, error) from error
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise errors.no_model(path)
    if document["format"] > FORMAT:
        raise errors.newer_format(path, document["format"], FORMAT)
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key comes twice")
    return entries


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _text(document: dict[str, Any]) -> str:
    """Return the document as text: the same model, the same text."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def _checksum(document: dict[str, Any], tensors: dict[str, NDArray]) -> str:
    digest = hashlib.sha256(_text(document).encode())
    for name, array in sorted(tensors.items()):
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a draft, which takes the place of the file once it is on the disk."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.touch()
        rights = draft.stat().st_mode  # those of new files, which the writer may change
        yield draft
        draft.chmod(rights)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
