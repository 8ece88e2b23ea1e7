"""tf.test: Testing of numerical code."""

from .program import (
    main as main,
)
