"""Pickles that hold plain values and known classes, and run nothing: the one place that reads any."""

import io
import pickle
from collections.abc import Callable
from typing import Any

# From the name of a module and of a class in it to what it stands for; raises for all that is not known.
Known = Callable[[str, str], Any]


def dumps(content: Any) -> bytes:
    """Return a value as bytes."""
    return pickle.dumps(content, protocol=5)


def loads(content: bytes, known: Known, encoding: str = "ASCII") -> Any:
    """Return the value of a pickle. encoding: of texts that Python 2 wrote.

    Raises what `known` raises for names, and what `pickle` raises for damaged bytes.
    """
    return _Unpickler(io.BytesIO(content), known, encoding).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, known: Known, encoding: str):
        super().__init__(stream, encoding=encoding)
        self.known = known

    def find_class(self, module: str, name: str) -> Any:
        return self.known(module, name)
