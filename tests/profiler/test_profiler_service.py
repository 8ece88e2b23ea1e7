"""The profiler's service, with Runnel and the original on either side; loopback only."""

import contextlib
import socket
import threading

import pytest

import runnel as tf

tensorflow = pytest.importorskip("tensorflow")
xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def busy(library):
    """The library multiplies in another thread meanwhile."""
    ended = threading.Event()
    square = library.function(lambda x: library.matmul(x, x))
    x = library.ones([20, 20])
    square(x)

    def work():
        while not ended.wait(0.001):
            square(x)

    thread = threading.Thread(target=work, name="busy")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture(scope="module")
def served():
    """The ports that both libraries serve on."""
    ports = {library: free_port() for library in (tf, tensorflow)}
    for library, port in ports.items():
        library.profiler.experimental.server.start(port)
    return ports


@pytest.mark.parametrize(
    ("client", "server"), [(tf, tf), (tensorflow, tf), (tf, tensorflow)], ids=["own", "to", "from"]
)
def test_trace(client, server, served, tmp_path, capfd):
    address = f"grpc://localhost:{served[server]}"
    with busy(server):
        client.profiler.experimental.client.trace(address, str(tmp_path), 150)
    assert "Starting to trace for 150 ms. Remaining attempt(s): 2" in capfd.readouterr().out
    (file,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    assert file.name == f"localhost_{served[server]}.xplane.pb"
    space = xplane_pb2.XSpace.FromString(file.read_bytes())
    names = {each.name for plane in space.planes for each in plane.event_metadata.values()}
    assert any(name.endswith(":MatMul") for name in names)


def test_monitor(served):
    with busy(tf):
        text = tf.profiler.experimental.client.monitor(f"grpc://localhost:{served[tf]}", 100)
    assert text.splitlines()[0].split()[:3] == ["op", "calls", "total"]
    assert "MatMul" in text
    with pytest.raises(RuntimeError, match="UNIMPLEMENTED"):
        tf.profiler.experimental.client.monitor(f"grpc://localhost:{served[tensorflow]}", 10)


def test_a_second_profile_is_refused(served):
    tf.profiler.experimental.start("unused")
    try:
        with pytest.raises(RuntimeError, match="ALREADY_EXISTS: Another profiler is running"):
            tf.profiler.experimental.client.monitor(f"grpc://localhost:{served[tf]}", 10)
    finally:
        tf.profiler.experimental.stop(save=False)


def test_names_from_outside_lead_nowhere_else(served, tmp_path):
    from runnel.profiler.service import request_profile
    from runnel.profiler.session import ProfilerOptions

    address = f"localhost:{served[tf]}"
    with busy(tf):
        assert request_profile(address, str(tmp_path), "../../up", 50, ProfilerOptions())
    (file,) = tmp_path.glob("*/*.xplane.pb")
    assert file.parent.name == "_.._up"


def test_nothing_ran(served, tmp_path, capfd):
    address = f"grpc://localhost:{served[tf]}"
    with pytest.raises(RuntimeError, match="UNAVAILABLE: No trace event was collected"):
        tf.profiler.experimental.client.trace(address, str(tmp_path), 10, num_tracing_attempts=2)
    printed = capfd.readouterr().out
    assert "Remaining attempt(s): 0" in printed and "Automatically retrying" in printed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", [tensorflow, tf])
def test_mistakes_of_clients(library, tmp_path):
    client = library.profiler.experimental.client
    closed = f"grpc://localhost:{free_port()}"
    with pytest.raises(library.errors.InvalidArgumentError, match="duration_ms"):
        client.trace(closed, str(tmp_path), 0)
    with pytest.raises(RuntimeError, match='INVALID_ARGUMENT: Could not interpret ""'):
        client.trace("", str(tmp_path), 10)
    with pytest.raises(RuntimeError, match="UNAVAILABLE"):
        client.trace(closed, str(tmp_path), 10, num_tracing_attempts=1)
    with pytest.raises(RuntimeError, match="UNAVAILABLE"):
        client.monitor(closed, 10)
    with pytest.raises(TypeError):
        library.profiler.experimental.server.start("port")


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(tf.errors.UnavailableError, match=f"cannot listen on port {port}"):
            tf.profiler.experimental.server.start(port)
