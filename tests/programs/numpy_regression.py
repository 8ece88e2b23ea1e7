import sys

import numpy as np
import tensorflow as tf

X_raw = np.array([2013, 2014, 2015, 2016, 2017], dtype=np.float32)
y_raw = np.array([12000, 14000, 15000, 16500, 17500], dtype=np.float32)
X = (X_raw - X_raw.min()) / (X_raw.max() - X_raw.min())
y = (y_raw - y_raw.min()) / (y_raw.max() - y_raw.min())
a, b = np.float32(0), np.float32(0)
learning_rate = np.float32(5e-4)
for _ in range(int(sys.argv[1])):
    y_pred = a * X + b
    grad_a, grad_b = 2 * (y_pred - y).dot(X), 2 * (y_pred - y).sum()
    a, b = a - learning_rate * grad_a, b - learning_rate * grad_b
print(tf.constant(a), tf.constant(b))
