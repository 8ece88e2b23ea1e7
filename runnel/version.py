"""`tf.version`: the level of the TensorFlow API that Runnel offers, and Runnel's own version.

`VERSION` (and `tf.__version__`) is the release of TensorFlow whose API this is, because programs
compare it with "2.x" to know what they may call. `RUNNEL_VERSION` is the package's own.
"""

RUNNEL_VERSION = "0.1.0"

VERSION = "2.21.0"
GIT_VERSION = f"runnel-{RUNNEL_VERSION}"
COMPILER_VERSION = "none (pure Python)"

GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
