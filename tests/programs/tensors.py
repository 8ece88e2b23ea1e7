import tensorflow as tf

random_float = tf.random.uniform(shape=())
zero_vector = tf.zeros(shape=(2))
A = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(A.shape)
print(A.dtype)
print(A.numpy())
print(random_float.shape, zero_vector)
B = tf.constant([[5.0, 6.0], [7.0, 8.0]])
print(tf.add(A, B))
print(tf.matmul(A, B))
