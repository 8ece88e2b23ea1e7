"""Callbacks that log to files, servers or functions."""

from __future__ import annotations

import collections
import csv
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import runnel as tf

from .base import Callback


class BaseLogger(Callback):
    """Averages metrics over an epoch, weighted by each batch's `size`."""

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals:
                stateful = name in self.stateful_metrics
                logs[name] = self.totals[name] if stateful else self.totals[name] / self.seen


class CSVLogger(Callback):
    """Writes the logs of every epoch to a CSV file.

    Args:
      filename: Path of the file.
      separator: The delimiter.
      append: Append to an existing file instead of overwriting it.
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.sep = separator
        self.filename = filename
        self.append = append
        self.writer: csv.DictWriter | None = None
        self.keys: list[str] | None = None
        self.append_header = True
        self.csv_file: Any = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        path = Path(self.filename)
        if self.append and path.exists():
            self.append_header = not path.read_bytes().split(b"\n", 1)[0]
        try:
            self.csv_file = path.open("a" if self.append else "w", newline="", encoding="utf-8")
        except FileNotFoundError:
            raise tf.errors.NotFoundError(
                None,
                None,
                f"{path}; No such file or directory. CSVLogger makes the file, but not its folder: "
                "os.makedirs makes one.",
            ) from None

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(name.startswith("val_") for name in self.keys):
                # Validation may start in later epochs; its columns must exist from the first.
                self.keys += ["val_" + name for name in self.keys]
        if self.writer is None:
            self.writer = csv.DictWriter(
                self.csv_file, fieldnames=["epoch", *self.keys], delimiter=self.sep
            )
            if self.append_header:
                self.writer.writeheader()
        row: dict[str, Any] = collections.OrderedDict(epoch=epoch)
        row.update({name: _cell(logs.get(name, "NA")) for name in self.keys})
        self.writer.writerow(row)
        self.csv_file.flush()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.csv_file.close()
        self.writer = None


def _cell(value: Any) -> Any:
    is_list = isinstance(value, Iterable) and not isinstance(value, str)
    if is_list and not (isinstance(value, np.ndarray) and value.ndim == 0):
        return f'"[{", ".join(map(str, value))}]"'
    return value


class LambdaCallback(Callback):
    """A callback made of functions, each named after its hook.

    >>> teller = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch))
    >>> teller.on_epoch_end(3, {})
    3
    """

    def __init__(
        self,
        on_epoch_begin: Callable | None = None,
        on_epoch_end: Callable | None = None,
        on_batch_begin: Callable | None = None,
        on_batch_end: Callable | None = None,
        on_train_begin: Callable | None = None,
        on_train_end: Callable | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        named = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        self.__dict__.update({name: each for name, each in named.items() if each is not None})
        self.__dict__.update(kwargs)


class RemoteMonitor(Callback):
    """Sends the logs of every epoch to a server, by HTTP POST.

    Args:
      root: URL of the server.
      path: Path on the server.
      field: Name of the form field with the JSON.
      headers: HTTP headers to send.
      send_as_json: Send a JSON body instead of a form.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        values: dict[str, Any] = {"epoch": epoch}
        for name, value in (logs or {}).items():
            values[name] = value.item() if isinstance(value, np.ndarray | np.generic) else value
        text = json.dumps(values)
        headers = dict(self.headers or {})
        if self.send_as_json:
            headers.setdefault("Content-Type", "application/json")
            body = text.encode()
        else:
            body = urllib.parse.urlencode({self.field: text}).encode()
        request = urllib.request.Request(self.root + self.path, body, headers)
        try:
            urllib.request.urlopen(request).close()
        except urllib.error.HTTPError as refusal:
            # The server was reached; its response is ignored.
            refusal.close()
        except OSError:
            tf.get_logger().warning(
                "Warning: could not reach RemoteMonitor root server at %s", self.root
            )
