"""What a result rests on: the code that made it, the job's parameters, the versions of the libraries."""

import ast
import functools
import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from hierlearn.core import folders

P = ParamSpec("P")
T = TypeVar("T")
PACKAGE = folders.PACKAGE
# Files that a module may read from its own folder.
READ = (".html", ".css", ".js")
# Libraries whose distribution has another name, and those that make no result: they read what a user wrote, or show how
# far a job is.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
NO_RESULT = {"yaml", "jsonschema", "tqdm", "annotated_types"}
# An import statement in lines of its own; what stands only for annotations; and statements that share a line.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+(?:\(([^)#]*)\)|([^\n#(]+))|import[ \t]+([^\n#]+))", re.MULTILINE
)
TYPES_ALONE = re.compile(r"^([ \t]*)if TYPE_CHECKING:\n(?:\1[ \t]+[^\n]*\n|\n)+", re.MULTILINE)
BESIDE = re.compile(r"[;:][ \t]*(?:from|import)[ \t]|import[^\n]*\\\n|import[ \t]*\([^)]*#")
# The distributions of every module that can be imported, which reads what all of them installed.
_distributions = functools.cache(packages_distributions)


@functools.cache
def _same(file: Path) -> Path:
    """One object for equal paths: sets of many tell an object from others at once, and compare equal ones in parts."""
    return file


@functools.cache
def closure(file: Path) -> frozenset[Path]:
    """Return the files of the package that importing `file` reads, by its import statements; `file` itself included."""
    reached: set[Path] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting.extend(_imported(current))
    return frozenset(reached)


class BrokenSource(ValueError):
    """A source file that does not do what it should; the message is one line that names it."""


