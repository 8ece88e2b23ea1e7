"""`python -m runnel` and `install_as_tensorflow`: TensorFlow programs run as they are."""

import importlib.metadata
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest

import runnel

ROOT = Path(runnel.__file__).parent.parent


def run(*arguments, cwd=None, code=0):
    """Run `python` with arguments, check the exit code, and give back what it printed."""
    result = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONIOENCODING": "utf-8"},
    )
    assert result.returncode == code, result.stderr
    return result


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def runnel_command(*arguments, **options):
    return run("-m", "runnel", *map(str, arguments), **options)


def test_a_program_computes_with_runnel(program):
    path = program(
        """
        import tensorflow as tf
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        print(tape.gradient(y, x).numpy(), tf.__name__)
        """
    )
    assert runnel_command(path).stdout == "6.0 runnel\n"


def test_the_program_sees_what_python_would_show_it(program):
    program("value = 42", "neighbour.py")
    path = program(
        """
        import __main__, os, pickle, sys
        import neighbour
        class Point: pass
        assert __main__.Point is Point
        assert type(pickle.loads(pickle.dumps(Point()))) is Point
        print(sys.argv[1:], __name__, neighbour.value, os.path.basename(__file__))
        print(os.path.realpath(sys.path[0]) == os.path.realpath(os.path.dirname(__file__)))
        print(__annotations__ if "__annotations__" in globals() else {}, __spec__, __doc__)
        """
    )
    arguments = ("--flag", "-m", "value")
    with_runnel = runnel_command(path, *arguments).stdout
    assert with_runnel == run(str(path), *arguments).stdout
    assert with_runnel.startswith("['--flag', '-m', 'value'] __main__ 42 program.py\nTrue\n")


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("sys.exit()", 0),
        ("sys.exit(7)", 7),
        ("sys.exit('message')", 1),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("assert False, 'reason'", 1),
        ("x = (", 1),
    ],
)
def test_exit_codes_and_messages_are_pythons(program, statement, code):
    path = program(f"import sys\ndef f():\n    pass\n{statement}\n")
    ours = runnel_command(path, code=code)
    plain = run(str(path), code=code)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


def test_tracebacks_show_the_program_only(program):
    path = program(
        """
        def fail():
            try:
                import tensorflow.lite
            except ImportError as error:
                raise ValueError("no lite") from error
        fail()
        """
    )
    error = runnel_command(path, code=1).stderr
    assert "program.py" in error
    assert "runnel/program" not in error
    assert "importlib" not in error
    assert error.rstrip().endswith("ValueError: no lite")


def test_the_programs_own_excepthook_is_called(program):
    path = program("import sys\nsys.excepthook = lambda *e: print('hook', e[0].__name__)\n1 / 0")
    assert runnel_command(path, code=1).stdout == "hook ZeroDivisionError\n"


def test_module_form(program, tmp_path):
    program("print('package')", "tool/__init__.py")
    program(
        "import sys, tensorflow as tf; print(tf.__name__, __package__, sys.argv[1:])",
        "tool/__main__.py",
    )
    program("import sys; print(__name__, __spec__.name, sys.argv[1:])", "single.py")
    assert runnel_command("-m", "tool", "a", cwd=tmp_path).stdout == (
        "package\nrunnel tool ['a']\n"
    )
    assert runnel_command("-m", "single", "b", cwd=tmp_path).stdout == ("__main__ single ['b']\n")
    assert "No module named absent" in runnel_command("-m", "absent", code=1).stderr
    assert "absent.deeper" in runnel_command("-m", "absent.deeper", code=1).stderr


def test_code_form():
    code = "import sys, tensorflow as tf; print(sys.argv, tf.add(1, 2).numpy(), sys.path[0] == '')"
    assert runnel_command("-c", code, "x").stdout == "['-c', 'x'] 3 True\n"
    assert "SyntaxError" in runnel_command("-c", "x = (", code=1).stderr


def test_a_folder_and_a_zip_file_run(program, tmp_path):
    path = program("import other; print(__name__, other.value)", "app/__main__.py")
    program("value = 1", "app/other.py")
    assert runnel_command(path.parent).stdout == "__main__ 1\n"
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(path, "__main__.py")
        file.write(path.parent / "other.py", "other.py")
    assert runnel_command(archive).stdout == "__main__ 1\n"


def test_future_statements_of_runnel_do_not_leak(program):
    path = program("def f(x: 1 + 1): pass\nprint(f.__annotations__)")
    assert runnel_command(path).stdout == "{'x': 2}\n"


