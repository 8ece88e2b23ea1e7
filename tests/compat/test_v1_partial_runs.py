"""Runs in parts: each operation is done once, and what was not announced is refused."""

from both_v1 import agree, error_of


def test_updates_happen_once():
    def program(v1, tf):
        a, b, c = (v1.placeholder(tf.float32, []) for _ in range(3))
        v = v1.get_variable("v", initializer=tf.constant(1.0))
        first = v.assign_add(a) + 0.0
        second = first * b
        drawn = tf.random.uniform([])
        third = drawn + c
        with v1.Session() as session:
            session.run(v.initializer)
            run = session.partial_run_setup([first, second, drawn, third], [a, b, c])
            found = [session.partial_run(run, first, {a: 2.0})]
            found += [session.partial_run(run, second, {b: 3.0}), session.run(v)]
            before = session.partial_run(run, drawn)
            found.append(bool(session.partial_run(run, third, {c: 0.0}) == before))
            return [*found, error_of(lambda: session.partial_run(run, first))]

    agree(program)


def test_what_is_refused():
    def program(v1, tf):
        a, b = (v1.placeholder(tf.float32, []) for _ in range(2))
        first = a + 1.0
        second = first * b
        found = []
        with v1.Session() as session:
            for fetches, feeds, fetch, fed in (
                ([first, second], [a, b], second, {a: 1.0}),
                ([first], [a], second, {a: 1.0}),
                ([first, second], [a], first, {a: 1.0, b: 1.0}),
            ):
                run = session.partial_run_setup(fetches, feeds)
                found.append(error_of(lambda: session.partial_run(run, fetch, fed)))
            found.append(error_of(lambda: session.partial_run("none", first, {a: 1.0})))
        return found

    agree(program)


def test_names_differ_by_more_than_their_letter_case():
    def program(v1, tf):
        names = [tf.constant(1, name=n).name for n in ("Foo", "foo", "FOO", "foo_1", "Foo_1")]
        with v1.name_scope("fOO") as scope:
            names.append(scope)
        graph = v1.get_default_graph()
        names += [graph.unique_name("foo"), graph.unique_name("FOO_9", mark_as_used=False)]
        return [*names, *[v1.get_variable(n, [1]).name for n in ("Var", "var")]]

    agree(program)
