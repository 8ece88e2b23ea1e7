"""Programs that make images, most of them by two networks against each other."""

import numpy as np
from training_programs.showing import sums_of

IMAGES = np.random.default_rng(5).uniform(-1, 1, (48, 16, 16, 1)).astype("float32")
PHOTOS = np.random.default_rng(6).uniform(0, 255, (32, 20, 20, 3)).astype("float32")


def images_from_noise(tf, keras, show):
    """Two networks against each other, by tapes in a function."""
    layers = keras.layers
    dataset = tf.data.Dataset.from_tensor_slices(IMAGES).shuffle(60000).batch(16)
    generator = keras.Sequential(
        [
            layers.Dense(4 * 4 * 8, use_bias=False, input_shape=(10,)),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((4, 4, 8)),
            layers.Conv2DTranspose(6, 5, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(
                1, 5, strides=2, padding="same", use_bias=False, activation="tanh"
            ),
        ]
    )
    show("gen", generator(tf.random.normal([1, 10]), training=False)[0, 3, 3])
    discriminator = keras.Sequential(
        [
            layers.Conv2D(8, 5, strides=2, padding="same", input_shape=[16, 16, 1]),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Conv2D(8, 5, strides=2, padding="same"),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    generator_optimizer, discriminator_optimizer = (
        keras.optimizers.Adam(0.0001),
        keras.optimizers.Adam(0.0001),
    )
    seed = tf.random.normal([4, 10])
    show("seed", seed)

    @tf.function
    def step(images):
        noise = tf.random.normal([16, 10])
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            fake = generator(noise, training=True)
            real_scores, fake_scores = (
                discriminator(images, training=True),
                discriminator(fake, training=True),
            )
            generator_loss = cross_entropy(tf.ones_like(fake_scores), fake_scores)
            discriminator_loss = cross_entropy(
                tf.ones_like(real_scores), real_scores
            ) + cross_entropy(tf.zeros_like(fake_scores), fake_scores)
        generator_optimizer.apply_gradients(
            zip(
                generator_tape.gradient(generator_loss, generator.trainable_variables),
                generator.trainable_variables,
                strict=False,
            )
        )
        discriminator_optimizer.apply_gradients(
            zip(
                discriminator_tape.gradient(discriminator_loss, discriminator.trainable_variables),
                discriminator.trainable_variables,
                strict=False,
            )
        )
        return (generator_loss, discriminator_loss)

    for _epoch in range(3):
        for batch in dataset:
            show("losses", *step(batch))
    show("sample", generator(seed, training=False)[:, 5, 5, 0])


def variational_autoencoder(tf, keras, show):
    """A variational autoencoder; noise in eager steps and in functions."""
    layers = keras.layers

    class CVAE(keras.Model):
        def __init__(self, size):
            super().__init__()
            self.n = size
            self.enc = keras.Sequential(
                [
                    layers.InputLayer(input_shape=(16, 16, 1)),
                    layers.Conv2D(4, 3, strides=2, activation="relu"),
                    layers.Flatten(),
                    layers.Dense(size + size),
                ]
            )
            self.dec = keras.Sequential(
                [
                    layers.InputLayer(input_shape=(size,)),
                    layers.Dense(4 * 4 * 4, activation="relu"),
                    layers.Reshape((4, 4, 4)),
                    layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="relu"),
                    layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
                ]
            )

        @tf.function
        def sample(self, noise=None):
            if noise is None:
                noise = tf.random.normal(shape=(5, self.n))
            return self.decode(noise, True)

        def encode(self, images):
            return tf.split(self.enc(images), 2, axis=1)

        def reparameterize(self, mean, log_variance):
            return tf.random.normal(shape=mean.shape) * tf.exp(log_variance * 0.5) + mean

        def decode(self, code, squashed=False):
            value = self.dec(code)
            return tf.sigmoid(value) if squashed else value

    optimizer = keras.optimizers.Adam(0.001)

    def log_density(sample, mean, log_variance):
        return tf.reduce_sum(
            -0.5
            * (
                (sample - mean) ** 2.0 * tf.exp(-log_variance)
                + log_variance
                + tf.math.log(2.0 * np.pi)
            ),
            axis=1,
        )

    def loss(autoencoder, images):
        mean, log_variance = autoencoder.encode(images)
        code = autoencoder.reparameterize(mean, log_variance)
        value = autoencoder.decode(code)
        reconstruction = -tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(logits=value, labels=images), axis=[1, 2, 3]
        )
        return -tf.reduce_mean(
            reconstruction + log_density(code, 0.0, 0.0) - log_density(code, mean, log_variance)
        )

    @tf.function
    def step(autoencoder, images, optimizer):
        with tf.GradientTape() as tape:
            value = loss(autoencoder, images)
        optimizer.apply_gradients(
            zip(
                tape.gradient(value, autoencoder.trainable_variables),
                autoencoder.trainable_variables,
                strict=False,
            )
        )
        return value

    data = np.where(IMAGES > 0, 1.0, 0.0).astype("float32")
    train = tf.data.Dataset.from_tensor_slices(data[:32]).shuffle(32).batch(8)
    test = tf.data.Dataset.from_tensor_slices(data[32:]).shuffle(16).batch(8)
    autoencoder = CVAE(2)
    codes = tf.random.normal(shape=[4, 2])
    for images in test.take(1):
        show("test", np.sum(images))
    for _epoch in range(3):
        for images in train:
            show("l", step(autoencoder, images, optimizer))
        average = keras.metrics.Mean()
        for images in test:
            average(loss(autoencoder, images))
        show("elbo", average.result())
    show(
        "sample",
        np.sum(autoencoder.sample(codes)),
        np.sum(autoencoder.sample()),
        np.sum(autoencoder.sample()),
    )


def image_to_image(tf, keras, show):
    """A U-Net with an adversary; random crops in a dataset."""
    layers = keras.layers
    init = tf.random_normal_initializer(0.0, 0.02)

    def down(filters, normalized=True):
        block = keras.Sequential()
        block.add(
            layers.Conv2D(
                filters, 4, strides=2, padding="same", kernel_initializer=init, use_bias=False
            )
        )
        if normalized:
            block.add(layers.BatchNormalization())
        block.add(layers.LeakyReLU())
        return block

    def up(filters, dropped=False):
        block = keras.Sequential()
        block.add(
            layers.Conv2DTranspose(
                filters, 4, strides=2, padding="same", kernel_initializer=init, use_bias=False
            )
        )
        block.add(layers.BatchNormalization())
        if dropped:
            block.add(layers.Dropout(0.5))
        block.add(layers.ReLU())
        return block

    inputs = layers.Input([16, 16, 1])
    image = inputs
    skips = []
    for discriminator in [down(4, False), down(6), down(8)]:
        image = discriminator(image)
        skips.append(image)
    for block_up, skip in zip([up(8, True), up(6)], reversed(skips[:-1]), strict=False):
        image = layers.Concatenate()([block_up(image), skip])
    generator = keras.Model(
        inputs,
        layers.Conv2DTranspose(
            1, 4, strides=2, padding="same", kernel_initializer=init, activation="tanh"
        )(image),
    )
    first, second = (layers.Input([16, 16, 1]), layers.Input([16, 16, 1]))
    pair = layers.concatenate([first, second])
    pair = down(4, False)(pair)
    pair = layers.ZeroPadding2D()(pair)
    discriminator = keras.Model([first, second], layers.Conv2D(1, 4, kernel_initializer=init)(pair))
    show("w", *sums_of(generator), *sums_of(discriminator))
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    generator_optimizer, discriminator_optimizer = (
        keras.optimizers.Adam(0.0002, beta_1=0.5),
        keras.optimizers.Adam(0.0002, beta_1=0.5),
    )

    @tf.function()
    def jitter(image, target):
        both = tf.stack([image, target])
        both = tf.image.resize(both, [18, 18], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
        both = tf.image.random_crop(both, size=[2, 16, 16, 1])
        image, target = (both[0], both[1])
        if tf.random.uniform(()) > 0.5:
            image = tf.image.flip_left_right(image)
            target = tf.image.flip_left_right(target)
        return (image, target)

    dataset = (
        tf.data.Dataset.from_tensor_slices((IMAGES[:12], IMAGES[12:24]))
        .map(jitter)
        .shuffle(400)
        .batch(1)
    )

    @tf.function
    def step(image, target):
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            made = generator(image, training=True)
            real_scores = discriminator([image, target], training=True)
            filters = discriminator([image, made], training=True)
            distance = tf.reduce_mean(tf.abs(target - made))
            generator_loss = cross_entropy(tf.ones_like(filters), filters) + 100 * distance
            discriminator_loss = cross_entropy(
                tf.ones_like(real_scores), real_scores
            ) + cross_entropy(tf.zeros_like(filters), filters)
        generator_optimizer.apply_gradients(
            zip(
                generator_tape.gradient(generator_loss, generator.trainable_variables),
                generator.trainable_variables,
                strict=False,
            )
        )
        discriminator_optimizer.apply_gradients(
            zip(
                discriminator_tape.gradient(discriminator_loss, discriminator.trainable_variables),
                discriminator.trainable_variables,
                strict=False,
            )
        )
        return (generator_loss, discriminator_loss, distance)

    for _number, (image, target) in dataset.repeat().take(20).enumerate():
        show("step", np.sum(image), *step(image, target))


def photographs(tf, keras, show):
    """Classes of images with augmentation."""
    layers = keras.layers
    labels = np.arange(32) % 3
    images = PHOTOS + 40 * labels[:, None, None, None]
    dataset = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels))
    train = dataset.take(24).batch(8).cache().shuffle(1000).prefetch(2)
    held_out = dataset.skip(24).batch(8)
    augmentation = keras.Sequential(
        [
            layers.RandomFlip("horizontal", input_shape=(20, 20, 3)),
            layers.RandomRotation(0.1),
            layers.RandomZoom(0.1),
        ]
    )
    for batch, _ in train.take(1):
        for _ in range(3):
            show("aug", np.sum(augmentation(batch)))
    model = keras.Sequential(
        [
            augmentation,
            layers.Rescaling(1.0 / 255),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Dropout(0.2),
            layers.Flatten(),
            layers.Dense(16, activation="relu"),
            layers.Dense(3, name="outputs"),
        ]
    )
    model.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    run = model.fit(train, validation_data=held_out, epochs=4, verbose=0)
    for key in sorted(run.history):
        show(key, run.history[key])


