"""Train a digit classifier in one process, test it in another: saving and restoring variables.

    python -m runnel save_and_restore.py --mode=train
    python -m runnel save_and_restore.py --mode=test

Training saves a checkpoint every 100 batches. Testing is a new process, which makes the model
anew and gives it the values of the latest checkpoint.
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description="Train or test an MLP that is kept in a checkpoint.")
parser.add_argument("--mode", default="train", choices=["train", "test"])
parser.add_argument("--num_epochs", default=1, type=int)
parser.add_argument("--batch_size", default=50, type=int)
parser.add_argument("--learning_rate", default=0.001, type=float)
parser.add_argument("--folder", default="./save", help="where the checkpoints are")
args = parser.parse_args()


class MLP(tf.keras.Model):
    """784 pixels, 100 hidden units, 10 digits."""

    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=100, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):
        x = self.flatten(inputs)
        x = self.dense1(x)
        x = self.dense2(x)
        return tf.nn.softmax(x)


class Digits:
    """Images from 0 to 1 and labels, in random batches."""

    def __init__(self):
        path = pathlib.Path(__file__).parent / "data" / "mnist10k.npz"
        with np.load(path) as data:
            self.train_x = np.expand_dims(data["x_train"].astype(np.float32) / 255.0, -1)
            self.test_x = np.expand_dims(data["x_test"].astype(np.float32) / 255.0, -1)
            self.train_y = data["y_train"].astype(np.int32)
            self.test_y = data["y_test"].astype(np.int32)

    def batch(self, size):
        """A random batch for training."""
        index = np.random.randint(0, len(self.train_x), size)
        return self.train_x[index], self.train_y[index]


def train(digits):
    """Train a new model, and save it every 100 batches."""
    model = MLP()
    optimizer = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    checkpoint = tf.train.Checkpoint(my_awesome_model=model)
    num_batches = len(digits.train_x) // args.batch_size * args.num_epochs
    for batch_index in range(1, num_batches + 1):
        x, y = digits.batch(args.batch_size)
        with tf.GradientTape() as tape:
            y_pred = model(x)
            loss = tf.keras.losses.sparse_categorical_crossentropy(y_true=y, y_pred=y_pred)
            loss = tf.reduce_mean(loss)
        gradients = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(grads_and_vars=zip(gradients, model.variables, strict=True))
        if batch_index % 100 == 0:
            path = checkpoint.save(f"{args.folder}/model.ckpt")
            print(f"batch {batch_index}: loss {loss.numpy():.4f}, saved to {path}")


def test(digits):
    """Test the model of the latest checkpoint."""
    model_to_be_restored = MLP()
    # The name is the one that the model was saved under.
    checkpoint = tf.train.Checkpoint(my_awesome_model=model_to_be_restored)
    checkpoint.restore(tf.train.latest_checkpoint(args.folder)).expect_partial()
    y_pred = np.argmax(model_to_be_restored.predict(digits.test_x, verbose=0), axis=-1)
    print(f"test accuracy: {np.mean(y_pred == digits.test_y):.4f}")


if __name__ == "__main__":
    np.random.seed(1)
    tf.random.set_seed(1)
    if args.mode == "train":
        train(Digits())
    else:
        test(Digits())
