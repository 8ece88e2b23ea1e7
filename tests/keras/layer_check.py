"""One call proves a layer wholly, beside the same layer of Keras 2 (tf_keras).

`layer_check("Dense", {"units": 3}, (2, 4))` makes the layer in both, on inputs of a shape (or on
arrays, or a list of either), and compares: names, shapes, dtypes and order of the weights; config;
outputs and gradients, in training and not, with the same weights; the weights after a call in
training; static shapes. Of Runnel's layer alone: from_config, get_weights and set_weights give an
equal layer; a call on a KerasTensor and compute_output_shape agree with the output; traced equals
eager.
"""

from __future__ import annotations

import os
import warnings
import zlib

import numpy as np

# Some layers of tf_keras look up `tf.keras`, which must then be Keras 2.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

from side_by_side import assert_alike, tensorflow, tf_keras

import runnel
from runnel.core.graph.graph import Graph

TOLERANCE = {"float16": 1e-2, "bfloat16": 8e-2, "float32": 2e-5, "float64": 1e-9}


def layer_check(
    name,
    kwargs,
    inputs,
    *,
    training=(None,),
    gradients=True,
    call=None,
    tolerance=None,
    symbolic=True,
    weights=None,
):
    """Compare a layer with the original's; returns Runnel's, built and with random weights.

    `kwargs` may be a function of (tf, keras) that makes the arguments. `call` are more arguments
    for the call (arrays become tensors).
    """
    arrays = make_inputs(name, inputs)
    theirs = _make(tensorflow, tf_keras, name, kwargs)
    ours = _make(runnel, runnel.keras, name, kwargs)
    call = call or {}
    _call(tensorflow, theirs, arrays, call, None)
    _call(runnel, ours, arrays, call, None)
    assert_same_weights(theirs, ours)
    values = random_weights(theirs) if weights is None else weights
    for mode in training:
        for layer in (theirs, ours):
            layer.set_weights(values)
        run = {"tolerance": tolerance, "gradients": gradients}
        assert_same_call(theirs, ours, arrays, call, mode, **run)
        for want, got in zip(theirs.get_weights(), ours.get_weights(), strict=True):
            assert_close(want, got, tolerance)
    assert_same_config(theirs, ours)
    ours.set_weights(values)
    assert_round_trip(ours, arrays, call, tolerance)
    assert_traced(ours, arrays, call, tolerance)
    if symbolic:
        assert_static_shapes(theirs, ours, arrays)
    return ours


def channels_first_check(name, kwargs, shape):
    """A layer with the channels first does to its inputs what it does to them with channels last.

    The original cannot compute this on a CPU; its static shapes are compared.
    """
    array = make_inputs(name, shape)
    to_last = [0, *range(2, array.ndim), 1]
    first, last = (
        getattr(runnel.keras.layers, name)(**kwargs, data_format=f"channels_{where}")
        for where in ("first", "last")
    )
    moved = runnel.constant(array.transpose(to_last))
    last(moved)
    tensor = runnel.constant(array)
    got = first(tensor)
    last.set_weights(random_weights(last))
    first.set_weights(last.get_weights())
    results = []
    for layer, value in ((first, tensor), (last, moved)):
        with runnel.GradientTape() as tape:
            tape.watch(value)
            result = layer(value)
            total = runnel.reduce_sum(result * result)
        results.append((result, tape.gradient(total, [value, *layer.trainable_weights])))
    (got, got_slopes), (want, slopes) = results
    keeps_rank = want.shape.rank == array.ndim
    assert_close(_to_first(want.numpy()) if keeps_rank else want.numpy(), got.numpy(), None)
    assert_close(_to_first(slopes[0].numpy()), got_slopes[0].numpy(), None)
    for one, other in zip(slopes[1:], got_slopes[1:], strict=True):
        assert_close(one.numpy(), other.numpy(), None)
    theirs = getattr(tf_keras.layers, name)(**kwargs, data_format="channels_first")
    assert tuple(first.compute_output_shape(shape)) == tuple(theirs.compute_output_shape(shape))
    assert tuple(first.compute_output_shape(shape)) == tuple(got.shape)
    assert first.get_config()["data_format"] == "channels_first"
    for rest in ([None] * (len(shape) - 2), shape[2:]):
        unknown = runnel.keras.Input(batch_shape=[None, shape[1], *rest])
        assert first(unknown).shape.is_compatible_with(got.shape)