def two_styles(tf, keras, show):
    """Two generators and two judges with noise and dropout, by a persistent tape."""
    layers = keras.layers
    init = tf.random_normal_initializer(0.0, 0.02)

    def generator():
        return keras.Sequential(
            [
                layers.Conv2D(
                    4, 3, padding="same", kernel_initializer=init, input_shape=(16, 16, 1)
                ),
                layers.ReLU(),
                layers.Dropout(0.3),
                layers.Conv2D(1, 3, padding="same", kernel_initializer=init, activation="tanh"),
            ]
        )

    def discriminator():
        return keras.Sequential(
            [
                layers.GaussianNoise(0.1, input_shape=(16, 16, 1)),
                layers.Conv2D(4, 4, strides=2, kernel_initializer=init),
                layers.LeakyReLU(),
                layers.Conv2D(1, 4, kernel_initializer=init),
            ]
        )

    to_second, to_first, judge_first, judge_second = (
        generator(),
        generator(),
        discriminator(),
        discriminator(),
    )
    optimizers = [keras.optimizers.Adam(0.0002, beta_1=0.5) for _ in range(4)]
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    def jittered(image):
        image = tf.image.resize(image, [18, 18], method="nearest")
        image = tf.image.random_crop(image, [16, 16, 1])
        return tf.image.random_flip_left_right(image)

    firsts = (
        tf.data.Dataset.from_tensor_slices(IMAGES[:12])
        .cache()
        .map(jittered, num_parallel_calls=None)
        .shuffle(12)
        .batch(1)
    )
    seconds = (
        tf.data.Dataset.from_tensor_slices(IMAGES[12:24]).cache().map(jittered).shuffle(12).batch(1)
    )

    @tf.function
    def step(first, second):
        with tf.GradientTape(persistent=True) as tape:
            fake_second, fake_first = (
                to_second(first, training=True),
                to_first(second, training=True),
            )
            cycled_first, cycled_second = (
                to_first(fake_second, training=True),
                to_second(fake_first, training=True),
            )
            same_first, same_second = (
                to_first(first, training=True),
                to_second(second, training=True),
            )
            real_first_scores, real_second_scores, fake_first_scores, fake_second_scores = (
                judge_first(first, training=True),
                judge_second(second, training=True),
                judge_first(fake_first, training=True),
                judge_second(fake_second, training=True),
            )
            cycle_loss = tf.reduce_mean(tf.abs(first - cycled_first)) + tf.reduce_mean(
                tf.abs(second - cycled_second)
            )
            first_loss = (
                cross_entropy(tf.ones_like(fake_second_scores), fake_second_scores)
                + 10 * cycle_loss
                + 5 * tf.reduce_mean(tf.abs(second - same_second))
            )
            second_loss = (
                cross_entropy(tf.ones_like(fake_first_scores), fake_first_scores)
                + 10 * cycle_loss
                + 5 * tf.reduce_mean(tf.abs(first - same_first))
            )
            first_judge_loss = cross_entropy(
                tf.ones_like(real_first_scores), real_first_scores
            ) + cross_entropy(tf.zeros_like(fake_first_scores), fake_first_scores)
            second_judge_loss = cross_entropy(
                tf.ones_like(real_second_scores), real_second_scores
            ) + cross_entropy(tf.zeros_like(fake_second_scores), fake_second_scores)
        for optimizer, loss, model in zip(
            optimizers,
            (first_loss, second_loss, first_judge_loss, second_judge_loss),
            (to_second, to_first, judge_first, judge_second),
            strict=False,
        ):
            optimizer.apply_gradients(
                zip(
                    tape.gradient(loss, model.trainable_variables),
                    model.trainable_variables,
                    strict=False,
                )
            )
        return (first_loss, second_loss, first_judge_loss, second_judge_loss)

    for _ in range(2):
        for first, second in tf.data.Dataset.zip((firsts, seconds)):
            show("l", *step(first, second))


PROGRAMS = {
    each.__name__: each
    for each in (
        images_from_noise,
        variational_autoencoder,
        image_to_image,
        photographs,
        two_styles,
    )
}
