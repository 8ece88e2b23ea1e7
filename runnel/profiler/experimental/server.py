"""`tf.profiler.experimental.server`: profiles of this program, asked for from outside."""

from ..service import start_server


def start(port: int) -> None:
    """Serve profiles of this program over gRPC until it ends.

    Whoever reaches the port can have profiles written where this program may write: open it to
    trusted networks only.

    Args:
        port: Where to listen.
    """
    start_server(port)
