"""tf.config, tf.device and tf.DeviceSpec: the same programs on TensorFlow and on Runnel.

The settings belong to a process, so each program runs in processes of its own; what it prints,
exception classes included, must be the same.
"""

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import tensorflow

import runnel
from runnel.core import context, devices
from runnel.runtime.blas_threads import threads_in_use as blas_threads

ROOT = Path(runnel.__file__).parent.parent

PREAMBLE = """
import tensorflow as tf
config, experimental = tf.config, tf.config.experimental

def show(function, *args):
    try:
        print(args, "->", function(*args))
    except Exception as error:
        print(args, "raised", type(error).__name__)

cpu = config.list_physical_devices("CPU")[0]
gpu = config.PhysicalDevice("/physical_device:GPU:0", "GPU")
one = config.LogicalDeviceConfiguration()
"""

DEVICES = """
for kind in (None, "CPU", "GPU", "cpu", "OTHER"):
    show(config.list_physical_devices, kind)
    show(config.get_visible_devices, kind)
print(config.LogicalDevice("a", "b"), config.LogicalDevice("a", "b") == ("a", "b"))
print(config.LogicalDeviceConfiguration(100), one._fields)
show(config.get_logical_device_configuration, cpu)
show(config.get_logical_device_configuration, gpu)
show(config.set_logical_device_configuration, gpu, [one])
show(config.set_logical_device_configuration, "CPU", [one])
show(config.set_logical_device_configuration, cpu, None)
for option in one._fields:
    show(config.set_logical_device_configuration, cpu, [one._replace(**{option: 1})])
show(config.get_logical_device_configuration, cpu)
show(experimental.set_memory_growth, cpu, True)
show(config.set_logical_device_configuration, cpu, [one] * 3)
show(experimental.set_memory_growth, cpu, True)
show(config.get_logical_device_configuration, cpu)
show(experimental.get_virtual_device_configuration, cpu)
for devices, kind in ((None, None), ("CPU", None), ([gpu], None), ([cpu], "GPU"), ([], "GPU"),
                      ([], None), (cpu, "CPU"), ((cpu,), None), ([cpu], "OTHER")):
    show(config.set_visible_devices, devices, kind)
    show(config.get_visible_devices)
show(config.list_logical_devices)
show(config.list_logical_devices, "GPU")
show(config.set_logical_device_configuration, cpu, [one] * 3)
show(config.set_logical_device_configuration, cpu, [one] * 2)
show(config.set_visible_devices, [cpu])
show(config.set_visible_devices, [])
"""

SETTINGS = """
threading, optimizer = config.threading, config.optimizer
show(threading.get_inter_op_parallelism_threads)
show(threading.get_intra_op_parallelism_threads)
show(threading.set_inter_op_parallelism_threads, 3)
show(threading.set_intra_op_parallelism_threads, 1)
show(threading.get_inter_op_parallelism_threads)
show(threading.get_intra_op_parallelism_threads)
config.list_logical_devices()
show(threading.set_inter_op_parallelism_threads, 3)
show(threading.set_inter_op_parallelism_threads, 4)
show(threading.set_intra_op_parallelism_threads, 1)
show(threading.set_intra_op_parallelism_threads, 2)
show(config.get_soft_device_placement)
show(config.set_soft_device_placement, False)
show(config.get_soft_device_placement)
for value in (1, 0, True, False, "yes"):
    show(config.run_functions_eagerly, value)
    show(config.functions_run_eagerly)
    show(config.experimental_functions_run_eagerly)
for device in (cpu, gpu, "CPU:0"):
    show(experimental.get_memory_growth, device)
    show(experimental.set_memory_growth, device, True)
    show(experimental.get_device_details, device)
for device in ("CPU:0", "cpu", "GPU:0", "other", "CPU:1", "/device:CPU:0", 3, cpu, ""):
    show(experimental.get_memory_info, device)
    show(experimental.get_memory_usage, device)
    show(experimental.reset_memory_stats, device)
show(experimental.get_device_policy)
for policy in ("silent", "explicit", "warn", "silent_for_int32", None, "other"):
    show(experimental.set_device_policy, policy)
    show(experimental.get_device_policy)
show(experimental.get_synchronous_execution)
for value in (False, None, True):
    show(experimental.set_synchronous_execution, value)
    show(experimental.get_synchronous_execution)
print(experimental.tensor_float_32_execution_enabled())
for value in (False, 1, "yes"):
    try:
        experimental.enable_tensor_float_32_execution(value)
    except Exception as error:
        print(type(error).__name__)
    print(experimental.tensor_float_32_execution_enabled())
show(optimizer.get_jit)
for value in (True, False, "autoclustering", "other", 1, None):
    optimizer.set_jit(value)
    show(optimizer.get_jit)
show(optimizer.get_experimental_options)
for options in ({"constant_folding": True}, {"other": True}, {"min_graph_nodes": 3}, None,
                {"layout_optimizer": 0, "debug_stripper": 1}, {"constant_folding": None},
                {"remapping": "yes"}):
    show(optimizer.set_experimental_options, options)
    print(sorted(optimizer.get_experimental_options().items()))
"""

