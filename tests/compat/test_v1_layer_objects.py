"""Layers as objects, in graphs: their variables, and their results at the second call."""

import numpy as np
import pytest
from both_v1 import agree

# The original says of these classes that there are newer ones.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RANDOM = np.random.RandomState(0)
SEQUENCES = RANDOM.randn(2, 6, 3).astype(np.float32)
IMAGES = RANDOM.randn(2, 6, 6, 3).astype(np.float32)
VOLUMES = RANDOM.randn(1, 3, 4, 4, 2).astype(np.float32)

LAYERS = {
    "Dense": (SEQUENCES[:, 0], lambda k, i: k(4, activation="tanh", kernel_initializer=i)),
    "Conv1D": (SEQUENCES, lambda k, i: k(4, 2, kernel_initializer=i)),
    "Conv2D": (IMAGES, lambda k, i: k(4, [3, 3], 2, "same", kernel_initializer=i, name="own")),
    "Conv3D": (VOLUMES, lambda k, i: k(2, 2, kernel_initializer=i)),
    "Conv2DTranspose": (IMAGES, lambda k, i: k(2, 3, 2, kernel_initializer=i)),
    "Conv3DTranspose": (VOLUMES, lambda k, i: k(2, 2, kernel_initializer=i)),
    "SeparableConv1D": (
        SEQUENCES, lambda k, i: k(4, 2, depthwise_initializer=i, pointwise_initializer=i)
    ),
    "SeparableConv2D": (
        IMAGES, lambda k, i: k(4, 2, depthwise_initializer=i, pointwise_initializer=i)
    ),
    "MaxPooling1D": (SEQUENCES, lambda k, i: k(2, 2)),
    "MaxPooling2D": (IMAGES, lambda k, i: k([2, 2], [2, 1])),
    "AveragePooling2D": (IMAGES, lambda k, i: k(2, 2, "same")),
    "AveragePooling3D": (VOLUMES, lambda k, i: k(2, 1)),
    "Flatten": (IMAGES, lambda k, i: k()),
    "Dropout": (SEQUENCES, lambda k, i: k(0.5)),
    "BatchNormalization": (SEQUENCES, lambda k, i: k(momentum=0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    def program(v1, tf):
        x, make = LAYERS[name]
        layer = make(getattr(v1.layers, name), v1.random_uniform_initializer(-1, 1, seed=3))
        with v1.variable_scope("net"):
            first, second = layer(x), layer.apply(x * 2.0)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return [
                session.run([first, second]), [v.name for v in v1.global_variables()],
                [v.name for v in layer.trainable_variables], len(layer.weights),
            ]  # fmt: skip

    agree(program, rtol=1e-4, atol=1e-5)


def test_two_layers_and_their_parts():
    def program(v1, tf):
        one, two = v1.layers.Dense(3, kernel_regularizer=tf.nn.l2_loss), v1.layers.Dense(2)
        y = two(one(SEQUENCES[:, 0]))
        batch = v1.layers.BatchNormalization()
        batch(y, training=True)
        return [
            one.kernel.name, two.bias.name, one.units, len(one.losses), len(batch.updates),
            len(v1.losses.get_regularization_losses()), [v.name for v in batch.variables],
        ]  # fmt: skip

    agree(program)
