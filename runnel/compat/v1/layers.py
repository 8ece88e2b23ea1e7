"""tf.compat.v1.layers: layers as functions, whose variables `variable_scope` can reuse."""

from __future__ import annotations

import contextlib as _contextlib
import functools as _functools

import runnel as _tf

from .building import add_to_collection as _add_to_collection
from .keys import GraphKeys as _Keys
from .scopes import (
    VariableScope as _VariableScope,
    get_variable as _get_variable,
    variable_scope as _variable_scope,
)


class _Scoped:
    """A layer whose weights come from `get_variable`, in a variable scope of its name."""

    def add_weight(
        self,
        name=None,
        shape=None,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=True,
        constraint=None,
        **options,
    ):
        """Get the variable of this name in the layer's scope."""
        kind = _tf.as_dtype(dtype or self.dtype or _tf.float32)
        make = None if initializer is None else _tf.keras.initializers.get(initializer)
        if make is not None:
            make = _functools.partial(_filled_by, make)
        variable = _get_variable(
            name, shape, kind, make, regularizer, trainable and self.trainable,
            constraint=constraint,
        )  # fmt: skip
        if not any(variable is each for each in self._tracked):
            self._tracked.append(variable)
        return variable


def _filled_by(make, shape, dtype=None):
    return make(shape, dtype=dtype)


def _scoped(kind):
    """Keras's layer class with weights from `get_variable`."""
    return type(kind.__name__, (_Scoped, kind), {"__doc__": kind.__doc__, "__module__": __name__})


@_contextlib.contextmanager
def _entered(name, default_name, reuse):
    """The variable scope of a layer, which an object of a class here has entered itself."""
    if isinstance(name, _VariableScope):
        yield name
    else:
        with _variable_scope(name, default_name=default_name, reuse=reuse) as scope:
            yield scope


def _apply(kind, default_name, inputs, name, reuse, arguments, **call):
    """Call a layer in a variable scope of its name."""
    with _entered(name, default_name, reuse) as scope:
        layer = kind(name=scope.name.rsplit("/", 1)[-1] or default_name, **arguments)
        before = len(layer.losses) if _tf.executing_eagerly() else 0
        layer.build(_tf.convert_to_tensor(inputs).shape)
        layer.built = True
        outputs = layer(inputs, **call)
        if not _tf.executing_eagerly() and layer._activity_regularizer is not None:
            for loss in layer.losses[before:]:
                _add_to_collection(_Keys.REGULARIZATION_LOSSES, loss)
    return outputs


@_functools.cache
def _class(name):
    return _scoped(getattr(_tf.keras.layers, name))


def dense(
    inputs,
    units,
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer="zeros",
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """activation(inputs · kernel + bias)."""
    arguments = {
        "units": units, "activation": activation, "use_bias": use_bias,
        "kernel_initializer": kernel_initializer, "bias_initializer": bias_initializer,
        "kernel_regularizer": kernel_regularizer, "bias_regularizer": bias_regularizer,
        "activity_regularizer": activity_regularizer, "kernel_constraint": kernel_constraint,
        "bias_constraint": bias_constraint, "trainable": trainable,
    }  # fmt: skip
    return _apply(_class("Dense"), "dense", inputs, name, reuse, arguments)


def _convolution(name, default_name, rank, summary):
    ones = 1 if rank == 1 else (1,) * rank

    def function(
        inputs,
        filters,
        kernel_size,
        strides=ones,
        padding="valid",
        data_format="channels_last",
        dilation_rate=ones,
        activation=None,
        use_bias=True,
        kernel_initializer=None,
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        reuse=None,
    ):
        given = dict(locals())
        arguments = {key: given[key] for key in _CONVOLUTION}
        return _apply(_class(class_name), default_name, inputs, name, reuse, arguments)

    class_name = name
    function.__name__ = function.__qualname__ = default_name
    function.__doc__ = summary
    return function


_CONVOLUTION = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
    "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
    "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint",
    "trainable",
)  # fmt: skip
conv1d = _convolution("Conv1D", "conv1d", 1, "Convolution of sequences.")
conv2d = _convolution("Conv2D", "conv2d", 2, "Convolution of images.")
conv3d = _convolution("Conv3D", "conv3d", 3, "Convolution of volumes.")