PLACEMENT = """
config.set_logical_device_configuration(cpu, [one] * 3)
names = ["CPU", "cpu:0", "/CPU:0", "/cpu:2", "/device:CPU:1", "device:CPU:1", "Cpu:1", "",
         "/job:localhost/replica:0/task:0/device:CPU:1", "/job:localhost", "/task:0", None, "GPU:0",
         "CPU:7", "/job:worker/task:0", "other", "OTHER:0", "/other:0", "cpu:*", "/device:cpu:*",
         3, b"CPU:1", cpu, "CPU:", "CPU:x", "/device:CPU:01", "XLA_CPU:0", "/replica:1", "TPU:0",
         "/cpu:1/cpu:2", "/gpu:0/cpu:1", "/device:TPU_SYSTEM:0", tf.DeviceSpec(device_type="CPU"),
         config.LogicalDevice("/device:CPU:1", "CPU"), print]

def place(name):
    with tf.device(name):
        tf.constant(1)

def place_inside(name):
    with tf.device("CPU:1"), tf.device(name):
        tf.constant(1)

for soft in (False, True):
    config.set_soft_device_placement(soft)
    for name in names:
        show(place, name)
        show(place_inside, name)
tf.device("other")
scope = tf.device("CPU:1")
with scope:
    with scope:
        pass
print("entered twice")
"""

SPECS = """
def parse(name):
    spec = tf.DeviceSpec.from_string(name)
    return (spec.to_string(), spec.job, spec.replica, spec.task, spec.device_type,
            spec.device_index, spec)

for name in ["", "/", "CPU", "/cpu:0", "gpu:1", "/device:GPU:*", "/job:ps/cpu:0", "job:ps", None,
             "/job:a/replica:1/task:2/device:CPU:3", "/job:a/job:b", "/task:x", "/device:CPU",
             "/device:other:1", "/TPU:0", "/device:CPU:0/device:GPU:0", "other:1", "/replica:-1",
             "/cpu:*", "*", "/job:", "/device:", "/job:a:b", "//cpu:0", "cpu:0:1", "/Job:a",
             "/DEVICE:cpu:0", "/EPU:0", "xpu:1", "/custom:1", 3]:
    show(parse, name)
spec = tf.DeviceSpec(job="w", replica=1, task=2, device_type="cpu", device_index=3)
print(spec, spec == tf.DeviceSpec("w", 1, 2, "CPU", 3), spec == "/job:w", spec.device_type)
print(hash(spec) == hash(tf.DeviceSpec("w", 1, 2, "CPU", 3)))
for parts in ({"task": 5}, {"task": None}, {"other": 1}, {"replica": "x"}, {"device_index": "4"}):
    def replace():
        return spec.replace(**parts).to_string()
    show(replace)
def merge(first, second):
    return first.make_merged_spec(second).to_string()
open_specs = [tf.DeviceSpec(), tf.DeviceSpec(job="j"), tf.DeviceSpec(device_type="GPU"), spec,
              tf.DeviceSpec(device_index=3), tf.DeviceSpec(device_type="CPU", device_index=1)]
for first in open_specs:
    print(first.to_string(), first.parse_from_string("/cpu:1"))
    for second in open_specs:
        show(merge, first, second)
"""


