"""Run TensorFlow programs unmodified: `import tensorflow` means Runnel.

`install_as_tensorflow()` does it for the running program, `python -m runnel program.py` for a
program from outside.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType, TracebackType
from typing import Any

# `import runnel` loads this file, so what only running a program needs is imported there, and
# the import hooks go without their abstract base classes, which cost more than all the rest.

USAGE = """\
usage: python -m runnel program.py [arguments]
       python -m runnel -m module [arguments]
       python -m runnel -c code [arguments]
       python -m runnel command [arguments]

Runs a TensorFlow 2 program, unmodified, on Runnel: its `import tensorflow as tf` means Runnel.

  -m module   run a module found on the import path, as `python -m` does
  -c code     run the code given as a string, as `python -c` does
  --version   print the versions of Runnel, of the API it offers, of Python and NumPy
  --config    print the engines, threads and versions in use
  --help      print this

The commands, of which `python -m runnel command --help` tells more (a program of the same name
runs as ./name):
"""

# The rooms of this package that are not part of TensorFlow's API.
_OWN_NAMES = frozenset(
    {
        "commands",
        "core",
        "engines",
        "formats",
        "ops",
        "program",
        "release",
        "show_config",
        "testing",
    }
)


def install_as_tensorflow() -> None:
    """Make `import tensorflow`, in all its forms, give Runnel from now on in this program.

    An installed TensorFlow is left alone but no longer found. It must not be imported already.

        import runnel
        runnel.install_as_tensorflow()
        import tensorflow as tf            # is runnel
        from tensorflow.math import add    # is runnel.math.add
    """
    runnel = importlib.import_module(__package__)
    present = sys.modules.get("tensorflow", runnel)
    if present is not runnel:
        raise RuntimeError(
            "TensorFlow itself is already imported, from "
            f"{getattr(present, '__file__', 'an unknown place')}. Call "
            "runnel.install_as_tensorflow() before the first `import tensorflow` of the program, "
            "or run the program with `python -m runnel`."
        )
    if not any(isinstance(finder, _TensorFlowFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TensorFlowFinder())
        sys.meta_path.append(_MissingNames())


class _TensorFlowFinder:
    """Answers every import of `tensorflow` and what is below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root != "tensorflow":
            return None
        found = _namespace(rest.split(".") if rest else [])
        if found is None:
            raise ModuleNotFoundError(_explain_missing(fullname), name=fullname)
        loader: Any = _Alias(found)
        return ModuleSpec(fullname, loader, is_package=True)


class _MissingNames:
    """Explains `from tensorflow import x` where there is no x; asked after all other finders.

    Python looks for a submodule of the module it got, whose own name is runnel.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        root, _, rest = fullname.partition(".")
        own = rest.startswith("_") or rest.partition(".")[0] in _OWN_NAMES
        if root == __package__ and not own:
            name = f"tensorflow.{rest}"
            raise ModuleNotFoundError(_explain_missing(name), name=name)


class _Alias:
    """Puts an existing module under a second name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # The import system gives the importer what stands in sys.modules after this call; the
        # empty module it made for the occasion is dropped, so Runnel's own keeps its identity.
        spec = module.__spec__
        assert spec is not None
        if not hasattr(self._module, "__path__"):
            # Namespaces that are one file may still have namespaces inside as attributes;
            # without a path the import system would not even ask for them.
            self._module.__path__ = []
        sys.modules[spec.name] = self._module


def _namespace(names: list[str]) -> ModuleType | None:
    """The module of Runnel at a place of TensorFlow's API, None where there is none."""
    runnel = importlib.import_module(__package__)
    if names[:2] == ["compat", "v2"]:
        names = names[2:]
    found: Any = runnel
    for depth, name in enumerate(names):
        if name.startswith("_") or (depth == 0 and name in _OWN_NAMES):
            return None
        found = getattr(found, name, None)
        if not isinstance(found, ModuleType):
            return None
    return found if isinstance(found, ModuleType) else None


def _explain_missing(fullname: str) -> str:
    if fullname == "tensorflow.python" or fullname.startswith("tensorflow.python."):
        return (
            f"runnel has no {fullname}: tensorflow.python is the inside of the original, not part "
            "of its API. Import the same name from the public tensorflow namespace."
        )
    value = getattr(_namespace(fullname.split(".")[1:-1]), fullname.rpartition(".")[2], None)
    if value is not None and not isinstance(value, ModuleType):
        return f"No module named {fullname!r}: it is a name in a module, not a module"
    return f"runnel has no {fullname} yet"


