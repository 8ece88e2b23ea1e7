"""Programs in the manner of the guide to tf.function; `tf` is the library they are loaded for."""

# ruff: noqa: F821


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        print("Tracing for loop")
        if i % 15 == 0:
            print("Tracing fizzbuzz branch")
            tf.print("fizzbuzz")
        elif i % 3 == 0:
            print("Tracing fizz branch")
            tf.print("fizz")
        elif i % 5 == 0:
            print("Tracing buzz branch")
            tf.print("buzz")
        else:
            print("Tracing default branch")
            tf.print(i)


class Agent:
    def __init__(self):
        self.steps = tf.Variable(0)

    @tf.function
    def episode(self, state, max_steps):
        seen = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
        shape = state.shape
        for t in tf.range(max_steps):
            state = state * 3 % 17
            state.set_shape(shape)
            seen = seen.write(t, state)
            self.steps.assign_add(1)
            if tf.reduce_any(state == 2):
                break
        return seen.stack()


@tf.function
def collatz(x):
    tf.print("from", x)
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@tf.function
def fit(target, steps):
    w = tf.constant(5.0)
    for step in tf.range(steps):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = (w - target) ** 2
        w = w - 0.25 * tape.gradient(loss, w)
        if loss < 1e-2:
            tf.print("converged after", step)
            break
    return w


def run():
    fizzbuzz(tf.constant(5))
    fizzbuzz(tf.constant(20))
    agent = Agent()
    print(agent.episode(tf.constant([1, 3]), tf.constant(30)).numpy().tolist())
    print(agent.steps.numpy().item(), collatz(tf.constant(7)).numpy().item())
    print(fit(tf.constant(2.0), tf.constant(100)).numpy().item())