def output(command):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    "program", [DEVICES, SETTINGS, PLACEMENT, SPECS], ids=["devices", "settings", "place", "specs"]
)
def test_programs_print_the_same(program, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PREAMBLE) + program)
    ours = output([sys.executable, "-m", "runnel", str(path)])
    theirs = output([sys.executable, str(path)])
    assert ours == theirs
    assert len(theirs) > 20


@pytest.fixture
def fresh_settings(monkeypatch):
    """Settings of a program that has just started; the other modules see them too."""
    settings = devices.Settings()
    for module in (devices, runnel.config, runnel.config.experimental, runnel.config.threading):
        monkeypatch.setattr(module, "settings", settings)
    return settings


def test_the_scope_sets_the_device_of_the_thread(fresh_settings):
    cpu = runnel.config.list_physical_devices("CPU")[0]
    configuration = [runnel.config.LogicalDeviceConfiguration()] * 2
    runnel.config.set_logical_device_configuration(cpu, configuration)
    task = "/job:localhost/replica:0/task:0"
    assert context.state.device is None
    with runnel.device("CPU:1"):
        assert context.state.device == f"{task}/device:CPU:1"
        with runnel.device("/job:localhost"):
            assert context.state.device == f"{task}/device:CPU:1"
        with runnel.device("GPU:0"):
            assert context.state.device == f"{task}/device:CPU:0"
        with runnel.device(None):
            assert context.state.device is None
        assert context.state.device == f"{task}/device:CPU:1"
    assert context.state.device is None


def test_a_failed_scope_leaves_the_device_alone(fresh_settings):
    runnel.config.set_soft_device_placement(False)
    with runnel.device("CPU:0"):
        before = context.state.device
        with (
            pytest.raises(runnel.errors.InvalidArgumentError, match="All available devices"),
            runnel.device("GPU:0"),
        ):
            pass
        assert context.state.device == before
    with pytest.raises(ZeroDivisionError), runnel.device("CPU:0"):
        1 / 0  # noqa: B018
    assert context.state.device is None


def test_no_visible_processor(fresh_settings):
    runnel.config.set_visible_devices([], "CPU")
    with pytest.raises(runnel.errors.NotFoundError, match="No CPU devices are available"):
        runnel.config.list_logical_devices()


def test_log_device_placement_names_operations_until_it_is_switched_off(fresh_settings, capsys):
    assert devices.get_log_device_placement() is False
    devices.set_log_device_placement(True)
    try:
        assert devices.get_log_device_placement() is True
        runnel.add(1, 2)
        cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
        assert capsys.readouterr().err == f"Executing op AddV2 in device {cpu}\n"
    finally:
        devices.set_log_device_placement(False)
    runnel.add(1, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(blas_threads() is None, reason="NumPy uses another BLAS than OpenBLAS")
def test_intra_op_threads_reach_numpy(fresh_settings):
    before = blas_threads()
    try:
        runnel.config.threading.set_intra_op_parallelism_threads(1)
        assert blas_threads() == 1
    finally:
        runnel.config.threading.set_intra_op_parallelism_threads(0)
    assert blas_threads() == before


@pytest.mark.parametrize("count", ["2", 2.5, None])
def test_thread_counts_are_whole_numbers(fresh_settings, count):
    for kind in ("inter", "intra"):
        with pytest.raises(TypeError):
            getattr(runnel.config.threading, f"set_{kind}_op_parallelism_threads")(count)


@pytest.mark.parametrize("count", [True, "a", 2.5])
def test_a_wrong_node_count_changes_nothing(count):
    optimizer = runnel.config.optimizer
    before = optimizer.get_experimental_options()
    with pytest.raises(TypeError):
        optimizer.set_experimental_options({"min_graph_nodes": count})
    assert optimizer.get_experimental_options() == before


def test_device_specs_pickle():
    spec = runnel.DeviceSpec(job="worker", device_type="CPU", device_index=np.int64(1))
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_specs_of_the_original_are_no_specs_of_ours():
    assert runnel.DeviceSpec(job="a") != tensorflow.DeviceSpec(job="a")