def main(arguments: list[str]) -> int:
    """Do what a command line asks for; the result is the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_usage(), end="")
        return 0
    first, rest = arguments[0], arguments[1:]
    if first in ("-V", "--version"):
        print(_version_line())
        return 0
    if first == "--config":
        importlib.import_module(".show_config", __package__).show_config()
        return 0
    if first in ("-m", "-c") and not rest:
        return _complain(f"Argument expected for the {first} option", _usage(), code=2)
    if first == "-m":
        return _run_module(rest[0], rest[1:])
    if first == "-c":
        _prepare_path("")
        return _run_source(rest[0], "<string>", ["-c", *rest[1:]])
    if first.startswith("-"):
        return _complain(f"unknown option {first}", _usage(), code=2)
    if first in _commands():
        command = importlib.import_module(f".commands.{first}", __package__)
        return int(command.main(rest))
    return _run_file(first, arguments)


def _commands() -> dict[str, str]:
    commands: dict[str, str] = importlib.import_module(".commands", __package__).COMMANDS
    return commands


def _usage() -> str:
    return USAGE + "".join(f"  {name:<12}{what}\n" for name, what in _commands().items())


def _version_line() -> str:
    versions = importlib.import_module(".show_config", __package__).versions()
    return "Runnel {runnel} (TensorFlow API {api}, Python {python}, NumPy {numpy})".format(
        **versions
    )


def _complain(message: str, usage: str = "", *, code: int = 1) -> int:
    print(f"{sys.executable}: {message}\n{usage}".rstrip(), file=sys.stderr)
    return code


def _prepare_path(first: str) -> None:
    """Replace the current directory, which `python -m` put first, by what Python would put."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = first


def _run_file(name: str, argv: list[str]) -> int:
    import pkgutil

    path = os.path.abspath(name)
    importer = pkgutil.get_importer(path)
    if importer is not None:
        # A folder or a zip file with a __main__.py inside runs as a program too.
        spec = importer.find_spec("__main__")
        if spec is None:
            return _complain(f"can't find '__main__' module in {name!r}")
        sys.path.insert(0, path)
        return _run(_code_of(spec), argv, spec)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        return _complain(f"can't open file {path!r}: {reason}", code=2)
    _prepare_path(os.path.dirname(os.path.realpath(path)))
    return _run_source(source, path, argv, file=path)


def _run_source(source: bytes | str, name: str, argv: list[str], file: str | None = None) -> int:
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return _report(error)
    return _run(code, argv, file=file)


def _run_module(name: str, arguments: list[str]) -> int:
    from importlib.util import find_spec

    install_as_tensorflow()
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        return _complain(f"Error while finding module specification for {name!r} ({error})")
    if spec is None:
        return _complain(f"No module named {name}")
    return _run(_code_of(spec), [spec.origin or name, *arguments], spec)


def _code_of(spec: ModuleSpec) -> CodeType:
    code: CodeType = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
    return code


def _run(
    code: CodeType, argv: list[str], spec: ModuleSpec | None = None, file: str | None = None
) -> int:
    """Run code as the program `__main__`; exceptions and exit codes come out as from Python."""
    install_as_tensorflow()
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = importlib.import_module("builtins")
    if spec is not None:
        module.__spec__, module.__loader__ = spec, spec.loader
        module.__package__ = spec.parent
        file = spec.origin
    if file is not None:
        module.__file__ = file
    sys.modules["__main__"] = module
    sys.argv[:] = argv
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        return _report(error)
    return 0


def _report(error: BaseException) -> int:
    """Print an exception that ended the program, without the frames of this file."""
    part: BaseException | None = error
    seen: set[int] = set()
    while part is not None and id(part) not in seen:
        seen.add(id(part))
        part.__traceback__ = _without_own_frames(part.__traceback__)
        part = part.__cause__ or part.__context__
    # What `python -i` and a debugger started afterwards look at.
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)
    # A shell reports a program ended by Ctrl-C as 128 + SIGINT.
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _without_own_frames(entry: TracebackType | None) -> TracebackType | None:
    own_file = _without_own_frames.__code__.co_filename
    kept = []
    while entry is not None:
        if entry.tb_frame.f_code.co_filename != own_file:
            kept.append(entry)
        entry = entry.tb_next
    result = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result