def conv2d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer="zeros",
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """The transposed convolution of images."""
    given = dict(locals())
    arguments = {key: given[key] for key in _CONVOLUTION if key != "dilation_rate"}
    return _apply(_class("Conv2DTranspose"), "conv2d_transpose", inputs, name, reuse, arguments)


def conv3d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer="zeros",
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """The transpose of a convolution of volumes."""
    given = dict(locals())
    arguments = {key: given[key] for key in _CONVOLUTION if key != "dilation_rate"}
    return _apply(_class("Conv3DTranspose"), "conv3d_transpose", inputs, name, reuse, arguments)


def _separable(name, default_name, ones, summary):
    def function(
        inputs,
        filters,
        kernel_size,
        strides=ones,
        padding="valid",
        data_format="channels_last",
        dilation_rate=ones,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer=None,
        pointwise_initializer=None,
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        reuse=None,
    ):
        given = dict(locals())
        left_out = ("class_name", "default_name", "inputs", "name", "reuse")
        arguments = {key: value for key, value in given.items() if key not in left_out}
        return _apply(_class(class_name), default_name, inputs, name, reuse, arguments)

    class_name = name
    function.__name__ = function.__qualname__ = default_name
    function.__doc__ = summary
    return function


separable_conv1d = _separable(
    "SeparableConv1D", "separable_conv1d", 1, "Convolution of each channel, and then of points."
)
separable_conv2d = _separable(
    "SeparableConv2D", "separable_conv2d", (1, 1),
    "Convolution of each channel, and then of points.",
)  # fmt: skip


def _pooling(name, default_name, data_format, summary):
    def function(inputs, pool_size, strides, padding="valid", data_format=data_format, name=None):
        layer = getattr(_tf.keras.layers, class_name)
        return layer(pool_size, strides, padding, data_format)(inputs)

    class_name = name
    function.__name__ = function.__qualname__ = default_name
    function.__doc__ = summary
    return function


max_pooling1d = _pooling(
    "MaxPooling1D", "max_pooling1d", "channels_last", "The largest element of each window."
)
max_pooling2d = _pooling(
    "MaxPooling2D", "max_pooling2d", "channels_last", "The largest element of each window."
)
max_pooling3d = _pooling(
    "MaxPooling3D", "max_pooling3d", "channels_last", "The largest element of each window."
)
average_pooling1d = _pooling(
    "AveragePooling1D", "average_pooling1d", "channels_last", "The mean of each window."
)
average_pooling2d = _pooling(
    "AveragePooling2D", "average_pooling2d", "channels_last", "The mean of each window."
)
average_pooling3d = _pooling(
    "AveragePooling3D", "average_pooling3d", "channels_last", "The mean of each window."
)


def flatten(inputs, name=None, data_format="channels_last"):
    """Flatten all dimensions but the first."""
    return _tf.keras.layers.Flatten(data_format)(inputs)


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """Dropout: in training, some elements are zeroed and the rest scaled up."""
    if training is False:
        return _tf.identity(inputs)
    if training is True:
        return _tf.nn.dropout(inputs, rate, noise_shape, seed)
    return _tf.cond(
        training,
        lambda: _tf.nn.dropout(inputs, rate, noise_shape, seed),
        lambda: _tf.identity(inputs),
    )


