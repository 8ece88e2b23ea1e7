"""`tf.profiler.experimental.server`: profiling of this program on request."""

from ..service import start_server


def start(port: int) -> None:
    """Serve profiles of this program over gRPC until it exits.

    Anyone with access to the port can have profiles written wherever this program may write: expose
    it to trusted networks only.

    Args:
        port: The port to listen on.
    """
    start_server(port)
