"""Static shapes while a graph is built: each as the original knows it, sizes known in part."""

import pytest
import tensorflow

import runnel

PROGRAMS = """
tf.tile(x, [tf.shape(x)[0], 1])
tf.tile(x, [1, n])
tf.tile(x, [2, 1])
tf.tile(x, tf.stack([n, 2]))
tf.tile(x, m)
tf.repeat(x, tf.shape(x)[0], axis=0)
tf.repeat(x, 2, axis=0)
tf.repeat(x, 2, axis=1)
tf.repeat(x, n, axis=1)
tf.repeat(x, [1,2,3], axis=1)
tf.repeat(x, 2)
tf.reshape(x, tf.concat([tf.constant([3, 5]), tf.shape(x)[1:]], 0))
tf.reshape(x, [tf.shape(x)[0], 3, 1])
tf.reshape(x, [-1, 3])
tf.reshape(x, [n, -1])
tf.reshape(x, [2, -1])
tf.reshape(y, [-1])
tf.reshape(y, [2, -1])
tf.reshape(x, [-1, tf.shape(x)[1]])
tf.reshape(x, tf.shape(x))
tf.reshape(x, tf.cast(tf.shape(x, out_type=tf.int64), tf.int32))
tf.reshape(x, m)
tf.reshape(x, tf.stack([tf.shape(x)[0], 3]))
tf.reshape(u, [n, 3])
tf.reshape(u, tf.concat([tf.shape(u)[:-1], [2]], 0))
tf.reshape(z, tf.concat([tf.shape(z)[:-1], [2, 2]], 0))
tf.reshape(z, tf.concat([[-1], tf.shape(z)[1:]], 0))
tf.reshape(z, [tf.shape(z)[0], tf.shape(z)[1] * tf.shape(z)[2]])
tf.reshape(z, [tf.shape(z)[0] * tf.shape(z)[1], 4])
tf.reshape(z, [tf.shape(z)[0], tf.reduce_prod(tf.shape(z)[1:])])
tf.reshape(z, [-1, z.shape[2]])
tf.fill(tf.shape(x), 1.)
tf.fill([n, 3], 1.)
tf.fill(tf.concat([[2], tf.shape(x)], 0), 0)
tf.zeros(tf.shape(x))
tf.zeros([n, 3])
tf.zeros([tf.shape(x)[0], 5])
tf.zeros(m)
tf.ones(tf.stack([n, 2]))
tf.zeros_like(x)
tf.broadcast_to(x, [n, 3])
tf.broadcast_to(x, [2, n, 3])
tf.broadcast_to(x, tf.shape(x))
tf.broadcast_to(x, tf.concat([[2], tf.shape(x)], 0))
tf.broadcast_to(x, m)
tf.pad(x, [[1, 1], [0, 2]])
tf.pad(x, [[0, n], [0, 0]])
tf.pad(x, [[0, n], [2, 1]])
tf.pad(x, m2)
tf.slice(x, [0, 0], [n, 2])
tf.slice(x, [0, 1], [-1, 2])
tf.slice(x, [0, 1], [-1, -1])
tf.slice(x, [n, 0], [-1, 3])
tf.slice(x, [0, n], [1, 1])
tf.slice(x, [n, 0], [-1, -1])
tf.slice(x, tf.stack([n, 0]), tf.stack([1, 3]))
tf.slice(y, [0, 0], [n, 2])
x[:, :2]
x[:n]
x[0]
x[:, n]
x[..., tf.newaxis]
x[1:3]
x[::2]
y[n:]
tf.strided_slice(x, [0, n], [2, n+1], [1, 1])
tf.split(x, 3, axis=1)[0]
tf.split(x, 2, axis=0)[0]
tf.split(x, [1, 2], axis=1)[1]
tf.split(x, [n, -1], axis=0)[0]
tf.split(x, m3, axis=1, num=2)[0]
tf.split(y, 2, axis=0)[0]
tf.one_hot(i, 4)
tf.one_hot(i, n)
tf.one_hot(i, 4, axis=0)
tf.one_hot(i, tf.shape(x)[1])
tf.range(n)
tf.range(5)
tf.range(tf.shape(x)[1])
tf.range(0, n, 2)
tf.range(tf.shape(x)[0])
tf.linspace(0., 1., n)
tf.linspace(0., 1., 4)
tf.eye(n)
tf.eye(n, 3)
tf.eye(3)
tf.eye(3, batch_shape=[n])
tf.eye(tf.shape(x)[1])
tf.image.resize(img, [8, 9])
tf.image.resize(img, [n, 9])
tf.image.resize(img, tf.stack([n, n]))
tf.image.resize(img, tf.shape(img)[1:3] * 2)
tf.image.resize_with_pad(img, 8, 9)
tf.image.resize_with_crop_or_pad(img, 8, 9)
tf.image.pad_to_bounding_box(img, 0, 0, 10, 10)
tf.image.crop_to_bounding_box(img, 0, 0, 2, 2)
tf.image.central_crop(img, 0.5)
tf.image.extract_patches(img, [1,2,2,1], [1,2,2,1], [1,1,1,1], 'SAME')
tf.image.crop_and_resize(img, tf.zeros([5,4]), tf.zeros([5], tf.int32), [7, 7])
tf.image.random_crop(img[0], [2, 2, 3])
tf.image.rot90(img)
tf.image.transpose(img)
tf.image.rgb_to_grayscale(img)
tf.random.normal([n, 3])
tf.random.normal(tf.shape(x))
tf.random.uniform([tf.shape(x)[0], 4])
tf.random.truncated_normal(tf.concat([tf.shape(x), [2]], 0))
tf.random.stateless_uniform([n, 3], [1, 2])
tf.random.stateless_normal(tf.shape(x), [1, 2])
tf.random.gamma([n, 2], x)
tf.random.gamma([4], x)
tf.random.poisson([4], x)
tf.random.categorical(x, 5)
tf.random.categorical(x, n)
tf.random.shuffle(x)
tf.random.stateless_binomial([n, 3], [1, 2], 5., 0.5)
tf.sequence_mask(i)
tf.sequence_mask(i, 5)
tf.sequence_mask(i, n)
tf.gather(x, i)
tf.gather(x, [0, 1])
tf.gather(x, i, axis=1)
tf.gather(z, i2, axis=1, batch_dims=1)
tf.gather_nd(x, i2)
tf.gather_nd(x, [[0]])
tf.scatter_nd([[0]], [[1., 2., 3.]], tf.shape(x))
tf.scatter_nd([[0]], [1.], [n])
tf.scatter_nd([[0]], [[1., 2.]], [n, 2])
tf.tensor_scatter_nd_update(x, [[0]], [[1., 2., 3.]])
tf.concat([x, x], 0)
tf.concat([x, x], 1)
tf.concat([x, y], 0)
tf.concat([x, u], 1)
tf.stack([x, y])
tf.stack([x, x], axis=2)
tf.unstack(y)[0]
tf.transpose(x)
tf.transpose(z, [2, 0, 1])
tf.transpose(z, m3b)
tf.expand_dims(x, 0)
tf.expand_dims(x, -1)
tf.squeeze(tf.expand_dims(x, 1), 1)
tf.squeeze(x)
tf.squeeze(tf.zeros([1, 3, 1]))
tf.matmul(x, y, transpose_b=True)
tf.matmul(z, tf.ones([4, 5]))
tf.einsum('ij,jk->ik', x, tf.ones([3, 2]))
tf.einsum('bij,bjk->bik', z, tf.transpose(z, [0, 2, 1]))
tf.tensordot(x, tf.ones([3, 2]), 1)
tf.tensordot(z, tf.ones([4, 2]), [[2], [0]])
tf.reduce_sum(x, 0)
tf.reduce_sum(x, n)
tf.reduce_sum(x, [n])
tf.reduce_sum(x, -1, keepdims=True)
tf.reduce_sum(u)
tf.reduce_sum(u, 1)
tf.argmax(x, 1)
tf.argmax(x, n)
tf.cumsum(x, 1)
tf.math.top_k(x, 2).values
tf.math.top_k(x, n).values
tf.sort(x)
tf.argsort(x)
tf.unique(i)[0]
tf.where(x > 0)
tf.where(x > 0, x, 0.)
tf.where(u > 0, x, 0.)
tf.boolean_mask(x, i > 0)
tf.boolean_mask(x, x > 0)
tf.reverse(x, [0])
tf.roll(x, n, 0)
tf.space_to_batch(img, [2, 2], [[0, 0], [0, 0]])
tf.batch_to_space(img, [2, 2], [[0, 0], [0, 0]])
tf.nn.space_to_depth(tf.reshape(img, [-1, 4, 4, 3]), 2)
tf.nn.conv2d(img, tf.ones([3, 3, 3, 5]), 1, 'SAME')
tf.nn.conv2d(img, tf.ones([3, 3, 3, 5]), 2, 'VALID')
tf.nn.conv2d(img4, tf.ones([3, 3, 3, 5]), 2, 'VALID')
tf.nn.conv2d_transpose(img, tf.ones([3, 3, 5, 3]), [n, 8, 8, 5], 2)
tf.nn.conv2d_transpose(img, tf.ones([3, 3, 5, 3]), tf.stack([tf.shape(img)[0], 8, 8, 5]), 2)
tf.nn.conv2d_transpose(img, tf.ones([3, 3, 5, 3]), tf.shape(img), 1)
tf.nn.depthwise_conv2d(img, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.max_pool2d(img, 2, 2, 'SAME')
tf.nn.avg_pool2d(img4, 2, 2, 'VALID')
tf.nn.embedding_lookup(y, i)
tf.nn.softmax(u)
tf.nn.bias_add(img, tf.ones([3]))
tf.nn.dropout(x, 0.5)
tf.nn.moments(x, [0])[0]
tf.nn.l2_normalize(x, 1)
tf.nn.sparse_softmax_cross_entropy_with_logits(i, x)
tf.nn.in_top_k(i, x, 1)
tf.nn.ctc_loss(i2, z, i, i, blank_index=0)
tf.linalg.diag(x)
tf.linalg.diag_part(z)
tf.linalg.band_part(x, 1, 1)
tf.linalg.inv(tf.zeros([n, 3, 3]))
tf.linalg.svd(x)[1]
tf.linalg.qr(x)[0]
tf.linalg.trace(z)
tf.linalg.set_diag(x, i3)
tf.linalg.cross(x, x)
tf.signal.frame(x, 2, 1)
tf.signal.frame(y, 2, 1, axis=0)
tf.signal.stft(x, 4, 2)
tf.signal.rfft(x, [n])
tf.signal.rfft(x)
tf.signal.fft(tf.cast(x, tf.complex64))
tf.signal.overlap_and_add(z, 2)
tf.signal.hann_window(n)
tf.math.bincount(i)
tf.math.bincount(i, minlength=5, maxlength=5)
tf.math.unsorted_segment_sum(x, i, 4)
tf.math.unsorted_segment_sum(x, i, n)
tf.math.segment_sum(x, i)
tf.math.confusion_matrix(i, i, 4)
tf.math.confusion_matrix(i, i)
tf.strings.split(s)
tf.strings.join([s, s])
tf.strings.to_number(s)
tf.strings.substr(s, 0, 1)
tf.strings.reduce_join(s)
tf.strings.bytes_split(s)
tf.io.decode_raw(s, tf.uint8)
tf.io.parse_tensor(s[0], tf.float32)
tf.map_fn(lambda r: r * 2, x)
tf.map_fn(lambda r: tf.zeros([n]), x)
tf.scan(lambda a, b: a + b, x)
tf.foldl(lambda a, b: a + b, x)
tf.vectorized_map(lambda r: r * 2, x)
tf.cond(n > 0, lambda: x, lambda: y)
tf.cond(n > 0, lambda: x, lambda: x[:2])
tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * 2), (0, x))[1]
tf.TensorArray(tf.float32, 3).unstack(y2).stack()
tf.TensorArray(tf.float32, n, element_shape=[3]).stack()
tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3]).write(0, tf.ones([3])).stack()
tf.TensorArray(tf.float32, n, element_shape=[3]).gather(i)
tf.TensorArray(tf.float32, n, element_shape=[None, 3]).concat()
tf.TensorArray(tf.float32, n).stack()
tf.ensure_shape(u, [None, 3])
tf.shape(x)
tf.shape(u)
tf.shape_n([x, y])[0]
tf.size(x)
tf.rank(u)
tf.identity(u)
tf.stop_gradient(x)
tf.cast(x, tf.int32)
x + y
x + u
x * tf.ones([1, 3])
tf.ones([5, 1]) + x[0]
x @ tf.transpose(x)
tf.maximum(x, tf.ones([2, 1]))
tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))
tf.meshgrid(i, tf.range(3))[0]
tf.searchsorted(x, x)
tf.histogram_fixed_width(i3, [0., 1.])
tf.dynamic_partition(x, i, 2)[0]
tf.dynamic_stitch([i], [x])
tf.sparse.to_dense(tf.sparse.from_dense(x))
tf.sparse.from_dense(x).indices
tf.sparse.from_dense(x)
tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x), tf.ones([3, 2]))
tf.RaggedTensor.from_row_lengths(x, i).to_tensor()
tf.RaggedTensor.from_row_lengths(x, i)
tf.RaggedTensor.from_tensor(z)
tf.numpy_function(lambda a: a, [x], tf.float32)
tf.py_function(lambda a: a, [x], tf.float32)
tf.nest.flatten(tf.meshgrid(x[0], x[0]))[1]
tf.unravel_index(i, [3, 4])
tf.bitcast(x, tf.uint8)
tf.math.reduce_logsumexp(x, 1)
tf.math.cumulative_logsumexp(x)
tf.clip_by_norm(x, 1.)
tf.linalg.matvec(z, tf.ones([4]))
tf.linalg.norm(x, axis=1)
""".strip().splitlines()


