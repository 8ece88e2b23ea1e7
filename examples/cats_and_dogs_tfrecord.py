"""Cats and dogs through one TFRecord file: written once, read back in one go.

A plain TensorFlow 2 program; the pictures and the model are those of cats_and_dogs.py.
"""

import os
import tempfile

import tensorflow as tf
from cats_and_dogs import arguments, build, decode_and_resize, draw_folders, files_of, prepared

FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def write(folder, part, path):
    """One tf.train.Example for each JPEG file: its bytes and its label."""
    names, labels = files_of(folder, part)
    with tf.io.TFRecordWriter(path) as writer:
        for name, label in zip(names.numpy(), labels.numpy(), strict=True):
            with open(name, "rb") as file:
                contents = file.read()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[contents])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return len(names)


def read(path, size, batch_size, shuffled):
    """The images of a file with their labels."""

    def parse(record):
        features = tf.io.parse_single_example(record, FEATURES)
        return decode_and_resize(features["image"], features["label"], size)

    dataset = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return prepared(dataset, batch_size, shuffled)


def main():
    options = arguments("Tell cats from dogs in a TFRecord file.")
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or scratch
        draw_folders(folder, options.count)
        datasets = []
        for part in ("train", "valid"):
            path = os.path.join(folder, f"{part}.tfrecords")
            print(f"{part}.tfrecords: {write(folder, part, path)} pictures")
            datasets.append(read(path, options.size, options.batch_size, part == "train"))
        train, valid = datasets
        model = build(options.size)
        model.fit(train, epochs=options.epochs, validation_data=valid, verbose=2)
        _, accuracy = model.evaluate(valid, verbose=0)
        print(f"accuracy on new pictures: {accuracy:.4f}")


if __name__ == "__main__":
    main()
