"""Functions whose control flow tensors decide; `tf` is the library that they are loaded for.

`EXAMPLES` holds each with arguments (arrays become tensors). Runnel must do with all of them what
TensorFlow does; those of `BEYOND` TensorFlow refuses, and Python says what they compute.
"""

# ruff: noqa: B007, F821, F841

EXAMPLES = []
BEYOND = []


def example(*arguments):
    def add(function):
        EXAMPLES.append((function, arguments))
        return function

    return add


def beyond(*arguments):
    def add(function):
        BEYOND.append((function, arguments))
        return function

    return add


# Branches


@example([3])
@example([-3])
def branch(x):
    if x > 0:
        y = x * x
    else:
        y = -x
    return y


@example([3])
@example([-3])
@example([0])
def elif_chain(x):
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    else:
        y = 0
    return y


@example([3])
@example([-3])
def changed_in_one_branch(x):
    y = 10
    if x > 0:
        y = y + 1
    return y


@example([3])
def only_main_branch(x):
    if x > 0:
        y = 1
    return y


@example([3])
def only_else_branch(x):
    if x > 0:
        pass
    else:
        y = 1
    return y


@example([3])
def dead_after(x):
    if x > 0:
        y = 1
        z = y * 2
    else:
        z = 5
    return z


@example([3])
def none_before(x):
    y = None
    if x > 0:
        y = 1
    return y


@example([3])
def none_in_else(x):
    if x > 0:
        y = 1
    else:
        y = None
    return y


@example([3])
def none_in_both(x):
    if x > 0:
        y = None
    else:
        y = None
    return y


@example([3])
def different_dtypes(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


@example([3])
def number_and_tensor(x):
    if x > 0:
        y = 1
    else:
        y = tf.constant(2.0)
    return y


@example([3])
@example([-3])
def different_shapes(x):
    if x > 0:
        y = tf.constant([1, 2])
    else:
        y = tf.constant(1)
    return y


@example([3])
def different_structures(x):
    if x > 0:
        y = (1, 2)
    else:
        y = 1
    return y


@example([3])
def different_lengths(x):
    if x > 0:
        y = [1, 2]
    else:
        y = [1]
    return y


@example([3])
@example([-3])
def structures(x):
    if x > 0:
        y = {"a": x, "b": (x, 2.0)}
    else:
        y = {"a": -x, "b": (1, 3.0)}
    return y["a"], y["b"]


@example([3])
def objects(x):
    if x > 0:
        y = object()
    else:
        y = object()
    return y


@example([3])
def unused_objects(x):
    if x > 0:
        y = object()
    else:
        y = object()
    return x


@example([3])
@example([-3])
def strings(x):
    if x > 0:
        y = "positive"
    else:
        y = "negative"
    return y


@example([[1, 2]])
def vector_condition(x):
    if x > 0:
        return x
    return x * 2


@example([3])
def integer_condition(x):
    if x:
        return x
    return x * 2


@example([3])
def attribute_of_an_object(x):
    holder = type("Holder", (), {})()
    holder.a = 1
    if x > 2:
        holder.a = 3
    return holder.a


@example([3])
def new_attribute(x):
    holder = type("Holder", (), {})()
    if x > 2:
        holder.a = 3
    else:
        holder.a = 4
    return holder.a


@example([3])
@example([1])
def key_of_a_dict(x):
    d = {"a": 1}
    if x > 2:
        d["a"] = 4
    return d


@example([3])
@example([1])
def nonlocal_name(x):
    y = 1

    def change():
        nonlocal y
        if x > 2:
            y = 3
        return y

    change()
    return y


@beyond([3])
@beyond([1])
def nonlocal_in_branch(x):
    y = 1

    def change():
        nonlocal y
        y = 5

    if x > 2:
        change()
    return y


# Returns


@example([3])
@example([-3])
def early_return(x):
    if x > 0:
        return x
    y = x - 1
    return y * 2


@example([3])
def return_in_one_branch(x):
    if x > 0:
        return x


@example([3])
def return_none(x):
    if x > 0:
        return x
    return None


@example([3])
def return_different_dtypes(x):
    if x > 0:
        return x
    return 3.0


@example([3])
@example([1])
@example([-1])
def returns_in_all_branches(x):
    if x > 0:
        if x > 2:
            return 1
        else:
            return 2
    else:
        return 3


# While


@example([3])
def count_up(n):
    i = 0
    while i < n:
        i = i + 1
    return i


@example([20])
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@example([3])
def defined_in_loop(x):
    while x > 0:
        y = x
        x = x - 1
    return y


@example([0])
def defined_in_loop_without_rounds(x):
    while x > 0:
        y = x
        x = x - 1
    return y


@example([3])
def none_before_loop(x):
    y = None
    while x > 0:
        y = x
        x = x - 1
    return y


@example([3])
def defined_in_part_of_loop(x):
    while x > 0:
        if x > 1:
            y = x
        x = x - 1
    return y


@example([3])
def dtype_changes(x):
    y = 1
    while x > 0:
        y = 1.0
        x = x - 1
    return y


@example([3])
def division_changes_dtype(x):
    y = 1
    while x > 0:
        y = y / 2
        x = x - 1
    return y


@example([3])
def shape_changes(x):
    y = tf.zeros([1])
    while x > 0:
        y = tf.concat([y, y], 0)
        x = x - 1
    return y


@example([3])
def shape_may_change(x):
    y = tf.zeros([1])
    while x > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y], 0)
        x = x - 1
    return y


