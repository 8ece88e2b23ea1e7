"""TensorBoard: scalars, histograms, graphs and profiles of training, as event files."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

import runnel as tf

from ...core.suggestions import keyword_advice
from ...summary.encoding import metadata
from .base import Callback

# Arguments of earlier versions, and the warnings about them.
_OLD = {
    "write_grads": (
        "`write_grads` will be ignored in TensorFlow 2.0 for the `TensorBoard` Callback."
    ),
    "batch_size": (
        "`batch_size` is no longer needed in the `TensorBoard` Callback and will be ignored in "
        "TensorFlow 2.0."
    ),
    "embeddings_layer_names": (
        "`embeddings_layer_names` is not supported in TensorFlow 2.0. Instead, all `Embedding` "
        "layers will be visualized."
    ),
    "embeddings_data": (
        "`embeddings_data` is not supported in TensorFlow 2.0. Instead, all `Embedding` variables "
        "will be visualized."
    ),
}
_PROFILE_BATCH = (
    "profile_batch must be a non-negative integer or 2-tuple of positive integers. A pair of "
    "positive integers signifies a range of batches to profile. Found: {}"
)
_BATCH_ENDS = {"on_train_batch_end", "on_test_batch_end"}


class TensorBoard(Callback):
    """Writes event files for `tensorboard --logdir logs`.

    The scalars of training go to the folder "train", those of validation to "validation".

    Args:
      log_dir: The folder.
      histogram_freq: Write histograms of the weights every this many epochs; 0: never.
      write_graph: Write the model's graph, and the graph of a training step.
      write_images: Write the weights as images, along with their histograms.
      write_steps_per_second: Write the number of batches per second.
      update_freq: Write the losses and metrics per "epoch", and with a number also every this many
        batches ("batch" is 1). As in tf.keras, batch hooks are not called, and no batches are
        written, in a `fit` of `verbose=0` or 2 without `profile_batch`, `write_steps_per_second` or
        another callback that overrides batch hooks.
      profile_batch: Profile this batch, or the batches from the first to the second of a pair.
      embeddings_freq: Write the embedding weights every this many epochs; 0: never.
      embeddings_metadata: The file with the labels of embeddings, or a dict of such files by layer
        name.

    >>> import tempfile
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> callback = tf.keras.callbacks.TensorBoard(tempfile.mkdtemp())
    >>> history = model.fit(tf.ones([8, 2]), tf.ones([8, 1]), verbose=0, callbacks=[callback])
    """

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: Any = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        unknown = set(kwargs) - set(_OLD)
        if unknown:
            raise ValueError(
                f"Unrecognized arguments in `TensorBoard` Callback: {unknown}. Supported kwargs "
                f"are: {set(_OLD)}.{keyword_advice(TensorBoard, min(unknown))}"
            )
        for name, value in kwargs.items():
            if value:
                tf.get_logger().warning(_OLD[name])
        self.log_dir = os.fspath(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._start_batch, self._stop_batch = _range_of(profile_batch)
        self._writers: dict[str, Any] = {}
        self._contexts: list[contextlib.ExitStack] = []
        self._is_tracing = False
        self._writes_train_graph = False
        self._others_listen = False
        self._batches = 0
        self._batches_before_epoch = 0

    # Which batch hooks are active.

    def _meet(self, others: list[Any]) -> None:
        hooks = ("on_train_batch_begin", "on_train_batch_end")
        self._others_listen = any(
            not isinstance(each, Callback) or any(each._listens(hook) for hook in hooks)
            for each in others
        )

    @property
    def _hears_batches(self) -> bool:
        return bool(self._start_batch or self.write_steps_per_second or self._others_listen)

    def _listens(self, hook: str) -> bool:
        if hook in _BATCH_ENDS and self.update_freq != "epoch":
            return True
        return hook.startswith("on_train_batch") and self._hears_batches

    # Writers.

    def _writer(self, run: str) -> Any:
        """The writer of "train" or "validation", created lazily."""
        known = self._writers.get(run)
        if known is None:
            folder = os.path.join(self.log_dir, run)
            known = self._writers[run] = tf.summary.create_file_writer(folder)
        return known

    @contextlib.contextmanager
    def _writing(self, run: str) -> Iterator[None]:
        """Write the summaries of a block to a run, regardless of an outer recording condition."""
        with self._writer(run).as_default(), tf.summary.record_if(True):
            yield

    def _enter(self, run: str, counter: Any) -> None:
        """Record the model's own summaries to a run, too, every `update_freq` batches."""
        stack = contextlib.ExitStack()
        if self.update_freq != "epoch":
            stack.enter_context(self._writer(run).as_default(step=tf.constant(0, tf.int64)))
            stack.enter_context(
                tf.summary.record_if(lambda: tf.equal(counter % self.update_freq, 0))
            )
        self._contexts.append(stack)

    def _leave(self) -> None:
        if self._contexts:
            self._contexts.pop().close()

    # The model.

    def set_model(self, model: Any) -> None:
        """Set the model, and write its graph."""
        self.model = model
        # Left by a run that ended with an exception.
        while self._contexts:
            self._leave()
        self._writers = {}
        self._writes_train_graph = False
        # Read by functions that were traced in an earlier run.
        if not hasattr(self, "_train_step"):
            self._train_step = tf.Variable(0, dtype=tf.int64, trainable=False)
            self._test_step = tf.Variable(0, dtype=tf.int64, trainable=False)
        if self.write_graph:
            self._write_model()
            self._writes_train_graph = True
        if self.embeddings_freq:
            self._write_projector_config()

    def _write_model(self) -> None:
        """Write the layers as TensorBoard's conceptual graph."""
        model = self.model
        if not isinstance(model, tf.keras.Sequential) and not getattr(
            model, "_is_graph_network", False
        ):
            return
        try:
            text = model.to_json()
        except (NotImplementedError, TypeError, ValueError) as failure:
            tf.get_logger().warning("Model failed to serialize as JSON. Ignoring... %s", failure)
            return
        about = metadata("graph_keras_model", None, b"1")
        with self._writing("train"):
            tf.summary.write("keras", tf.constant(text), step=0, metadata=about)

    def _write_train_graph(self) -> None:
        """Write the graph of a training step."""
        self._writes_train_graph = False
        step = getattr(self.model, "_traced_steps", {}).get("train_step")
        traces = [] if step is None else [concrete for _, concrete in step.function._traces]
        if traces:
            with self._writing("train"):
                tf.summary.graph(traces[-1].graph)

    def _write_projector_config(self) -> None:
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        config = ProjectorConfig()
        given = self.embeddings_metadata
        missing = dict(given) if isinstance(given, dict) else {}
        weighted = [layer for layer in self.model.layers if layer.weights]
        for layer in self.model.layers:
            if not isinstance(layer, tf.keras.layers.Embedding):
                continue
            place = weighted.index(layer) if layer in weighted else 0
            name = f"layer_with_weights-{place}/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
            described = missing.pop(layer.name, "") if isinstance(given, dict) else given
            config.embeddings.add(
                tensor_name=name, metadata_path=os.fspath(described) if described else None
            )
        if missing:
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` "
                f"`embeddings_metadata` argument: {missing.keys()}"
            )
        os.makedirs(self.log_dir, exist_ok=True)
        path = os.path.join(self.log_dir, "projector_config.pbtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(config))

    # Training.

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._batches = self._batches_before_epoch = 0
        self._train_step.assign(0)
        self._enter("train", self._train_step)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._leave()
        if self._is_tracing:
            self._stop_trace()
        for writer in self._writers.values():
            writer.close()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._batches_before_epoch = int(self._train_step)
        if self.write_steps_per_second:
            self._iterations_before = int(self.model.optimizer.iterations)
            self._epoch_began = time.time()

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self._batches += 1
        if self.write_steps_per_second:
            self._batch_began = time.time()
        if self._start_batch and self._batches == self._start_batch:
            self._start_trace()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self._train_step.assign(self._batches_before_epoch + batch + 1)
        if not self._hears_batches:
            return
        if self._writes_train_graph:
            self._write_train_graph()
        if self.write_steps_per_second:
            taken = time.time() - self._batch_began
            tf.summary.scalar("batch_steps_per_second", 1.0 / taken, step=self._train_step)
        if self.update_freq != "epoch":
            for name, value in (logs or {}).items():
                tf.summary.scalar(f"batch_{name}", value, step=self._train_step)
        if self._is_tracing and self._batches >= self._stop_batch:
            self._stop_trace()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._write_curves(epoch, dict(logs or {}))
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            path = os.path.join(self.log_dir, "train", f"keras_embedding.ckpt-{epoch}")
            self.model.save_weights(path)

    def _write_curves(self, epoch: int, logs: dict[str, Any]) -> None:
        if not logs:
            return
        curves = {name: value for name, value in logs.items() if not name.startswith("val_")}
        rate = getattr(self.model.optimizer, "_learning_rate", None)
        if isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule):
            curves["learning_rate"] = rate(self.model.optimizer.iterations)
        if self.write_steps_per_second:
            done = int(self.model.optimizer.iterations) - self._iterations_before
            curves["steps_per_second"] = done / (time.time() - self._epoch_began)
        validation = {
            name.removeprefix("val_"): value
            for name, value in logs.items()
            if name.startswith("val_")
        }
        for run, values in (("train", curves), ("validation", validation)):
            if values:
                with self._writing(run):
                    for name, value in values.items():
                        tf.summary.scalar(f"epoch_{name}", value, step=epoch)

    def _write_weights(self, epoch: int) -> None:
        with self._writing("train"):
            for layer in self.model.layers:
                for weight in layer.weights:
                    name = weight.name.replace(":", "_")
                    tf.summary.histogram(f"{name}/histogram", weight, step=epoch)
                    picture = _picture(weight) if self.write_images else None
                    if picture is not None:
                        tf.summary.image(f"{name}/image", picture, step=epoch)

    # Evaluation.

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._test_step.assign(0)
        self._enter("validation", self._test_step)

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self._test_step.assign(batch + 1)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        optimizer = getattr(self.model, "optimizer", None)
        if optimizer is not None and logs:
            with self._writing("validation"):
                for name, value in logs.items():
                    tf.summary.scalar(
                        f"evaluation_{name}_vs_iterations", value, step=optimizer.iterations
                    )
        self._leave()

    # Profiles.

    def _start_trace(self) -> None:
        from ...profiler import experimental as profiler

        tf.summary.trace_on(graph=True, profiler=False)
        profiler.start(self.log_dir)
        self._is_tracing = True

    def _stop_trace(self) -> None:
        from ...profiler import experimental as profiler

        with self._writing("train"):
            tf.summary.trace_export(f"batch_{self._stop_batch}", step=self._stop_batch)
        profiler.stop()
        self._is_tracing = False


def _range_of(profile_batch: Any) -> tuple[int, int]:
    """The first and last batch to profile; zeros for none."""
    given = profile_batch
    if isinstance(given, str):
        given = [int(part) for part in given.split(",")]
        given = given[0] if len(given) == 1 else given
    if isinstance(given, int):
        given = (given, given)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(_PROFILE_BATCH.format(profile_batch))
    first, last = given
    if first < 0 or last < first:
        raise ValueError(_PROFILE_BATCH.format(profile_batch))
    return first, last


def _picture(weight: Any) -> Any:
    """A weight as images [count, height, width, channels]; None if its shape does not fit.

    Matrices are oriented with the longer side horizontal; each convolution kernel is an image.
    """
    values = tf.squeeze(tf.convert_to_tensor(weight))
    sizes: list[int] = values.shape.as_list()  # type: ignore[assignment]
    if len(sizes) == 1:
        return tf.reshape(values, [1, sizes[0], 1, 1])
    if len(sizes) == 2:
        values = tf.transpose(values) if sizes[0] > sizes[1] else values
        return values[tf.newaxis, :, :, tf.newaxis]
    if len(sizes) == 3:
        if tf.keras.backend.image_data_format() == "channels_last":
            values = tf.transpose(values, [2, 0, 1])
        return values[..., tf.newaxis]
    return values if len(sizes) == 4 and sizes[-1] in (1, 3, 4) else None
