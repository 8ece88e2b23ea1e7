"""The workloads in PyTorch; a graph is `torch.compile` of the model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import inputs
import numpy as np
from inputs import Sizes
from measure import Work

Step = Callable[[], Any]


def add(torch: Any, sizes: Sizes) -> Work:
    one, two = torch.tensor(1.0), torch.tensor(2.0)

    def step() -> None:
        for _ in range(sizes.operations):
            one + two

    return Work(step, operations=sizes.operations)


def product(torch: Any, sizes: Sizes) -> Work:
    matrix = torch.from_numpy(inputs.layers(((32, 32),))[0])

    def step() -> None:
        for _ in range(sizes.operations):
            torch.matmul(matrix, matrix)

    return Work(step, operations=sizes.operations)


def regression(torch: Any, sizes: Sizes, with_optimizer: bool) -> Step:
    years, price = map(torch.from_numpy, inputs.prices())
    line = [torch.zeros((), requires_grad=True) for _ in range(2)]
    optimizer = torch.optim.SGD(line, lr=5e-4)

    def step() -> float:
        loss = torch.square(line[0] * years + line[1] - price).sum()
        if with_optimizer:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            gradients = torch.autograd.grad(loss, line)
            with torch.no_grad():
                for variable, gradient in zip(line, gradients, strict=True):
                    variable -= 5e-4 * gradient
        return loss.item()

    return step


def training(torch: Any, model: Any, data: Any, graph: bool) -> Step:
    examples, labels = torch.from_numpy(data[0]), torch.from_numpy(data[1]).long()
    optimizer = adam(torch, model)
    forward = torch.compile(model) if graph else model

    def step() -> float:
        loss = torch.nn.functional.cross_entropy(forward(examples), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def adam(torch: Any, model: Any) -> Any:
    return torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)


def with_weights(torch: Any, model: Any, weights: Iterable[np.ndarray]) -> Any:
    """Set weights in TensorFlow's layout in a model with output-major weights."""
    with torch.no_grad():
        for parameter, array in zip(model.parameters(), weights, strict=True):
            if array.ndim == 4:
                array = array.transpose(3, 2, 0, 1)
            parameter.copy_(
                torch.from_numpy(np.ascontiguousarray(array.T if array.ndim == 2 else array))
            )
    return model


def perceptron(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
    return with_weights(torch, model, inputs.layers(inputs.MLP))


def mlp(torch: Any, sizes: Sizes, graph: bool) -> Step:
    return training(torch, perceptron(torch), inputs.digits(sizes.batch), graph)


def cnn(torch: Any, sizes: Sizes, graph: bool) -> Step:
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10),
    )  # fmt: skip
    weights = inputs.layers(inputs.CNN)
    # Flattened there channels-first.
    weights[4] = weights[4].reshape(7, 7, 64, 1024).transpose(2, 0, 1, 3).reshape(3136, 1024)
    images, labels = inputs.digits(sizes.batch)
    images = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    return training(torch, with_weights(torch, model, weights), (images, labels), graph)


def rnn(torch: Any, sizes: Sizes, graph: bool, cell: bool = True) -> Step:
    nn = torch.nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if cell:
                self.recurrent = nn.LSTMCell(inputs.CHARACTERS, inputs.UNITS)
            else:
                self.recurrent = nn.LSTM(inputs.CHARACTERS, inputs.UNITS, batch_first=True)
            self.classes = nn.Linear(inputs.UNITS, inputs.CHARACTERS)

        def forward(self, characters: Any) -> Any:
            steps = nn.functional.one_hot(characters, inputs.CHARACTERS).float()
            if not cell:
                return self.classes(self.recurrent(steps)[0][:, -1])
            state = (torch.zeros(sizes.batch, inputs.UNITS),) * 2
            for place in range(sizes.steps):
                state = self.recurrent(steps[:, place], state)
            return self.classes(state[0])

    kernel, recurrent, bias, output, output_bias = inputs.recurrent_layers()
    weights = [kernel, recurrent, bias, bias, output, output_bias]
    characters, following = inputs.texts(sizes.batch, sizes.steps)
    model = with_weights(torch, Recurrent(), weights)
    return training(torch, model, (characters.astype(np.int64), following), graph)