def specs(tf):
    return {
        "x": tf.TensorSpec([None, 3]),
        "y": tf.TensorSpec([2, 3]),
        "y2": tf.TensorSpec([3, 3]),
        "u": tf.TensorSpec(None),
        "z": tf.TensorSpec([None, None, 4]),
        "n": tf.TensorSpec([], tf.int32),
        "m": tf.TensorSpec([2], tf.int32),
        "m2": tf.TensorSpec([2, 2], tf.int32),
        "m3": tf.TensorSpec([2], tf.int32),
        "m3b": tf.TensorSpec([3], tf.int32),
        "i": tf.TensorSpec([None], tf.int32),
        "i2": tf.TensorSpec([None, 1], tf.int32),
        "i3": tf.TensorSpec([None]),
        "img": tf.TensorSpec([None, None, None, 3]),
        "img4": tf.TensorSpec([None, 9, 9, 3]),
        "s": tf.TensorSpec([None], tf.string),
    }


def static_shapes(tf):
    found = {}

    def function(**values):
        for text in PROGRAMS:
            try:
                found[text] = str(eval(text, {**values, "tf": tf}).shape)
            except Exception as error:
                found[text] = type(error).__name__
        return tf.constant(0)

    tf.function(function, autograph=False).get_concrete_function(**specs(tf))
    return found