@example([30])
def at_most(x):
    y = 0
    while x > 0:
        tf.autograph.experimental.set_loop_options(maximum_iterations=5)
        y += 1
        x = x - 1
    return y


@example([3])
def structure_changes(x):
    y = (1, 2)
    while x > 0:
        y = (1, 2, 3)
        x = x - 1
    return y


@example([3])
def structure_kept(x):
    y = (1, {"a": 2.0})
    while x > 0:
        y = (y[0] + 1, {"a": y[1]["a"] * 2.0})
        x = x - 1
    return y


@example([3])
def list_grows(x):
    y = []
    while x > 0:
        y = y + [x]  # noqa: RUF005
        x = x - 1
    return y


@example([3])
def integer_test(x):
    while x:
        x -= 1
    return x


@example([3])
def object_changes(x):
    o = object()
    while x > 0:
        o = object()
        x -= 1
    return [o, x][1]


@example([3])
def text_grows(x):
    s = "a"
    while x > 0:
        s += "b"
        x -= 1
    return s


@example([10])
def break_and_continue(n):
    total = 0
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        if i > 7:
            break
        total = total + i
    return total, i


@example([3])
def break_from_python_loop(x):
    while True:
        x = x - 1
        if x == 1:
            break
    return x


@example([3])
def break_from_python_for(x):
    total = 0
    for i in range(4):
        if i > x:
            break
        total += i
    return total


