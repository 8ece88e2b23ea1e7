"""Text generation: an LSTM learns to guess the next character, then writes on by itself.

A plain TensorFlow 2 program. It learns from Nietzsche's writings, from Keras's cache or the net;
without a net, from the Python language reference that comes with Python.
"""

import argparse

import numpy as np
import tensorflow as tf

ORIGIN = "https://s3.amazonaws.com/text-datasets/nietzsche.txt"
TEMPERATURES = [0.2, 0.5, 1.0, 1.2]


def load_text():
    """The name of a text and the text, in lower case."""
    try:
        path = tf.keras.utils.get_file("nietzsche.txt", origin=ORIGIN)
    except Exception:  # What Keras raises where there is no net.
        from pydoc_data.topics import topics

        return "the Python language reference", "\n\n".join(topics.values()).lower()
    with open(path, encoding="utf-8") as file:
        return "nietzsche.txt", file.read().lower()


class Text:
    """A text as the numbers of its characters."""

    def __init__(self, text):
        self.characters = sorted(set(text))
        number = {character: index for index, character in enumerate(self.characters)}
        self.numbers = np.array([number[character] for character in text], dtype=np.int32)

    def batch(self, size, length):
        """Random pieces of the text, and for every character in them the one that follows."""
        starts = np.random.randint(0, len(self.numbers) - length, size)
        pieces = self.numbers[starts[:, np.newaxis] + np.arange(length + 1)]
        return pieces[:, :-1], pieces[:, 1:]

    def string(self, numbers):
        """The characters of these numbers."""
        return "".join(self.characters[number] for number in numbers)


class Writer(tf.keras.Model):
    """An LSTM over the characters of a piece, and after each a score for every next one."""

    def __init__(self, characters):
        super().__init__()
        self.characters = characters
        self.lstm = tf.keras.layers.LSTM(256, return_sequences=True)
        self.dense = tf.keras.layers.Dense(characters)

    def call(self, inputs):
        return self.dense(self.lstm(tf.one_hot(inputs, depth=self.characters)))

    def next(self, pieces, temperature):
        """Draw the next characters: the likely ones at low temperature, any at a high one."""
        scores = self(pieces)[:, -1]
        chances = tf.nn.softmax(scores / temperature).numpy().astype(np.float64)
        return np.array([np.random.choice(len(p), p=p / p.sum()) for p in chances])


def train(model, text, steps, batch_size, length):
    """Lower the cross entropy of the characters that follow, batch by batch."""
    optimizer = tf.keras.optimizers.Adam(learning_rate=3e-3)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for step in range(1, steps + 1):
        pieces, following = text.batch(batch_size, length)
        with tf.GradientTape() as tape:
            loss = loss_of(following, model(pieces))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        if step % 50 == 0 or step == steps:
            print(f"step {step}: loss {loss.numpy():.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Learn to write like a text.")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--length", type=int, default=40, help="characters to guess from")
    parser.add_argument("--write", type=int, default=300, help="characters to write")
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    name, content = load_text()
    text = Text(content)
    print(f"learning from {name}: {len(content)} characters, {len(text.characters)} different")
    model = Writer(len(text.characters))
    train(model, text, options.steps, options.batch_size, options.length)
    start, _ = text.batch(1, options.length)
    print(f"\nfrom: {text.string(start[0])!r}")
    for temperature in TEMPERATURES:
        written = start
        for _ in range(options.write):
            following = model.next(written[:, -options.length :], temperature)
            written = np.concatenate([written, following[:, np.newaxis]], axis=1)
        print(f"\ntemperature {temperature}:\n{text.string(written[0, options.length :])}")


if __name__ == "__main__":
    main()