def _to_first(array):
    return array.transpose([0, array.ndim - 1, *range(1, array.ndim - 1)])


def make_inputs(name, inputs):
    """Arrays as they are; random numbers for shapes."""
    if isinstance(inputs, list):
        return [make_inputs(f"{name}{index}", each) for index, each in enumerate(inputs)]
    if isinstance(inputs, np.ndarray):
        return inputs
    generator = np.random.default_rng(zlib.crc32(f"{name}{inputs}".encode()))
    return generator.normal(size=inputs).astype(np.float32)


def random_weights(layer):
    """Values for all weights, positive where they are variances."""
    values = []
    for index, weight in enumerate(layer.weights):
        generator = np.random.default_rng(1234 + index)
        value = generator.normal(size=tuple(weight.shape))
        if "variance" in weight.name:
            value = np.abs(value) + 0.5
        dtype = np.dtype(getattr(weight.dtype, "as_numpy_dtype", weight.dtype))
        values.append(value.astype(dtype))
    return values


def _make(tf, keras, name, kwargs):
    if callable(kwargs):
        kwargs = kwargs(tf, keras)
    return getattr(keras.layers, name)(**{"name": "probe", **kwargs})


def _tensors(tf, structure):
    if isinstance(structure, list):
        return [_tensors(tf, each) for each in structure]
    return tf.constant(structure) if isinstance(structure, np.ndarray) else structure


def _call(tf, layer, arrays, call, mode):
    kwargs = {key: _tensors(tf, value) for key, value in call.items()}
    if mode is not None:
        kwargs["training"] = mode
    return layer(_tensors(tf, arrays), **kwargs)


def assert_same_weights(theirs, ours):
    described = [
        [(w.name, tuple(w.shape), np.dtype(w.dtype.as_numpy_dtype).name, w.trainable) for w in each]
        for each in (theirs.weights, ours.weights)
    ]
    assert described[1] == described[0], f"{described[1]} instead of {described[0]}"
    assert [w.name for w in ours.trainable_weights] == [w.name for w in theirs.trainable_weights]


def _results(tf, layer, arrays, call, mode, gradients):
    tensors = _tensors(tf, arrays)
    watched = [t for t in tf.nest.flatten(tensors) if t.dtype.is_floating]
    kwargs = {key: _tensors(tf, value) for key, value in call.items()}
    if mode is not None:
        kwargs["training"] = mode
    with tf.GradientTape() as tape:
        tape.watch(watched)
        output = layer(tensors, **kwargs)
        factors = np.random.default_rng(7).normal(size=tuple(output.shape))
        total = tf.reduce_sum(tf.cast(output, tf.float64) * tf.constant(factors))
    slopes = tape.gradient(total, [*watched, *layer.trainable_weights]) if gradients else []
    losses = [tf.convert_to_tensor(each) for each in layer.losses]
    slopes = [None if each is None else tf.convert_to_tensor(each) for each in slopes]
    return output, slopes, losses


def assert_same_call(theirs, ours, arrays, call, mode, gradients=True, tolerance=None):
    want, want_slopes, want_losses = _results(tensorflow, theirs, arrays, call, mode, gradients)
    got, slopes, losses = _results(runnel, ours, arrays, call, mode, gradients)
    assert got.dtype.name == want.dtype.name
    assert_close(want.numpy(), got.numpy(), tolerance)
    assert len(losses) == len(want_losses)
    for one, other in zip(want_losses, losses, strict=True):
        assert_close(one.numpy(), other.numpy(), tolerance)
    for index, (one, other) in enumerate(zip(want_slopes, slopes, strict=True)):
        assert (one is None) == (other is None), f"gradient {index}: {other} for {one}"
        if one is not None:
            loose = 10 * (tolerance or max(TOLERANCE[t.dtype.name] for t in (one, want)))
            assert_close(one.numpy(), other.numpy(), loose)


def assert_close(want, got, tolerance):
    want, got = np.asarray(want), np.asarray(got)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    tolerance = tolerance or TOLERANCE[want.dtype.name]
    want, got = want.astype(np.float64), got.astype(np.float64)
    scale = max(np.abs(want).max(initial=0.0), 1e-3)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale)


def plain(config):
    """A config with the original's own kinds of lists and dicts as Python's."""
    if isinstance(config, dict):
        return {key: plain(value) for key, value in config.items()}
    if isinstance(config, tuple):
        return tuple(plain(each) for each in config)
    if isinstance(config, list):
        return [plain(each) for each in config]
    return config


