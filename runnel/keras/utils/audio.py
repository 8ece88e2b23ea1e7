"""Datasets of WAV files in directories."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .datasets import from_directory
from .labelled_files import LabelledFiles


def audio_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: Any = "int",
    class_names: Any = None,
    batch_size: int | None = 32,
    sampling_rate: int | None = None,
    output_sequence_length: int | None = None,
    ragged: bool = False,
    shuffle: bool = True,
    seed: Any = None,
    validation_split: Any = None,
    subset: Any = None,
    follow_links: bool = False,
) -> Any:
    """A dataset of the WAV files in a directory with one subdirectory per class.

    Args:
      directory: The root directory of the files.
      labels: "inferred" from the subdirectories, None, or a list of numbers.
      label_mode: "int", "categorical", "binary" or None.
      class_names: The subdirectories in label order.
      batch_size: The batch size; None: unbatched.
      sampling_rate: Not supported, as it needs tensorflow_io.
      output_sequence_length: Sounds are cut or filled with silence to so many samples; None: to
        the longest of each batch.
      ragged: Whether to return ragged tensors without padding.
      shuffle: Whether to shuffle the files instead of sorting them.
      seed: Seed of the shuffle.
      validation_split: The fraction of validation files.
      subset: "training", "validation" or "both".
      follow_links: Whether symbolic links to directories are followed.
    """
    if ragged and output_sequence_length is not None:
        raise ValueError("Cannot set both `ragged` and `output_sequence_length`")
    if sampling_rate is not None:
        _refuse_rate(sampling_rate)
    length = -1 if output_sequence_length is None else output_sequence_length

    def load(path: Any) -> Any:
        return tf.audio.decode_wav(tf.io.read_file(path), desired_samples=length)[0]

    def make(files: LabelledFiles) -> Any:
        sounds = tf.data.Dataset.from_tensor_slices(files.paths)
        sounds = sounds.map(load, num_parallel_calls=tf.data.AUTOTUNE)
        return sounds.map(tf.RaggedTensor.from_tensor) if ragged else sounds

    made = from_directory(
        make, directory, labels, label_mode, class_names, (".wav",), batch_size, shuffle, seed,
        validation_split, subset, follow_links, names_files=False,
        padded=not ragged and output_sequence_length is None,
    )  # fmt: skip
    return tuple(made) if isinstance(made, list) else made


def _refuse_rate(rate: Any) -> None:
    if not isinstance(rate, int):
        raise ValueError(
            f"`sampling_rate` should have an integer value. Received: sampling_rate={rate}"
        )
    if rate <= 0:
        raise ValueError(f"`sampling_rate` should be higher than 0. Received: sampling_rate={rate}")
    raise ImportError(
        "To use the argument `sampling_rate`, you should install tensorflow_io. Leave it out, and "
        "the sounds keep the rates of their files."
    )