def test_static_shapes_as_in_the_original():
    assert static_shapes(runnel) == static_shapes(tensorflow)


def test_static_values_in_part():
    def program(tf):
        found = []

        def function(n):
            for value in (tf.stack([3, n]), tf.stack([n, n]), tf.stack([[1, n], [2, 3]])):
                found.append(tf.get_static_value(value, partial=True).tolist())
                found.append(tf.get_static_value(value))
            found.append(tf.get_static_value(tf.stack([n]) + 1, partial=True))
            return n

        tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([], tf.int32))
        found += [tf.get_static_value(value) for value in (5, [1, 2], "a", None)]
        found += [tf.get_static_value(tf.Variable(1.0)), tf.get_static_value(tf.constant(3))]
        return str(found)

    assert program(runnel) == program(tensorflow)


@pytest.mark.parametrize(
    "text",
    [
        "tf.fill([tf.shape(z)[0], tf.shape(z)[2] * 2], n)",
        "tf.tile(x, tf.stack([n, 2]) * [1, 3])",
        "tf.reshape(x, tf.shape(x)[::-1])",
        "tf.fill(tf.maximum(tf.shape(x), 2), 1.0)",
        "tf.zeros(tf.gather(tf.shape(z), [2, 0]))",
        "tf.pad(x, [[0, n], [2, 1]])",
    ],
)
def test_what_is_known_in_part_is_right(text):
    """A static shape never contradicts the sizes of the result."""
    values = {"x": runnel.ones([5, 3]), "z": runnel.ones([2, 3, 4]), "n": runnel.constant(2)}
    shapes = []

    def function(x, z, n):
        result = eval(text, {"tf": runnel, "x": x, "z": z, "n": n})
        shapes.append(result.shape)
        return result

    signature = [specs(runnel)[name] for name in "xzn"]
    result = runnel.function(function, autograph=False, input_signature=signature)(**values)
    assert shapes[0].is_compatible_with(result.shape)
    assert any(size is not None for size in shapes[0])