def batch_normalization(
    inputs,
    axis=-1,
    momentum=0.99,
    epsilon=1e-3,
    center=True,
    scale=True,
    beta_initializer="zeros",
    gamma_initializer="ones",
    moving_mean_initializer="zeros",
    moving_variance_initializer="ones",
    beta_regularizer=None,
    gamma_regularizer=None,
    beta_constraint=None,
    gamma_constraint=None,
    training=False,
    trainable=True,
    name=None,
    reuse=None,
    renorm=False,
    renorm_clipping=None,
    renorm_momentum=0.99,
    fused=None,
    virtual_batch_size=None,
    adjustment=None,
):
    """Batch normalization; in training, the updates of its moving averages are in UPDATE_OPS."""
    if renorm or virtual_batch_size or adjustment:
        raise ValueError(
            "Batch normalization has no renorm, virtual_batch_size or adjustment here; leave them "
            "out."
        )
    x = _tf.convert_to_tensor(inputs)
    axis = axis if isinstance(axis, int) else next(iter(axis))
    axis = axis % x.shape.rank
    size = x.shape[axis]
    shape = [size if each == axis else 1 for each in range(x.shape.rank)]
    others = [each for each in range(x.shape.rank) if each != axis]
    with _entered(name, "batch_normalization", reuse):

        def weight(title, initializer, regularizer, constraint, trained):
            make = _functools.partial(_filled_by, _tf.keras.initializers.get(initializer))
            return _get_variable(
                title, [size], x.dtype, make, regularizer, trained and trainable,
                constraint=constraint,
            )  # fmt: skip

        gamma = beta = None
        if scale:
            gamma = weight("gamma", gamma_initializer, gamma_regularizer, gamma_constraint, True)
        if center:
            beta = weight("beta", beta_initializer, beta_regularizer, beta_constraint, True)
        mean = weight("moving_mean", moving_mean_initializer, None, None, False)
        variance = weight("moving_variance", moving_variance_initializer, None, None, False)
        fused = fused is not False and x.shape.rank == 4
        averages = (mean, variance)
        used = _statistics(x, others, averages, momentum, training, fused, trainable)
        whole = (*used, beta, gamma)
        parts = [None if each is None else _tf.reshape(each, shape) for each in whole]
        return _tf.nn.batch_normalization(x, *parts, epsilon)


def _statistics(x, axes, averages, momentum, training, fused, trainable):
    """The mean and variance to normalize with; in training, those of the batch.

    The moving averages are updated only where the layer is trainable.
    """
    if training is False:
        return averages

    def of_batch():
        mean, variance = _tf.nn.moments(x, axes)
        kept = variance
        if fused:
            # The moving averages use the unbiased variance.
            count = _tf.cast(_tf.size(x) / _tf.size(mean), x.dtype)
            kept = variance * count / _tf.maximum(count - 1.0, 1.0)
        return mean, variance, kept

    if training is True:
        mean, variance, kept = of_batch()
        rate = _tf.constant(1.0 - momentum, x.dtype)
    else:
        training = _tf.cast(training, _tf.bool)
        mean, variance, kept = _tf.cond(
            training, of_batch, lambda: (*[_tf.identity(each) for each in averages],
                                         _tf.identity(averages[1])),
        )  # fmt: skip
        rate = _tf.cast(training, x.dtype) * (1.0 - momentum)
    if not trainable:
        return mean, variance
    for average, now in zip(averages, (mean, kept), strict=True):
        update = average.assign_sub((average.read_value() - now) * rate, read_value=False)
        if not _tf.executing_eagerly():
            _add_to_collection(_Keys.UPDATE_OPS, update)
    return mean, variance


_CLASSES = {
    "AveragePooling1D": ("average_pooling1d",), "AveragePooling2D": ("average_pooling2d",),
    "AveragePooling3D": ("average_pooling3d",),
    "BatchNormalization": ("batch_normalization", ("training",)), "Conv1D": ("conv1d",),
    "Conv2D": ("conv2d",), "Conv2DTranspose": ("conv2d_transpose",), "Conv3D": ("conv3d",),
    "Conv3DTranspose": ("conv3d_transpose",), "Dense": ("dense",),
    "Dropout": ("dropout", ("training",)), "Flatten": ("flatten",),
    "MaxPooling1D": ("max_pooling1d",), "MaxPooling2D": ("max_pooling2d",),
    "MaxPooling3D": ("max_pooling3d",), "SeparableConv1D": ("separable_conv1d",),
    "SeparableConv2D": ("separable_conv2d",),
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "InputSpec":
        return _tf.keras.layers.InputSpec
    if name in _CLASSES:
        from .layer_objects import made_class

        made = globals()[name] = made_class(name, *_CLASSES[name])
        return made
    raise AttributeError(f"module 'runnel.compat.v1.layers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_CLASSES, "InputSpec"})