@example([3])
def python_loop(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


# For


@example([3])
def last_of_range(x):
    for i in tf.range(x):
        pass
    return i


@example([3])
def range_with_step(x):
    i = 0
    for i in tf.range(x, 20, 4):
        pass
    return i


@example([-3])
def range_downwards(x):
    total = 0
    for i in tf.range(10, x, x):
        total += i
    return total


@example([3])
def range_of_floats(x):
    total = 0.0
    for i in tf.range(0.0, 1.0, 0.25):
        total += i * tf.cast(x, tf.float32)
    return total


@example([3])
def defined_in_for(x):
    for i in tf.range(x):
        y = i
    return y


@example([[1, 2, 3]])
def over_vector(x):
    total = 0
    for i in x:
        total += i
    return total


@example([[[1.0, 2.0], [3.0, 4.0]]])
def over_rows(x):
    total = tf.zeros([2])
    for row in x:
        if row[0] > 2.0:
            total += row
        else:
            total -= row
    return total


@example([3])
def over_scalar(x):
    for _ in x:
        pass
    return x


@example([3])
def python_range_of_tensor(x):
    total = 0.0
    for i in range(x):
        total += tf.cast(i, tf.float32)
    return total


@example([3])
def break_in_for(x):
    total = 0
    for i in tf.range(10):
        if i > x:
            break
        total += i
    return total


@example([1])
def nested_loops(x):
    for i in tf.range(3):
        for j in tf.range(3):
            if j == i:
                continue
            x += i * j
    return x


@example([2])
def break_in_nested_loops(x):
    found = -1
    for i in tf.range(4):
        for j in tf.range(4):
            if i * j == x:
                found = 10 * i + j
                break
    return found


@example([4])
def tensor_array(n):
    squares = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        squares = squares.write(i, i * i)
    return squares.stack()


# Expressions


@example([3], [4])
@example([5], [4])
def conditional_expression(x, y):
    return 1 if x < y else 2


@example([3], [4])
def conditional_dtypes(x, y):
    return 1 if x < y else 2.0


@example([3], [4])
def conditional_none(x, y):
    return None if x < y else 2


@example([3], [4])
@example([0], [4])
@example([3], [1])
def logic(x, y):
    return (x > 1 and y > 3), (x > 1 or y > 3), not x > 1


@example([3])
def negated_number(x):
    return not x


@example([3], [4])
@example([3], [2])
def comparison_chain(x, y):
    return 1 < x < y <= 4


@example([3])
def use_before_assignment(x):
    if False:
        y = 1
    return y


@example([3])
def use_after_delete(x):
    y = 1
    del y
    return y


# Functions


@example([[1, 2, 3]])
def length(x):
    return len(x)


@example([3])
def length_of_scalar(x):
    return len(x)


@example([3])
@example([2.75])
def numbers(x):
    return int(x), float(x)


@example([-3])
def absolute(x):
    return abs(x)


@example([[3, 1, 2]])
def in_order(x):
    return sorted(x)


def _helper(x):
    if x > 2:
        return x * 10
    return -x


@example([3])
@example([1])
def called_function(x):
    return _helper(x) + 1


@example([3])
@example([1])
def called_lambda(x):
    f = lambda v: v * 10 if v > 2 else -v  # noqa: E731
    return f(x)


@example([3])
@example([1])
def called_method(x):
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, v):
            if v > 2:
                v = v * self.factor
            return v

    return Scale(7)(x)


@example([[1, 2, 3, 4]])
def mapped(x):
    def halve(v):
        if v % 2 == 0:
            return v // 2
        return v

    return tf.map_fn(halve, x)


@example([5])
def recursion(x):
    def down(v, depth):
        if depth == 0:
            return v
        if v > 2:
            v = v - 2
        return down(v, depth - 1)

    return down(x, 3)


@example([3])
def a_generator_inside(x):
    def pairs():
        yield x
        yield x + 1

    return sum(pairs())


@example([3])
def raises(x):
    if x > 0:
        raise ValueError("my own error")
    return x


# Beyond the original


@beyond([3])
@beyond([30])
def return_from_while(x):
    while x > 0:
        x = x - 1
        if x == 7:
            return x * 100
    return x - 1


@beyond([3])
@beyond([30])
def return_from_for(x):
    for i in tf.range(10):
        if i > x:
            return i
    return x


@beyond([3])
def return_from_nested(x):
    for i in tf.range(10):
        for j in tf.range(10):
            if i * j > x:
                return i * 10 + j
    return x


@beyond([3])
@beyond([-3])
@beyond([1])
def return_from_part_of_branch(x):
    if x > 0:
        if x > 2:
            return x * 100
        y = 1
    else:
        y = 2
    return y + x


@beyond([3])
@beyond([-3])
def return_in_try(x):
    try:
        if x > 0:
            return x
    finally:
        x = x - 1
    return -x


@beyond([3])
@beyond([-3])
def return_in_else(x):
    if x > 0:
        x = x + 1
    else:
        return x * 100
    return x


@beyond([3])
def for_else(x):
    total = 0
    for i in tf.range(x):
        total += i
    else:
        total += 100
    return total


@beyond([3])
@beyond([9])
def for_break_else(x):
    total = 0
    for i in tf.range(5):
        if i == x:
            break
        total += i
    else:
        total += 100
    return total


@beyond([3])
def walrus_in_test(x):
    total = 0
    while (y := x - 1) > 0:
        total += y
        x = y
    return total


@beyond([3])
@beyond([-3])
def chain_of_calls(x):
    calls = []

    def middle():
        calls.append(1)
        return x

    result = 0 < middle() < 5
    assert len(calls) == 1
    return result