def assert_same_config(theirs, ours):
    assert_alike(plain(theirs.get_config()), plain(ours.get_config()))


def assert_round_trip(layer, arrays, call, tolerance):
    """An equal layer from the config; with the same weights it gives the same outputs."""
    again = type(layer).from_config(layer.get_config())
    assert plain(again.get_config()) == plain(layer.get_config())
    want = _call(runnel, layer, arrays, call, None).numpy()
    _call(runnel, again, arrays, call, None)
    again.set_weights(layer.get_weights())
    assert_close(want, _call(runnel, again, arrays, call, None).numpy(), tolerance)
    config = runnel.keras.layers.serialize(layer)
    assert type(runnel.keras.layers.deserialize(config)) is type(layer)


def _placeholders(graph, arrays, known):
    if isinstance(arrays, list):
        return [_placeholders(graph, each, known) for each in arrays]
    tensor = runnel.constant(arrays)
    shape = tensor.shape if known else runnel.TensorShape([None, *arrays.shape[1:]])
    return graph.placeholder(tensor.dtype, shape)


def assert_traced(layer, arrays, call, tolerance):
    """In a graph, with the batch size known and not, the layer gives what it gives eagerly."""
    want = _call(runnel, layer, arrays, call, None).numpy()
    for known in (True, False):
        graph = Graph()
        with graph.as_default():
            tensors = _placeholders(graph, arrays, known)
            kwargs = {key: _tensors(runnel, value) for key, value in call.items()}
            output = layer(tensors, **kwargs)
        flat = runnel.nest.flatten(tensors)
        feeds = [
            (tensor, runnel.constant(array)._array)
            for tensor, array in zip(flat, runnel.nest.flatten(arrays), strict=True)
        ]
        (got,) = graph.compute([output], feeds)
        assert output.shape.is_compatible_with(want.shape)
        assert output.shape.rank == want.ndim
        assert_close(want, np.asarray(got), tolerance)
    _assert_function(layer, arrays, call, tolerance)


def _assert_function(layer, arrays, call, tolerance):
    """In a tf.function the layer gives the outputs and gradients that it gives eagerly."""
    tensors = _tensors(runnel, arrays)
    kwargs = {key: _tensors(runnel, value) for key, value in call.items()}

    def step(tensors):
        with runnel.GradientTape() as tape:
            output = layer(tensors, **kwargs)
            loss = runnel.reduce_sum(runnel.cast(output, runnel.float32) ** 2)
        return output, tape.gradient(loss, layer.trainable_variables)

    kept = layer.get_weights()
    want, want_gradients = step(tensors)
    layer.set_weights(kept)
    traced = runnel.function(step)
    for _ in range(2):
        layer.set_weights(kept)
        got, gradients = traced(tensors)
    layer.set_weights(kept)
    assert_close(want.numpy(), got.numpy(), tolerance)
    for a, b in zip(want_gradients, gradients, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            a, b = (np.asarray(runnel.convert_to_tensor(each)) for each in (a, b))
            assert_close(a, b, 10 * (tolerance or TOLERANCE.get(a.dtype.name, 1e-5)))


def assert_static_shapes(theirs, ours, arrays):
    """The shapes of outputs for KerasTensors, and as compute_output_shape says."""
    for unknown in (False, True):
        static = []
        for tf, keras, layer in ((tensorflow, tf_keras, theirs), (runnel, runnel.keras, ours)):
            tensors = tf.nest.map_structure(
                lambda a: keras.Input(
                    batch_shape=[None if unknown else a.shape[0], *a.shape[1:]], dtype=a.dtype.name
                ),
                arrays,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                output = layer(tensors)
            shapes = [[None if unknown else a.shape[0], *a.shape[1:]] for a in _flat(arrays)]
            shape = [tuple(each) for each in shapes] if isinstance(arrays, list) else shapes[0]
            computed = tf.TensorShape(layer.compute_output_shape(shape))
            described = (tuple(output.shape), output.dtype.name)
            # Some of the original's layers keep the batch size that they were built with.
            static.append(described if unknown else (*described, tuple(computed)))
        assert computed.rank == output.shape.rank
        assert static[1] == static[0], f"{static[1]} instead of {static[0]}"


def _flat(arrays):
    return arrays if isinstance(arrays, list) else [arrays]
