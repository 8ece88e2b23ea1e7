"""Programs that learn by acting in an environment."""

import random

import numpy as np
from training_programs.showing import sums_of as weights_of


def pole_actor_critic(tf, keras, show):
    """An actor and a critic balance a pole: a loop with random actions in a function."""
    import gymnasium as gym

    env = gym.make("CartPole-v1")
    seed = 42
    tf.random.set_seed(seed)
    np.random.seed(seed)
    env.reset(seed=seed)
    eps = np.finfo(np.float32).eps.item()

    class ActorCritic(keras.Model):
        def __init__(self, actions, hidden):
            super().__init__()
            self.common = keras.layers.Dense(hidden, activation="relu")
            self.actor = keras.layers.Dense(actions)
            self.critic = keras.layers.Dense(1)

        def call(self, value_):
            value_ = self.common(value_)
            return (self.actor(value_), self.critic(value_))

    model = ActorCritic(env.action_space.n, 128)

    @tf.numpy_function(Tout=[tf.float32, tf.int32, tf.int32])
    def env_step(action):
        state, reward, done, *_ = env.step(action)
        return (state.astype(np.float32), np.array(reward, np.int32), np.array(done, np.int32))

    def run_episode(initial, model, max_steps):
        probs = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        values = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        rewards = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        shape = initial.shape
        state = initial
        for step in tf.range(max_steps):
            state = tf.expand_dims(state, 0)
            logits, value = model(state)
            action = tf.random.categorical(logits, 1)[0, 0]
            chances = tf.nn.softmax(logits)
            values = values.write(step, tf.squeeze(value))
            probs = probs.write(step, chances[0, action])
            state, reward, done = env_step(action)
            state.set_shape(shape)
            rewards = rewards.write(step, reward)
            if tf.cast(done, tf.bool):
                break
        return (probs.stack(), values.stack(), rewards.stack())

    def expected(rewards, gamma, standardize=True):
        length = tf.shape(rewards)[0]
        returns = tf.TensorArray(tf.float32, length)
        rewards = tf.cast(rewards[::-1], tf.float32)
        total = tf.constant(0.0)
        shape = total.shape
        for _ in tf.range(length):
            total = rewards[_] + gamma * total
            total.set_shape(shape)
            returns = returns.write(_, total)
        returns = returns.stack()[::-1]
        if standardize:
            returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)
        return returns

    huber = keras.losses.Huber(reduction=keras.losses.Reduction.SUM)
    optimizer = keras.optimizers.Adam(0.01)

    @tf.function
    def train_step(initial, model, optimizer, gamma, max_steps):
        with tf.GradientTape() as tape:
            probs, values, rewards = run_episode(initial, model, max_steps)
            returns = expected(rewards, gamma)
            probs, values, returns = [
                tf.expand_dims(value_, 1) for value_ in (probs, values, returns)
            ]
            advantage = returns - values
            loss = -tf.math.reduce_sum(tf.math.log(probs) * advantage) + huber(values, returns)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
        return (tf.math.reduce_sum(rewards), loss)

    for _ in range(25):
        initial, _info = env.reset()
        initial = tf.constant(initial, tf.float32)
        show("initial", initial)
        reward, loss = train_step(initial, model, optimizer, 0.99, 200)
        show("reward, loss", reward, loss)
    show("weights", *weights_of(model))


def pole_values(tf, keras, show):
    """Values of actions, learnt from a memory that Python's generators draw from."""
    import gymnasium as gym

    environment = gym.make("CartPole-v1")
    state, _ = environment.reset(seed=4)
    layers = keras.layers

    def make():
        return keras.Sequential([layers.Dense(16, "relu", input_shape=(4,)), layers.Dense(2)])

    values_of, slow_values_of = (make(), make())
    slow_values_of.set_weights(values_of.get_weights())
    optimizer = keras.optimizers.Adam(0.001)
    memory = []

    @tf.function
    def train(state, action, reward, following, done):
        wanted = reward + 0.99 * tf.reduce_max(slow_values_of(following), 1) * (1.0 - done)
        with tf.GradientTape() as tape:
            loss = keras.losses.Huber()(
                wanted[:, None], tf.reduce_sum(values_of(state) * tf.one_hot(action, 2), 1)[:, None]
            )
        optimizer.apply_gradients(
            zip(
                tape.gradient(loss, values_of.trainable_variables),
                values_of.trainable_variables,
                strict=False,
            )
        )
        return loss

    for number in range(150):
        action = (
            random.randrange(2)
            if np.random.rand() < 0.5
            else int(np.argmax(values_of(state[None])[0]))
        )
        following, reward, done, truncated, _ = environment.step(action)
        memory.append((state, action, np.float32(reward), following, np.float32(done)))
        state = following
        if done or truncated:
            state, _ = environment.reset()
        if len(memory) >= 16 and number % 3 == 0:
            show(
                "l",
                train(
                    *[np.array(column) for column in zip(*random.sample(memory, 16), strict=False)]
                ),
            )


PROGRAMS = {
    each.__name__: each
    for each in (
        pole_actor_critic,
        pole_values,
    )
}
