"""Random programs of variables, updates, control dependencies, conditions, loops and functions.

The same program is built with either library. What a fetch gives, and what the variables hold
afterwards, follows from the program only where all operations on a variable are in an order that
the program asks for: `is_ordered` says where.
"""

import random

# What decides about them comes before all that they do; what they only use may come later.
_WITH_BRANCHES = {"If": 1, "Case": 1, "While": 0, "StatefulPartitionedCall": 0}


class RandomProgram:
    """A graph of one of the libraries, the same for the same seed."""

    def __init__(self, seed, v1, tf):
        self.random, self.v1, self.tf = random.Random(seed), v1, tf
        self.number = v1.placeholder(tf.float32, [])
        self.flag = v1.placeholder(tf.bool, [])
        self.variables = [tf.Variable(float(i + 1), name=f"v{i}") for i in range(3)]
        self.tensors = [self.number, tf.constant(2.0)]
        self.fetches = []
        steps = [
            self.read, self.compute, self.update, self.update_and_use, self.chain, self.group,
            self.depend, self.depend, self.cond, self.case, self.switch_case, self.loop,
            self.tuple, self.function, self.without_dependencies,
        ]  # fmt: skip
        self.steps = steps
        for _ in range(self.random.randint(4, 9)):
            self.random.choice(steps)()

    def tensor(self):
        return self.random.choice(self.tensors)

    def variable(self):
        return self.random.choice(self.variables)

    def add(self, tensor):
        self.tensors.append(tensor)
        self.fetches.append(tensor)

    def updated(self):
        variable, value = self.variable(), self.tensor()
        name = self.random.choice(["assign", "assign_add", "assign_sub"])
        return getattr(variable, name)(value * 0.5)

    # The steps of a program.

    def read(self):
        variable = self.variable()
        ways = [variable.read_value, variable.value, lambda: variable + 0.0]
        self.add(self.random.choice([*ways, lambda: self.tf.identity(variable)])())

    def compute(self):
        self.add(self.tensor() * 0.5 + self.tensor())

    def update(self):
        self.fetches.append(self.updated().op)

    def update_and_use(self):
        self.add(self.updated() + 1.0)

    def chain(self):
        variable = self.variable()
        if self.random.random() < 0.5:
            self.add(variable.assign_add(1.0) * 2.0)
        else:
            self.add(self.tf.identity(variable.assign_add(1.0).assign_add(self.tensor())))

    def group(self):
        self.fetches.append(self.tf.group(self.updated(), self.updated()))

    def depend(self):
        before = self.updated().op if self.random.random() < 0.6 else self.tensor()
        with self.tf.control_dependencies([before]):
            if self.random.random() < 0.4:
                self.random.choice(self.steps)()
            ways = [
                lambda: self.tf.identity(self.tensor()),
                lambda: self.variable().read_value(),
                lambda: self.tf.constant(5.0),
                lambda: self.tensor() + 1.0,
                lambda: self.variable() * 2.0,
            ]
            self.add(self.random.choice(ways)())
            if self.random.random() < 0.4:
                is_empty = self.random.random() < 0.5
                self.fetches.append(self.v1.no_op() if is_empty else self.updated().op)

    def without_dependencies(self):
        dependencies, update = self.tf.control_dependencies, self.updated().op
        with dependencies([update]), dependencies(None):
            self.add(self.tf.identity(self.tensor()))

    def cond(self):
        tf, (x, y) = self.tf, (self.tensor(), self.tensor())
        one, other = self.variable(), self.variable()
        function = self.random.choice([tf.cond, self.v1.cond])
        kind = self.random.randrange(4)

        def in_one():
            updated = one.assign_add(x)
            if kind == 3:
                # Nothing depends on the update.
                return x * 2.0
            with tf.control_dependencies([updated]):
                return tf.identity(other) * 1.0

        def in_other():
            return other.assign_sub(y) + 0.0 if kind < 2 else y * 1.0

        predicate = self.flag if self.random.random() < 0.5 else self.number > 2.0
        self.add(function(predicate, in_one, in_other))

    def case(self):
        x, y, variable = self.tensor(), self.tensor(), self.variable()
        pairs = [
            (self.number > 3.0, lambda: variable.assign(x) + 0.0),
            (self.number > 1.0, lambda: x + y),
        ]
        self.add(self.tf.case(pairs, default=lambda: y * 1.0))

    def switch_case(self):
        tf, (x, y), variable = self.tf, (self.tensor(), self.tensor()), self.variable()
        branches = [
            lambda: variable.assign(x) + 0.0,
            lambda: x + y,
            lambda: variable.assign_add(y) * 1.0,
        ]
        self.add(tf.switch_case(tf.cast(self.number, tf.int32), branches))

    def loop(self):
        tf, x, variable = self.tf, self.tensor(), self.variable()
        function = self.random.choice([tf.while_loop, self.v1.while_loop])

        def body(i, total):
            with tf.control_dependencies([variable.assign_add(1.0)]):
                return i + 1, total + x * 0.25

        start = [tf.constant(0), tf.constant(0.0)]
        self.add(function(lambda i, total: i < 2, body, start)[1])

    def tuple(self):
        updated = self.updated()
        values = [self.tensor(), self.tensor()]
        for tensor in self.tf.tuple(values, control_inputs=[updated.op]):
            self.add(tensor)

    def function(self):
        one, other = self.variable(), self.variable()

        @self.tf.function(autograph=False)
        def step(x):
            one.assign_add(x)
            other.assign(one * 0.5)
            return x + other

        self.add(step(self.tensor()))


def is_ordered(fetch):
    """Whether the original has to do all operations on a variable in one order for a fetch."""
    found, before = set(), {}

    def collect(operation):
        if operation not in found:
            found.add(operation)
            for tensor in operation.inputs:
                collect(tensor.op)
            for each in operation.control_inputs:
                collect(each)

    def earlier(operation):
        if operation not in before:
            before[operation] = set()
            inputs = list(operation.inputs)[: _WITH_BRANCHES.get(operation.type)]
            parents = {*[tensor.op for tensor in inputs], *operation.control_inputs}
            before[operation] = parents.union(*map(earlier, parents))
        return before[operation]

    collect(fetch if hasattr(fetch, "control_inputs") else fetch.op)
    users = {}
    for operation in found:
        for tensor in operation.inputs:
            if tensor.dtype.name == "resource":
                users.setdefault(tensor.op, set()).add(operation)
    return all(
        one is other
        or {one.type, other.type} == {"ReadVariableOp"}
        or one in earlier(other)
        or other in earlier(one)
        for operations in users.values()
        for one in operations
        for other in operations
    )
