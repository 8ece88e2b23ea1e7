"""Losses, weights and metrics given to `compile` in every form."""

import pytest
from agreement import agree

SETUP = """
X, Y = np.arange(12.0).reshape(6, 2) / 10, np.arange(6.0).reshape(6, 1) / 6

def dense(name): return L.Dense(1, kernel_initializer="ones", name=name)

def one():
    i = K.Input((2,)); return K.Model(i, dense("a")(i))

def two():
    i = K.Input((2,)); return K.Model(i, [dense("a")(i), dense("b")(i)])

def named():
    i = K.Input((2,)); return K.Model(i, {"a": dense("a")(i), "b": dense("b")(i)})

class Own(K.Model):
    def __init__(self):
        super().__init__(); self.d = dense("a")
    def call(self, x): return self.d(x)

def distance(y, p): return tf.reduce_mean(tf.abs(y - p), -1)

class Largest(K.metrics.Metric):
    def __init__(self, name="largest"):
        super().__init__(name=name); self.s = self.add_weight(name="s", initializer="zeros")
    def update_state(self, y, p, sample_weight=None): self.s.assign(tf.reduce_max(p))
    def result(self): return self.s

class Both(Largest):
    def result(self): return {"u": self.s, "v": self.s * 2}

def told(m, y=Y, weights=None, **options):
    r = []
    def tried(function):
        try:
            r.append(function())
        except Exception as error:
            r.append(type(error).__name__)
    tried(lambda: m.compile("sgd", run_eagerly=True, **options))
    tried(lambda: m.metrics_names)
    options = dict(batch_size=3, shuffle=False, verbose=0)
    tried(lambda: m.fit(X, y, sample_weight=weights, **options).history)
    tried(lambda: m.metrics_names)
    tried(lambda: [each.name for each in m.metrics])
    tried(lambda: m.evaluate(X, y, verbose=0))
    tried(lambda: m.train_on_batch(X, y, return_dict=True))
    tried(lambda: m.test_on_batch(X, y))
    return r
"""
FORMS = ["{0}", "[{0}]", "[[{0}]]", "{{'a': {0}}}", "{{'a': [{0}]}}"]
LOSSES = ["'mse'", "K.losses.MeanSquaredError()", "distance", "tf.function(distance)"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_loss_of_one_output(loss, form):
    agree(f"r = told(one(), loss={form.format(loss)})", SETUP)
    if form != FORMS[-1]:
        agree(f"r = told(Own(), loss={form.format(loss)})", SETUP)


METRICS = ["'mae'", "'acc'", "K.metrics.MeanAbsoluteError()", "distance", "Largest()", "Both()"]


@pytest.mark.parametrize("form", [*FORMS, "[{0}, 'mse']"])
@pytest.mark.parametrize("metric", [*METRICS, "K.losses.MeanAbsoluteError()"])
def test_metrics_of_one_output(metric, form):
    agree(f"r = told(one(), loss='mse', metrics={form.format(metric)})", SETUP)


OF_TWO = [
    "loss='mse'", "loss=['mse', 'mae']", "loss={'a': 'mse'}", "loss={'b': 'mse', 'a': 'mae'}",
    "loss=['mse', None]", "loss=[['mse'], ['mae']]", "loss={'a': ['mse'], 'b': 'mae'}",
    "loss='mse', loss_weights=[1.0, 2.0]", "loss='mse', loss_weights={'a': 0.5}",
    "loss='mse', metrics=['mae']", "loss='mse', metrics=['mae', 'mse']",
    "loss='mse', metrics=('mae', 'mse')", "loss='mse', metrics=[['mae'], ['mse']]",
    "loss='mse', metrics={'a': 'mae'}", "loss='mse', metrics={'b': ['mae', 'mse'], 'a': 'mae'}",
    "loss='mse', metrics=[[], ['mae']]", "loss='mse', metrics=['mae', ['mse']]",
    "loss='mse', weighted_metrics=['mae']", "loss='mse', metrics={'q': 'mae'}",
    "loss={'q': 'mse'}", "loss='mse', metrics=[K.metrics.MeanAbsoluteError()]",
    "loss='mse', metrics={'a': M, 'b': M}",
]  # fmt: skip


@pytest.mark.parametrize("options", OF_TWO)
def test_two_outputs(options):
    setup = SETUP + "M = K.metrics.MeanAbsoluteError()"
    agree(f"r = told(two(), [Y, Y], {options})", setup)
    if "{'q': 'mse'}" not in options and ", [" not in options and "[[" not in options:
        agree(f"r = told(named(), {{'a': Y, 'b': Y}}, {options})", setup)


@pytest.mark.parametrize("targets", ["{'a': Y, 'b': Y}", "{'a': Y}", "[Y]", "(Y, Y)"])
def test_targets_of_two_outputs(targets):
    agree(f"r = told(two(), {targets}, loss='mse')", SETUP)


BEFORE = ["loss", "compiled_loss", "optimizer", "history", "train_function", "metrics_names"]


def test_what_a_model_has_before_compile():
    agree(f"m = one(); r = [(n, getattr(m, n, 'none')) for n in {BEFORE}]", SETUP)
    agree("m = one(); r = hasattr(m, 'loss'), int(m._train_counter)", SETUP)


@pytest.mark.parametrize(
    "program",
    [
        "m.compile('sgd', 'mse'); m._train_counter; m.fit(X, Y, batch_size=2, epochs=2, verbose=0)"
        "; r = int(m._train_counter)",
        "m.compile(['sgd', 'adam'], 'mse'); r = [type(o).__name__ for o in m.optimizer]",
        "m.compile('sgd'); r = m.loss",
    ],
)
def test_compiled(program):
    agree(f"m = one(); {program}", SETUP)


def test_a_train_function_of_the_users_own():
    agree(
        """
        class Counting(Own):
            def make_train_function(self, force=False):
                def train(iterator):
                    x, y = next(iterator)
                    return {"rows": tf.shape(x)[0]}
                return train
        m = Counting(); m.compile("sgd", "mse")
        r = m.fit(X, Y, batch_size=4, shuffle=False, verbose=0).history
        """,
        SETUP,
    )


def test_values_of_logs_come_in_the_order_of_the_metrics():
    agree(
        """
        class Turned(Own):
            def test_step(self, data):
                logs = super().test_step(data)
                return {"z": tf.constant(1.0), **dict(reversed(list(logs.items())))}
        m = Turned(); m.compile("sgd", "mse", metrics=["mae"]); r = m.evaluate(X, Y, verbose=0)
        """,
        SETUP,
    )
