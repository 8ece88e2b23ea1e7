import tensorflow as tf

x = tf.Variable(initial_value=3.0)
with tf.GradientTape() as tape:
    y = tf.square(x)
y_grad = tape.gradient(y, x)
print(y, y_grad)
print(x)