def test_encoding_declarations_are_kept(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("# -*- coding: latin-1 -*-\nprint('é')".encode("latin-1"))
    assert runnel_command(path).stdout == "é\n"


def test_help_and_versions():
    assert runnel_command().stdout == runnel_command("--help").stdout
    assert "python -m runnel program.py" in runnel_command("-h").stdout
    version = runnel_command("--version").stdout
    assert version.startswith(f"Runnel {runnel.RUNNEL_VERSION} (TensorFlow API 2.21.0, Python 3.")
    assert "threads" in runnel_command("--config").stdout


def test_wrong_command_lines():
    assert "can't open file" in runnel_command("absent.py", code=2).stderr
    assert "unknown option --wrong" in runnel_command("--wrong", code=2).stderr
    assert "Argument expected for the -c option" in runnel_command("-c", code=2).stderr


def test_every_import_form_gives_the_same_modules():
    code = """
    import sys
    import runnel
    spec = runnel.__spec__
    runnel.install_as_tensorflow()
    runnel.install_as_tensorflow()
    import tensorflow
    import tensorflow as tf
    import tensorflow.math
    import tensorflow.math as m
    from tensorflow import math, add, Variable
    from tensorflow.math import reduce_sum
    from tensorflow.nest import flatten
    import tensorflow.config.experimental as e
    import tensorflow.config.threading
    assert tensorflow is tf is runnel is sys.modules["tensorflow"]
    assert tensorflow.math is m is math is runnel.math is sys.modules["runnel.math"]
    assert add is runnel.add and Variable is runnel.Variable
    assert reduce_sum is runnel.math.reduce_sum and flatten is runnel.nest.flatten
    assert e is runnel.config.experimental
    assert runnel.__spec__ is spec and runnel.__name__ == "runnel"
    import importlib.util
    assert importlib.util.find_spec("tensorflow.nest") is not None
    print("same")
    """
    assert run("-W", "error", "-c", textwrap.dedent(code)).stdout == "same\n"


@pytest.mark.parametrize("namespace", sorted(runnel._SUBMODULES))
def test_every_namespace_can_be_imported(namespace):
    code = (
        f"import runnel; runnel.install_as_tensorflow(); import tensorflow.{namespace} as n; "
        f"from tensorflow import {namespace}; print(n is {namespace} is runnel.{namespace})"
    )
    assert run("-c", code).stdout == "True\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import tensorflow.absent", "runnel has no tensorflow.absent yet"),
        ("from tensorflow import absent", "runnel has no tensorflow.absent yet"),
        ("from tensorflow.absent import layers", "runnel has no tensorflow.absent yet"),
        ("from tensorflow.math import absent", "runnel has no tensorflow.math.absent yet"),
        ("import tensorflow.math.absent", "runnel has no tensorflow.math.absent yet"),
        ("import tensorflow.add", "it is a name in a module, not a module"),
        ("from tensorflow.python.framework import ops", "not part of its API"),
        ("import tensorflow.core", "runnel has no tensorflow.core yet"),
        ("import tensorflow.ops", "runnel has no tensorflow.ops yet"),
    ],
)
def test_missing_names_are_explained(statement, message):
    code = f"import runnel; runnel.install_as_tensorflow()\n{statement}"
    error = run("-c", code, code=1).stderr
    assert "ModuleNotFoundError" in error
    assert message in error


def test_missing_names_can_be_tried():
    code = """
    import runnel
    runnel.install_as_tensorflow()
    import tensorflow as tf
    for statement in ("import tensorflow.absent", "from tensorflow import absent"):
        try:
            exec(statement)
        except ImportError as error:
            print(error.name)
    print(hasattr(tf, "absent"))
    """
    assert run("-c", textwrap.dedent(code)).stdout == (
        "tensorflow.absent\ntensorflow.absent\nFalse\n"
    )


def test_an_imported_original_is_an_error(program, tmp_path):
    program("version = 'the original'", "tensorflow/__init__.py")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tensorflow, runnel\n"
    error = run("-c", code + "runnel.install_as_tensorflow()", code=1).stderr
    assert "RuntimeError: TensorFlow itself is already imported, from " in error
    assert "before the first `import tensorflow`" in error


def test_runnel_wins_over_an_installed_original(program):
    program("raise RuntimeError('the original was imported')", "tensorflow/__init__.py")
    path = program("import tensorflow as tf; print(tf.__name__)")
    assert runnel_command(path).stdout == "runnel\n"


def test_versions_say_what_they_are_about():
    assert runnel.__version__ == runnel.version.VERSION == "2.21.0"
    assert runnel.show_config(mode="dict")["versions"]["runnel"] == runnel.RUNNEL_VERSION
    try:
        installed = importlib.metadata.version("runnel")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runnel is used from its folder, not installed")
    assert installed == runnel.RUNNEL_VERSION


def test_show_config(capsys):
    assert runnel.show_config() is None
    printed = capsys.readouterr().out
    config = runnel.show_config(mode="dict")
    assert list(config) == ["versions", "engines", "threads"]
    for section, entries in config.items():
        assert section in printed
        assert all(name in printed for name in entries)
    assert config["threads"]["cores"] >= 1
    with pytest.raises(ValueError, match='mode must be "print" or "dict"'):
        runnel.show_config(mode="json")


def descend(years, prices, rate, steps=10_000):
    """Gradient descent on sum((a x + b - y)²) from zero, in float64."""
    x, y = (
        (values - values.min()) / (values.max() - values.min())
        for values in (np.array(years, np.float64), np.array(prices, np.float64))
    )
    a = b = 0.0
    for _ in range(steps):
        error = a * x + b - y
        a, b = a - rate * 2 * (error @ x), b - rate * 2 * error.sum()
    return [a, b]


def test_the_example_of_the_readme():
    lines = runnel_command(ROOT / "examples" / "linear_regression.py").stdout.splitlines()
    prices = [12000, 14000, 15000, 16500, 17500, 19000]
    expected = [
        descend(range(2013, 2018), prices[:5], rate=5e-4),
        descend(range(2015, 2021), prices, rate=1e-3),
    ]
    printed = [[float(value) for value in re.findall(r"= ([\d.]+)", line)[:2]] for line in lines]
    np.testing.assert_allclose(printed, expected, rtol=0, atol=1e-5)
