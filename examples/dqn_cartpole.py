"""Deep Q-learning: a network learns to balance a pole on a cart.

A plain TensorFlow 2 program with the CartPole game of gymnasium, or of its predecessor gym
(`pip install gymnasium`). It stops when the last 100 episodes lasted longer than 195 steps on
average.
"""

import argparse
import collections
import random

import numpy as np
import tensorflow as tf

try:
    import gymnasium as gym
except ImportError:
    import gym

SOLVED = 195.0
DISCOUNT = 0.99
BATCH_SIZE = 64
TARGET_RATE = 0.005  # how far the target follows the network at each step


class QNetwork(tf.keras.Model):
    """From the state of the game to the worth of each action."""

    def __init__(self, actions):
        super().__init__()
        self.dense1 = tf.keras.layers.Dense(64, activation="relu")
        self.dense2 = tf.keras.layers.Dense(64, activation="relu")
        self.dense3 = tf.keras.layers.Dense(actions)

    def call(self, inputs):
        return self.dense3(self.dense2(self.dense1(inputs)))

    def best_action(self, state):
        return int(tf.argmax(self(state[np.newaxis]), axis=-1)[0])


class Game:
    """A gym environment of either call style, giving float32 states."""

    def __init__(self, name, seed):
        self.environment = gym.make(name)
        self.actions = self.environment.action_space.n
        self.seed = seed

    def reset(self):
        try:
            result = self.environment.reset(seed=self.seed)
        except TypeError:  # Old environments take no seed here.
            result = self.environment.reset()
        self.seed = None
        return np.array(result[0] if isinstance(result, tuple) else result, dtype=np.float32)

    def step(self, action):
        """The next state, the reward, whether the pole fell, and whether the episode is over."""
        state, reward, *flags, info = self.environment.step(action)
        if len(flags) == 2:
            fell, cut_off = flags
        else:
            cut_off = info.get("TimeLimit.truncated", False)
            fell = flags[0] and not cut_off
        return np.array(state, dtype=np.float32), float(reward), fell, fell or cut_off


def learn(model, target, optimizer, memory):
    """One step of gradient descent on a random batch of what happened."""
    batch = random.sample(memory, BATCH_SIZE)
    state, action, reward, next_state, fell = map(np.array, zip(*batch, strict=True))
    # The network chooses the next action, the target says what it is worth (double Q-learning).
    chosen = tf.one_hot(tf.argmax(model(next_state), axis=-1), depth=2)
    worth = tf.reduce_sum(target(next_state) * chosen, axis=-1)
    y = reward.astype(np.float32) + DISCOUNT * worth * (1.0 - fell.astype(np.float32))
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(state) * tf.one_hot(action, depth=2), axis=-1)
        loss = tf.keras.losses.huber(y, q)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    for slow, fast in zip(target.variables, model.variables, strict=True):
        slow.assign_add(TARGET_RATE * (fast - slow))


def main():
    parser = argparse.ArgumentParser(description="Learn to balance a pole.")
    parser.add_argument("--episodes", type=int, default=300, help="the most episodes to play")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(options.seed)
    game = Game("CartPole-v1", options.seed)
    model, target = QNetwork(game.actions), QNetwork(game.actions)
    optimizer = tf.keras.optimizers.Adam(learning_rate=5e-4)
    memory = collections.deque(maxlen=50000)
    scores = collections.deque(maxlen=100)
    for episode in range(1, options.episodes + 1):
        state, score, over = game.reset(), 0.0, False
        if episode == 1:
            model(state[np.newaxis]), target(state[np.newaxis])
        epsilon = max(0.02, 0.97**episode)
        while not over:
            if random.random() < epsilon:
                action = random.randrange(game.actions)
            else:
                action = model.best_action(state)
            next_state, reward, fell, over = game.step(action)
            memory.append((state, action, reward, next_state, fell))
            state, score = next_state, score + reward
            if len(memory) >= BATCH_SIZE:
                learn(model, target, optimizer, memory)
        scores.append(score)
        average = sum(scores) / len(scores)
        if episode % 10 == 0 or episode == options.episodes:
            print(f"episode {episode}: score {score:.0f}, average {average:.1f}", flush=True)
        if len(scores) == scores.maxlen and average > SOLVED:
            print(f"solved after {episode} episodes: average score {average:.1f}")
            break


if __name__ == "__main__":
    main()