def q_network(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(
        nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2)
    )
    return with_weights(torch, model, inputs.layers(inputs.DQN))


def dqn_act(torch: Any, sizes: Sizes) -> Step:
    network, state = q_network(torch), inputs.replay(sizes.replayed)[0][:1]

    def step() -> None:
        with torch.no_grad():
            int(network(torch.from_numpy(state)).argmax(-1)[0])

    return step


def dqn(torch: Any, sizes: Sizes) -> Step:
    network, batch = q_network(torch), inputs.replay(sizes.replayed)
    optimizer = adam(torch, network)

    def step() -> float:
        states, actions, rewards, following, ends = map(torch.from_numpy, batch)
        with torch.no_grad():
            int(network(states[:1]).argmax(-1)[0])
            target = rewards + 0.99 * network(following).max(1).values * (1.0 - ends)
        chosen = (network(states) * torch.nn.functional.one_hot(actions.long(), 2)).sum(1)
        loss = torch.square(target - chosen).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def fit(torch: Any, sizes: Sizes) -> Step:
    """A loop written by hand, with the mean loss and the accuracy that `fit` reports."""
    images, labels = map(torch.from_numpy, inputs.digits(sizes.training_rows))
    labels, model = labels.long(), perceptron(torch)
    optimizer = adam(torch, model)

    def step() -> None:
        total, right = torch.zeros(()), torch.zeros(())
        for rows in torch.randperm(len(images)).split(50):
            logits = model(images[rows])
            loss = torch.nn.functional.cross_entropy(logits, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            right += (logits.detach().argmax(1) == labels[rows]).sum()
        total.item(), right.item()

    return step


def predict(torch: Any, sizes: Sizes) -> Step:
    images, model = torch.from_numpy(inputs.digits(sizes.test_rows)[0]), perceptron(torch).eval()

    def step() -> Any:
        with torch.inference_mode():
            return torch.cat([model(rows) for rows in images.split(32)]).numpy()

    return step


def evaluate(torch: Any, sizes: Sizes) -> Step:
    images, labels = map(torch.from_numpy, inputs.digits(sizes.test_rows))
    labels, model = labels.long(), perceptron(torch).eval()

    def step() -> None:
        total, right = torch.zeros(()), torch.zeros(())
        with torch.inference_mode():
            for rows, wanted in zip(images.split(32), labels.split(32), strict=True):
                logits = model(rows)
                total += torch.nn.functional.cross_entropy(logits, wanted, reduction="sum")
                right += (logits.argmax(1) == wanted).sum()
        total.item(), right.item()

    return step


def loaded(torch: Any, sizes: Sizes, rotate: bool) -> Step:
    images, labels = map(torch.from_numpy, inputs.digits(sizes.training_rows))

    class Rotated(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(images)

        def __getitem__(self, index: int) -> Any:
            return torch.rot90(images[index], 1, (0, 1)), labels[index]

    dataset = Rotated() if rotate else torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(dataset, batch_size=50, shuffle=True)

    def step() -> None:
        for _ in loader:
            pass

    return step


def checkpoint(torch: Any, sizes: Sizes, restore: bool) -> Work:
    model = torch.nn.Sequential(*[torch.nn.Linear(sizes.wide, sizes.wide) for _ in range(4)])
    optimizer = adam(torch, model)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    path = Path(tempfile.mkdtemp()) / "model.pt"

    def save() -> None:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    def load() -> None:
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])

    if not restore:
        return Work(save, after=path.unlink)
    save()
    return Work(load)


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
    "lstm_layer": partial(rnn, graph=False, cell=False),
    "dqn_act": dqn_act,
    "dqn_eager": dqn,
    "fit_epoch": fit,
    "predict": predict,
    "evaluate": evaluate,
    "data_shuffle_batch": partial(loaded, rotate=False),
    "data_map_rot90": partial(loaded, rotate=True),
    "checkpoint_save": partial(checkpoint, restore=False),
    "checkpoint_restore": partial(checkpoint, restore=True),
}
