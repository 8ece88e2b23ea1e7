"""Training that keeps its last three checkpoints, numbered by batch, and goes on from the latest.

python -m runnel checkpoint_manager.py --mode=train
python -m runnel checkpoint_manager.py --mode=train     # goes on where the first ended
python -m runnel checkpoint_manager.py --mode=test
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description="Train or test a model kept by a manager.")
parser.add_argument("--mode", default="train", choices=["train", "test"])
parser.add_argument("--num_epochs", default=1, type=int)
parser.add_argument("--batch_size", default=50, type=int)
parser.add_argument("--learning_rate", default=0.001, type=float)
parser.add_argument("--every", default=100, type=int, help="batches between two checkpoints")
parser.add_argument("--folder", default="./save_managed", help="where the checkpoints are")
args = parser.parse_args()


def digits():
    """Training images from 0 to 1 with their labels, then those of the test."""
    path = pathlib.Path(__file__).parent / "data" / "mnist10k.npz"
    with np.load(path) as data:
        images = [data[name].astype(np.float32) / 255.0 for name in ("x_train", "x_test")]
        labels = [data[name].astype(np.int32) for name in ("y_train", "y_test")]
    return images[0], labels[0], images[1], labels[1]


def build():
    """784 pixels, 100 hidden units, 10 digits."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(28, 28)),
            tf.keras.layers.Dense(100, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )


def main():
    np.random.seed(1)
    tf.random.set_seed(1)
    train_x, train_y, test_x, test_y = digits()
    model = build()
    optimizer = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    batch = tf.Variable(0, dtype=tf.int64)
    # The optimizer and the number of the batch are saved too: training goes on as if it had
    # never stopped.
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, batch=batch)
    manager = tf.train.CheckpointManager(checkpoint, directory=args.folder, max_to_keep=3)
    latest = manager.restore_or_initialize()
    print(f"went on from {latest}" if latest else "began anew")
    if args.mode == "test":
        y_pred = np.argmax(model.predict(test_x, verbose=0), axis=-1)
        print(f"test accuracy after batch {int(batch)}: {np.mean(y_pred == test_y):.4f}")
        return

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True))
            loss = tf.reduce_mean(loss)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        batch.assign_add(1)
        return loss

    for _ in range(len(train_x) // args.batch_size * args.num_epochs):
        index = np.random.randint(0, len(train_x), args.batch_size)
        loss = step(train_x[index], train_y[index])
        if int(batch) % args.every == 0:
            path = manager.save(checkpoint_number=batch)
            print(f"batch {int(batch)}: loss {loss.numpy():.4f}, saved to {path}")
    print("kept:", *manager.checkpoints)


if __name__ == "__main__":
    main()
