import tensorflow as tf

a = tf.constant(1)
b = tf.constant(1)
c = tf.add(a, b)
print(c)
print(repr(a + b))
A = tf.constant([[1, 2], [3, 4]])
B = tf.constant([[5, 6], [7, 8]])
C = tf.matmul(A, B)
print(C)