def ends_in_one_line(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that ends the program with one line where a source file is broken, before any job."""

    @functools.wraps(function)
    def guarded(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except BrokenSource as error:
            sys.exit(f"error: {error}")

    return guarded


@functools.cache
def syntax_tree(file: Path) -> ast.Module:
    """Return the syntax tree of a source file, read once. Raises BrokenSource."""
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise BrokenSource(f"{location(file, error.lineno or 1)}: {type(error).__name__}: {error.msg}") from error
    except ValueError as error:
        raise BrokenSource(f"{location(file, 1)}: {error}") from error


def location(file: str | os.PathLike[str], line: int) -> str:
    """Return file:line, from the present folder if the file is below it."""
    file, here = Path(file).absolute(), Path.cwd()
    return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{line}"


@functools.cache
def _imported(file: Path) -> frozenset[Path]:
    return frozenset(one for name in _modules(file) for one in _files(name))


@functools.cache
def _modules(file: Path) -> frozenset[str]:
    """Return the names that a file's import statements have, of what is imported from a module too.

    Those of the package's own files are read off their lines, as a syntax tree takes thirty times as long.
    """
    if PACKAGE.parent in file.parents and not BESIDE.search(text := file.read_text(encoding="utf-8")):
        return frozenset(_names_in_lines(TYPES_ALONE.sub("", text)))
    return _names_in_tree(file)


def _names_in_tree(file: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in _statements(syntax_tree(file)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return frozenset(names)


def _names_in_lines(text: str) -> Iterator[str]:
    """Yield the names that import statements have which stand in lines of their own."""
    for module, bracketed, listed, plain in IMPORT.findall(text):
        names = [name.split()[0] for name in (bracketed or listed or plain).split(",") if name.strip()]
        yield from [module, *(f"{module}.{name}" for name in names)] if module else names


@functools.cache
def _imports(file: Path) -> frozenset[str]:
    """Return the names of the packages that a file imports from."""
    return frozenset(name.partition(".")[0] for name in _modules(file))


@functools.cache
def _read_beside(folder: Path) -> frozenset[Path]:
    """Return the files of a folder that its modules may read."""
    found = folders.files(folder, "*")
    return frozenset(file for file in found if file.suffix in READ and file.stem.isidentifier())


@functools.cache
def _library(name: str) -> str:
    """Return a library that results rest on, with its version; "" for a module that is none."""
    if name in sys.stdlib_module_names or name == PACKAGE.name or name in NO_RESULT:
        return ""
    try:
        return f"{name} {version(DISTRIBUTIONS.get(name, name))}"
    except PackageNotFoundError:
        found = sorted(set(_distributions().get(name, ())))
        return f"{name} {', '.join(map(version, found))}" if found else ""


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node, at any depth; no import stands inside an expression."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, field, ()):
            # What is imported for annotations alone is not read when a job runs.
            if isinstance(statement, ast.If) and getattr(statement.test, "id", "") == "TYPE_CHECKING":
                continue
            yield statement
            yield from _statements(statement)


@functools.cache
def _files(module: str) -> tuple[Path, ...]:
    parts = module.split(".")
    if parts[0] != PACKAGE.name:
        return ()
    packages = [PACKAGE.joinpath(*parts[1:i], "__init__.py") for i in range(1, len(parts) + 1)]
    modules = [PACKAGE.joinpath(*parts[1:]).with_suffix(".py")]
    rooms = [room for room in folders.ROOMS if module.rpartition(".")[0] == folders.package(room)]
    modules += [root / room / f"{parts[-1]}.py" for root in folders.own() for room in rooms]
    return tuple(_same(file) for file in (*packages, *modules) if file.is_file())


def _above(file: Path) -> list[Path]:
    """Return what importing a file by its name reads before it: the packages that it lies in."""
    root = folders.root_of(file)
    if root is None:
        return []
    # A room of a user's own is imported as part of the package's.
    room = file.relative_to(root).parts[0]
    inside = folders.shelf(PACKAGE, room) if root != PACKAGE and room in folders.ROOMS else file.parent
    return [
        folder / "__init__.py" for folder in (inside, *inside.parents) if folder == PACKAGE or PACKAGE in folder.parents
    ]


@functools.cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@functools.cache
def _below(file: Path) -> str:
    """Return a file's name below the folder of the package or of a user's own, wherever that lies."""
    own = next((root for root in folders.own() if root in file.parents), None)
    return f"own/{file.relative_to(own)}" if own else str(file.relative_to(PACKAGE.parent))


@functools.cache
def _read(file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a file is read with: names and digests of its import closure, of the packages it lies in and of
    what these read beside them; and the libraries that all of them import, with their versions."""
    reached = frozenset().union(*map(closure, map(_same, (file, *_above(file)))))
    libraries = map(_library, frozenset().union(*map(_imports, reached)))
    reached = reached.union(*map(_read_beside, map(_same, {file.parent for file in reached})))
    return frozenset(f"{_below(file)} {_digest(file)}" for file in reached), frozenset(libraries)


def code_hash(files: Iterable[Path]) -> str:
    """Return one hash over the import closures of `files`, what these read and the versions of their libraries.

    Independent of where the checkout lies. The versions are those of the environment that plans the run.
    """
    read = [_read(Path(file)) for file in files]
    lines = [line for part in zip(*read, strict=True) for line in sorted(frozenset().union(*part))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def canonical(value: Any) -> str:
    """Return one text for equal parameters."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def identity(code: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells a job from all others."""
    return {"code_hash": code, "parameters_hash": hashlib.sha256(canonical(parameters).encode()).hexdigest()[:16]}


def attributes(code: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return file attributes that say where a result comes from; no host, path or time, so that bytes are equal."""
    return identity(code, parameters) | {"versions": _versions()}


def warm_up() -> None:
    """Look for the versions of libraries, which takes longer than all else that a job notes of itself.

    Called by the process whose forks are jobs.
    """
    _versions()


@functools.cache
def _versions() -> str:
    libraries = [f"{name} {version(name)}" for name in ("numpy", "scipy", "netCDF4", "xarray", "matplotlib")]
    return ", ".join([f"python {platform.python_version()}", *libraries])
