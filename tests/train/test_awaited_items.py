"""Values that wait for items of lists and dicts, which tell nobody what is put into them."""

import copy
import gc
import json
import pickle
import threading

import numpy as np
import pytest
import tensorflow as original

import runnel as tf
from runnel.train import awaiting

# What is put into an empty container later, and what then has to be there.
LISTS = {
    "append": lambda owner, v, w: (owner.parts.append(v), owner.parts.append(w)),
    "extend": lambda owner, v, w: owner.parts.extend([v, w]),
    "iadd": lambda owner, v, w: owner.parts.__iadd__([v, w]),
    "attribute iadd": lambda owner, v, w: setattr(owner, "parts", [*owner.parts, v, w]),
    "insert": lambda owner, v, w: (owner.parts.append(w), owner.parts.insert(0, v)),
    "held": lambda owner, v, w: (held := owner.parts).append(v) or held.append(w),
}
DICTS = {
    "setitem": lambda owner, v, w: (
        owner.parts.__setitem__("0", v),
        owner.parts.__setitem__("1", w),
    ),
    "update": lambda owner, v, w: owner.parts.update({"0": v, "1": w}),
    "setdefault": lambda owner, v, w: (
        owner.parts.setdefault("0", v),
        owner.parts.setdefault("1", w),
    ),
}
# The original restores nothing into lists that are replaced, and refuses to look at the others.
REFUSED = {"attribute iadd", "insert", "setdefault"}


def owners(tf):
    class Layer(tf.keras.layers.Layer):
        pass

    class Model(tf.keras.Model):
        def call(self, x):
            return x

    return {"module": tf.Module, "layer": Layer, "model": Model, "checkpoint": tf.train.Checkpoint}


def restored(tf, path, kind, empty, put):
    owner = owners(tf)[kind]()
    checkpoint = tf.train.Checkpoint(owner=owner)
    status = checkpoint.restore(path)
    owner.parts = empty
    v, w = tf.Variable([0.0, 0.0]), tf.Variable([9.0, 9.0])
    put(owner, v, w)
    values = [w.numpy().tolist(), v.numpy().tolist()]
    status.assert_consumed()
    return values


@pytest.mark.parametrize("kind", ["module", "layer", "model", "checkpoint"])
def test_items_put_into_containers_get_their_values(kind, tmp_path):
    for name, put in {**LISTS, **DICTS}.items():
        paths = []
        for module in (original, tf):
            owner = owners(module)[kind]()
            pair = [module.Variable([1.0, 2.0]), module.Variable([3.0, 4.0])]
            owner.parts = pair if name in LISTS else {"0": pair[0], "1": pair[1]}
            paths.append(module.train.Checkpoint(owner=owner).save(str(tmp_path / f"{name}")))
        empty = list if name in LISTS else dict
        wanted = [[3.0, 4.0], [1.0, 2.0]]
        if name not in REFUSED:
            assert restored(original, paths[0], kind, empty(), put) == wanted, name
        for path in paths:
            assert restored(tf, path, kind, empty(), put) == wanted, name


def test_containers_in_containers_and_objects_in_them(tmp_path):
    def program(tf):
        def build():
            root = tf.train.Checkpoint(listed=[], named={})
            return root

        def fill(root, start):
            number = iter(np.arange(start, start + 9, dtype=np.float32))
            made = []

            def variable():
                made.append(tf.Variable(next(number)))
                return made[-1]

            root.listed.append([variable()])
            root.listed[0].append({"a": variable()})
            root.listed[0][1]["b"] = variable()
            root.named["deep"] = {"er": []}
            root.named["deep"]["er"].append((variable(), variable()))
            inner = tf.Module()
            inner.v = variable()
            root.listed.append(inner)
            layer = tf.keras.layers.Dense(1)
            root.listed.append(layer)
            layer.build([None, 2])
            layer.bias.assign([next(number)] if start else layer.bias)
            return made, layer

        source = build()
        fill(source, 10)
        path = source.save(str(tmp_path / tf.__name__))
        target = build()
        status = target.restore(path)
        made, layer = fill(target, 0)
        values = [float(each) for each in made]
        values.append(float(layer.bias[0]))
        status.assert_existing_objects_matched()
        return values

    assert program(tf) == program(original) == [10, 11, 12, 13, 14, 15, 16]


def test_updates_before_and_after_the_value_comes(tmp_path):
    def program(tf):
        source = tf.train.Checkpoint(parts=[tf.Variable(float(i)) for i in range(7)])
        path = source.save(str(tmp_path / tf.__name__))
        target = tf.train.Checkpoint(parts=[])
        target.restore(path)
        v = [tf.Variable(100.0) for _ in range(7)]
        v[0].assign(50.0)
        target.parts.extend(v[:6])
        v[1].assign(60.0)
        v[2].assign_add(60.0)
        read = tf.function(lambda: v[3] * 2.0)
        with tf.GradientTape() as tape:
            result = v[4] * v[4]
        slope = tape.gradient(result, v[4])
        first = v[6].numpy()
        target.parts.append(v[6])
        values = [first, read(), slope, *v]
        return [float(each) for each in values]

    assert program(tf) == program(original)


def test_shapes_that_do_not_fit_are_refused(tmp_path):
    path = tf.train.Checkpoint(parts=[tf.Variable([1.0, 2.0])]).save(str(tmp_path / "c"))
    target = tf.train.Checkpoint(parts=[])
    target.restore(path).expect_partial()
    v = tf.Variable(1.0)
    target.parts.append(v)
    with pytest.raises(ValueError, match="incompatible tensor with shape"):
        v.numpy()


def test_containers_and_variables_stay_what_they_were(tmp_path):
    path = tf.train.Checkpoint(parts=[tf.Variable(2.0), tf.Variable(3.0)]).save(str(tmp_path / "c"))
    owner = tf.Module()
    owner.parts, owner.named = [], {"a": [1]}
    target = tf.train.Checkpoint(parts=owner.parts, owner=owner)
    target.restore(path).expect_partial()
    assert type(owner.parts) is list and type(owner.named) is dict
    assert json.dumps(owner.named) == '{"a": [1]}' and repr(owner.named) == "{'a': [1]}"
    v = tf.Variable(5.0)
    assert isinstance(v, tf.Variable)
    for copied in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert float(copied) == 5.0
    target.parts.append(v)
    assert float(v) == 2.0 and type(v) is tf.Variable
    del target, owner
    gc.collect()
    tf.Module().x = tf.Variable(1.0)
    late = tf.Variable(1.0)
    late.assign_add(1.0)
    assert type(late) is tf.Variable and not awaiting._active


def test_threads_read_and_update_while_values_are_awaited(tmp_path):
    count = 50
    path = tf.train.Checkpoint(parts=[tf.Variable(2.0) for _ in range(count)])
    path = path.save(str(tmp_path / "c"))
    target = tf.train.Checkpoint(parts=[])
    target.restore(path).expect_partial()
    variables = [tf.Variable(0.0) for _ in range(count)]
    total = tf.Variable(0.0)

    def work(mine):
        for each in mine:
            target.parts.append(each)
            total.assign_add(1.0)
            each.numpy()

    threads = [threading.Thread(target=work, args=(variables[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert float(total) == count
    assert [float(each) for each in variables] == [2.0] * count
