import sys

import numpy as np
import tensorflow as tf

DATA = {
    "2013": ([2013, 2014, 2015, 2016, 2017], [12000, 14000, 15000, 16500, 17500], 5e-4),
    "2015": (
        [2015, 2016, 2017, 2018, 2019, 2020],
        [12000, 14000, 15000, 16500, 17500, 19000],
        1e-3,
    ),
}
years, prices, learning_rate = DATA[sys.argv[2]]
X_raw = np.array(years, dtype=np.float32)
y_raw = np.array(prices, dtype=np.float32)
X = tf.constant((X_raw - X_raw.min()) / (X_raw.max() - X_raw.min()))
y = tf.constant((y_raw - y_raw.min()) / (y_raw.max() - y_raw.min()))
a = tf.Variable(initial_value=0.0)
b = tf.Variable(initial_value=0.0)
variables = [a, b]
for _ in range(int(sys.argv[1])):
    with tf.GradientTape() as tape:
        y_pred = a * X + b
        loss = tf.reduce_sum(tf.square(y_pred - y))
    for variable, grad in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(learning_rate * grad)
print(loss.dtype, loss.shape)
print(f"a={a.numpy():.4f} b={b.numpy():.4f}")
