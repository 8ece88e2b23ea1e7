"""Names of variables and operations in scopes, and variables used again."""

from both_v1 import agree, error_of


def test_names_in_variable_scopes():
    def program(v1, tf):
        names = []
        with v1.variable_scope("a") as scope:
            names.append(v1.get_variable("w", [1]).name)
            names.append(v1.placeholder(tf.float32, name="p").name)
            with v1.variable_scope("b"), v1.name_scope("n"):
                names.append(v1.get_variable("w", [1]).name)
                names.append(v1.Variable(1.0, name="v").name)
                names.append(tf.identity(1.0, name="i").name)
            names.append(scope.name)
            names.append(v1.get_variable_scope().name)
        with v1.variable_scope("a", reuse=True):
            names.append(v1.get_variable("w", [1]).name)
            names.append(tf.identity(1.0, name="i").name)
        with v1.variable_scope(scope, reuse=v1.AUTO_REUSE):
            names.append(v1.get_variable("w", [1]).name)
            names.append(v1.get_variable("new", [1]).name)
        for _ in range(2):
            with v1.variable_scope(None, default_name="unit"):
                names.append(v1.get_variable("w", [1]).name)
        names += [v1.Variable(1.0).name, v1.Variable(1.0).name, v1.Variable(1.0, name="v").name]
        return [names, [v.name for v in v1.global_variables()],
                [v.name for v in v1.trainable_variables("a")]]  # fmt: skip

    agree(program)


def test_sharing():
    def program(v1, tf):
        seen = []
        with v1.variable_scope("s"):
            w = v1.get_variable("w", [2, 2])
            seen.append(error_of(lambda: v1.get_variable("w", [2, 2])))
        with v1.variable_scope("s", reuse=True) as scope:
            seen.append(v1.get_variable("w") is w)
            seen.append(error_of(lambda: v1.get_variable("missing", [1])))
            seen.append(error_of(lambda: v1.get_variable("w", [3])))
            seen.append(scope.reuse)
        with v1.variable_scope("s") as scope:
            scope.reuse_variables()
            seen.append(v1.get_variable("w", [2, 2]) is w)
        seen.append(error_of(lambda: v1.get_variable("open", [None])))
        seen.append(error_of(lambda: v1.get_variable("given", [1], initializer=tf.ones([1]))))
        return seen

    agree(program)


def test_what_scopes_pass_on():
    def program(v1, tf):
        with v1.variable_scope("outer", initializer=v1.constant_initializer(3.0), dtype=tf.float64):
            one = v1.get_variable("one", [2])
            with v1.variable_scope("inner"):
                two = v1.get_variable("two", [1], dtype=tf.float32)
        counted = v1.get_variable("n", [2], tf.int32)
        fixed = v1.get_variable("fixed", initializer=tf.constant([1, 2]), trainable=False)
        local = v1.get_local_variable("local", [], initializer=v1.ones_initializer())
        layer = v1.make_template(
            "shared", lambda x: x * v1.get_variable("w", [], initializer=v1.ones_initializer())
        )
        results = [layer(2.0), layer(3.0)]
        collected = [
            [v.name for v in v1.get_collection(key)]
            for key in (v1.GraphKeys.TRAINABLE_VARIABLES, v1.GraphKeys.LOCAL_VARIABLES)
        ]
        v1.add_to_collection("mine", 1)
        v1.add_to_collections(["mine", "yours"], 2)
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            values = session.run([one, two, counted, fixed, local, results])
        return [values, collected, v1.get_collection("mine"), v1.get_collection("yours")]

    agree(program)


def test_initializers():
    def program(v1, tf):
        v1.set_random_seed(5)
        makers = [
            v1.glorot_uniform_initializer(), v1.glorot_normal_initializer(),
            v1.random_normal_initializer(1.0, 0.5), v1.random_uniform_initializer(-1.0, 1.0),
            v1.truncated_normal_initializer(stddev=0.1), v1.variance_scaling_initializer(2.0),
            v1.uniform_unit_scaling_initializer(), v1.initializers.he_uniform(seed=3),
            v1.constant_initializer([1.0, 2.0]), v1.ones_initializer(tf.float64),
            v1.variance_scaling_initializer(mode="fan_out", distribution="uniform", seed=1),
        ]  # fmt: skip
        values = [maker([3, 3, 2, 4]) for maker in makers]
        with v1.Session() as session:
            return [session.run(values), session.run(v1.initializers.identity()([2, 3]))]

    agree(program)


def test_graphs():
    def program(v1, tf):
        graph = v1.get_default_graph()
        x = v1.placeholder(tf.float32, [None, 2], name="in")
        y = tf.nn.relu(x, name="out")
        found = [graph.get_tensor_by_name("out:0") is y,
                 graph.get_operation_by_name("in").type, y.op.inputs[0] is x,
                 graph.as_graph_element("out:0") is y]  # fmt: skip
        found += [error_of(lambda: graph.get_tensor_by_name("none:0")),
                  error_of(lambda: graph.get_tensor_by_name("out")),
                  error_of(lambda: graph.get_operation_by_name("none"))]  # fmt: skip
        found += [x == y, x == x, len({x, y}), y.shape.as_list(), tf.executing_eagerly(), str(x)]
        other = tf.Graph()
        with other.as_default():
            found += [v1.get_default_graph() is other, tf.constant(1.0).graph is other]
        found.append(error_of(lambda: tf.add(x, _in(other, tf))))
        graph.finalize()
        found.append(error_of(lambda: tf.constant(1.0)))
        return found

    def _in(graph, tf):
        with graph.as_default():
            return tf.constant(1.0)

    agree(program)
