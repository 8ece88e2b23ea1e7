"""The workloads in JAX with optax; a graph is `jax.jit` of the whole step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import inputs
from inputs import Sizes
from measure import Work

Step = Callable[[], Any]


def add(jax: Any, sizes: Sizes) -> Work:
    one, two = jax.numpy.float32(1.0), jax.numpy.float32(2.0)

    def step() -> None:
        for _ in range(sizes.operations):
            result = one + two
        result.block_until_ready()

    return Work(step, operations=sizes.operations)


def product(jax: Any, sizes: Sizes) -> Work:
    matrix = jax.numpy.asarray(inputs.layers(((32, 32),))[0])

    def step() -> None:
        for _ in range(sizes.operations):
            result = matrix @ matrix
        result.block_until_ready()

    return Work(step, operations=sizes.operations)


def regression(jax: Any, sizes: Sizes, with_optimizer: bool) -> Step:
    import optax

    years, price = map(jax.numpy.asarray, inputs.prices())
    line = [jax.numpy.zeros(()), jax.numpy.zeros(())]
    optimizer = optax.sgd(5e-4)
    state = optimizer.init(line)
    loss_of = jax.value_and_grad(lambda p: ((p[0] * years + p[1] - price) ** 2).sum())

    def step() -> float:
        nonlocal line, state
        loss, gradients = loss_of(line)
        if with_optimizer:
            updates, state = optimizer.update(gradients, state)
            line = optax.apply_updates(line, updates)
        else:
            line = [p - 5e-4 * g for p, g in zip(line, gradients, strict=True)]
        return float(loss)

    return step


def training(jax: Any, model: Any, weights: Any, data: Any, graph: bool) -> Step:
    import optax

    weights = [jax.numpy.asarray(each) for each in weights]
    examples, labels = map(jax.numpy.asarray, data)
    optimizer = optax.adam(1e-3, eps=1e-7)
    state = optimizer.init(weights)

    def loss_of(weights: Any, examples: Any, labels: Any) -> Any:
        logits = model(weights, examples)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def train(weights: Any, state: Any, examples: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(weights, examples, labels)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(weights, updates), state, loss

    run = jax.jit(train, donate_argnums=(0, 1)) if graph else train

    def step() -> float:
        nonlocal weights, state
        weights, state, loss = run(weights, state, examples, labels)
        return float(loss)

    return step


def mlp(jax: Any, sizes: Sizes, graph: bool) -> Step:
    def model(weights: Any, images: Any) -> Any:
        hidden = jax.nn.relu(images.reshape(len(images), -1) @ weights[0] + weights[1])
        return hidden @ weights[2] + weights[3]

    return training(jax, model, inputs.layers(inputs.MLP), inputs.digits(sizes.batch), graph)


def cnn(jax: Any, sizes: Sizes, graph: bool) -> Step:
    lax = jax.lax

    def stage(images: Any, kernel: Any, bias: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        images = lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=numbers)
        images = jax.nn.relu(images + bias)
        window = (1, 2, 2, 1)
        return lax.reduce_window(images, -jax.numpy.inf, lax.max, window, window, "VALID")

    def model(weights: Any, images: Any) -> Any:
        images = stage(stage(images, *weights[:2]), *weights[2:4])
        hidden = jax.nn.relu(images.reshape(len(images), -1) @ weights[4] + weights[5])
        return hidden @ weights[6] + weights[7]

    return training(jax, model, inputs.layers(inputs.CNN), inputs.digits(sizes.batch), graph)


def rnn(jax: Any, sizes: Sizes, graph: bool, cell: bool = True) -> Step:
    def advance(weights: Any, state: Any, step: Any) -> Any:
        hidden, memory = state
        gates = step @ weights[0] + hidden @ weights[1] + weights[2]
        enter, forget, candidate, leave = jax.numpy.split(gates, 4, axis=-1)
        memory = jax.nn.sigmoid(forget) * memory
        memory += jax.nn.sigmoid(enter) * jax.numpy.tanh(candidate)
        return jax.nn.sigmoid(leave) * jax.numpy.tanh(memory), memory

    def model(weights: Any, characters: Any) -> Any:
        steps = jax.nn.one_hot(characters, inputs.CHARACTERS)
        state = (jax.numpy.zeros((sizes.batch, inputs.UNITS)),) * 2
        if cell:
            for place in range(sizes.steps):
                state = advance(weights, state, steps[:, place])
        else:
            scanned = jax.numpy.swapaxes(steps, 0, 1)
            state, _ = jax.lax.scan(lambda s, x: (advance(weights, s, x), None), state, scanned)
        return state[0] @ weights[3] + weights[4]

    data = inputs.texts(sizes.batch, sizes.steps)
    return training(jax, model, inputs.recurrent_layers(), data, graph)


WORKLOADS: dict[str, Callable[[Any, Sizes], Work | Step]] = {
    "op_add": add,
    "op_matmul32": product,
    "grad_eager": partial(regression, with_optimizer=False),
    "linreg_eager": partial(regression, with_optimizer=True),
    "mlp_eager": partial(mlp, graph=False),
    "mlp_graph": partial(mlp, graph=True),
    "cnn_eager": partial(cnn, graph=False),
    "cnn_graph": partial(cnn, graph=True),
    "rnn_eager": partial(rnn, graph=False),
    "rnn_graph": partial(rnn, graph=True),
    "lstm_layer": partial(rnn, graph=True, cell=False),
}
