"""tf.Module finds its variables and submodules in TensorFlow's order."""

import pytest
import tensorflow
from expressions import assert_same_outcome

import runnel


def build(tf):
    class Linear(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(1.0, name="w")
            self.b = tf.Variable(2.0, name="b", trainable=False)

    class MyNet2D(tf.Module):
        def __init__(self, name=None):
            super().__init__(name)
            self.z = tf.Variable(0.0, name="z")
            self.layers = [Linear("l0"), Linear("l1"), tf.Variable(9.0, name="in_list")]
            self.table = {"k2": tf.Variable(5.0, name="k2"), "k1": Linear("in_dict")}
            self.a = Linear("aa")
            self.shared = self.a
            self._private = tf.Variable(7.0, name="private")
            self.pair = (tf.Variable(8.0, name="in_tuple"),)
            self.nested = [[tf.Variable(10.0, name="nested")]]
            self.number = 3

        @tf.Module.with_name_scope
        def __call__(self):
            if not hasattr(self, "late"):
                self.late = tf.Variable(1.0, name="late")
            return tf.get_current_name_scope()

    return MyNet2D()


def description(tf):
    module = build(tf)
    scope = module()
    return {
        "name": module.name,
        "scope": (scope, module.name_scope.name, module.late.name),
        "variables": [v.name for v in module.variables],
        "trainable": [v.name for v in module.trainable_variables],
        "others": [v.name for v in module.non_trainable_variables],
        "submodules": [m.name for m in module.submodules],
        "types": (type(module.variables), type(module.submodules)),
    }


def test_same_order_and_names():
    assert description(runnel) == description(tensorflow)


NAMES = "MyNet2D HTTPServerX _Private Dense Conv2D LSTMCell A1b2C MLP Foo_Bar aB ABc ResNet50V2"


@pytest.mark.parametrize("name", NAMES.split())
def test_names_of_classes(name):
    names = [type(name, (tf.Module,), {})().name for tf in (tensorflow, runnel)]
    assert names[0] == names[1]


@pytest.mark.parametrize("name", ["'a b'", "'1a'", "'ok'", "''"])
def test_names_given(name):
    assert_same_outcome(f"tf.Module(name={name}).name")


def test_a_module_without_super_init_still_finds_its_variables():
    class Careless(runnel.Module):
        def __init__(self):
            self.v = runnel.Variable(1.0)

    assert len(Careless().variables) == 1
