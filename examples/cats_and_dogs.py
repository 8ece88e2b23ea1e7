"""Folders of JPEG files to a trained classifier, through tf.data.

A plain TensorFlow 2 program. It draws its own cats (pointed ears) and dogs (hanging ears) into
train/cats, train/dogs, valid/cats and valid/dogs; put photographs there instead, and they are used.
"""

import argparse
import os
import random
import tempfile

import numpy as np
import tensorflow as tf
from PIL import Image, ImageDraw

CLASSES = ("cats", "dogs")


def draw(kind, random_numbers):
    """The head of an animal somewhere before a noisy ground."""
    width, height = random_numbers.randint(80, 120), random_numbers.randint(80, 120)
    noise = random_numbers.randbytes(3 * 12 * 12)
    image = Image.frombytes("RGB", (12, 12), noise).point(lambda value: 150 + value // 3)
    image = image.resize((width, height), Image.Resampling.BICUBIC)
    pencil = ImageDraw.Draw(image)
    fur = tuple(random_numbers.randint(10, 110) for _ in range(3))
    size = random_numbers.randint(20, 28)
    x = width // 2 + random_numbers.randint(-6, 6)
    y = height // 2 + random_numbers.randint(-4, 8)
    for side in (-1, 1):
        if kind == "cats":
            ear = [(x + side * size, y - size // 3), (x + side * size, y - 2 * size), (x, y - size)]
            pencil.polygon(ear, fill=fur, outline="black")
        else:
            left = x + side * size - size // 3
            ear = (left, y - size, left + 2 * size // 3, y + size)
            pencil.ellipse(ear, fill=fur, outline="black")
    pencil.ellipse((x - size, y - size, x + size, y + size), fill=fur, outline="black")
    for side in (-1, 1):
        eye = x + side * size // 2
        pencil.ellipse((eye - 3, y - 8, eye + 3, y - 2), fill="white", outline="black")
    return image


def draw_folders(folder, count):
    """JPEG files in train and valid, where there are none yet."""
    random_numbers = random.Random(0)
    for part, share in (("train", 1.0), ("valid", 0.5)):
        for kind in CLASSES:
            directory = os.path.join(folder, part, kind)
            if os.path.isdir(directory):
                continue
            os.makedirs(directory)
            for number in range(int(count * share)):
                path = os.path.join(directory, f"{number:04d}.jpg")
                draw(kind, random_numbers).save(path, quality=90)


def files_of(folder, part):
    """The names of all files of one part, and 0 for a cat, 1 for a dog."""
    names = [tf.io.gfile.glob(os.path.join(folder, part, kind, "*.jpg")) for kind in CLASSES]
    labels = [np.full(len(each), label, np.int32) for label, each in enumerate(names)]
    return tf.constant(sorted(names[0]) + sorted(names[1])), tf.constant(np.concatenate(labels))


def decode_and_resize(image_string, label, size):
    """An image from 0 to 1 of the size that the model takes."""
    image_decoded = tf.image.decode_jpeg(image_string, channels=3)
    image_resized = tf.image.resize(image_decoded, [size, size]) / 255.0
    return image_resized, label


def prepared(dataset, batch_size, shuffled):
    """Batches that are ready when the model asks for them."""
    if shuffled:
        dataset = dataset.shuffle(buffer_size=1000)
    return dataset.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def load(folder, part, size, batch_size, shuffled):
    """The images of one part with their labels."""
    dataset = tf.data.Dataset.from_tensor_slices(files_of(folder, part))
    dataset = dataset.map(
        lambda name, label: decode_and_resize(tf.io.read_file(name), label, size),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    return prepared(dataset, batch_size, shuffled)


def build(size):
    """Two convolutions and two dense layers."""
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 3, activation="relu", input_shape=(size, size, 3)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(learning_rate=0.003),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
    )
    return model


def arguments(description):
    """What the user chose."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--count", type=int, default=200, help="pictures of each kind to draw")
    parser.add_argument("--size", type=int, default=32, help="pixels across and down")
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--folder", help="where the pictures are (default: drawn and thrown away)")
    return parser.parse_args()


def main():
    options = arguments("Tell cats from dogs in folders of JPEG files.")
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or scratch
        draw_folders(folder, options.count)
        train = load(folder, "train", options.size, options.batch_size, shuffled=True)
        valid = load(folder, "valid", options.size, options.batch_size, shuffled=False)
        model = build(options.size)
        model.fit(train, epochs=options.epochs, validation_data=valid, verbose=2)
        _, accuracy = model.evaluate(valid, verbose=0)
        print(f"accuracy on new pictures: {accuracy:.4f}")


if __name__ == "__main__":
    main()
