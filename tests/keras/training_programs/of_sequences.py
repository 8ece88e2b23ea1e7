"""Programs on sequences and tables."""

import numpy as np


def characters(tf, keras, show):
    """Characters by a GRU, and text drawn from it."""
    text = "to be or not to be that is the question " * 40 + "all the world is a stage " * 30
    vocab = sorted(set(text))
    layers = keras.layers
    ids_of = layers.StringLookup(vocabulary=list(vocab), mask_token=None)
    back = layers.StringLookup(vocabulary=ids_of.get_vocabulary(), invert=True, mask_token=None)
    ids = ids_of(tf.strings.unicode_split(text, "UTF-8"))
    dataset = (
        tf.data.Dataset.from_tensor_slices(ids)
        .batch(21, drop_remainder=True)
        .map(lambda state: (state[:-1], state[1:]))
        .shuffle(10000)
        .batch(16, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )

    class Writer(keras.Model):
        def __init__(self, words, width, units):
            super().__init__(self)
            self.e = layers.Embedding(words, width)
            self.g = layers.GRU(units, return_sequences=True, return_state=True)
            self.d = layers.Dense(words)

        def call(self, inputs, states=None, return_state=False, training=False):
            values = inputs
            values = self.e(values, training=training)
            if states is None:
                states = self.g.get_initial_state(values)
            values, state = self.g(values, initial_state=states, training=training)
            values = self.d(values, training=training)
            return (values, state) if return_state else values

    model = Writer(len(ids_of.get_vocabulary()), 8, 16)
    for values, _targets in dataset.take(1):
        scores = model(values)
        show("p", np.sum(np.abs(scores)), tf.random.categorical(scores[0], num_samples=1)[:, 0])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    run = model.fit(dataset, epochs=3, verbose=0)
    show("loss", run.history["loss"])

    class OneStep(keras.Model):
        def __init__(self):
            super().__init__()

        @tf.function
        def step(self, character, states=None):
            numbers = ids_of(tf.strings.unicode_split(character, "UTF-8")).to_tensor()
            scores, state = model(inputs=numbers, states=states, return_state=True)
            scores = scores[:, -1, :] / 1.0
            drawn = tf.squeeze(tf.random.categorical(scores, num_samples=1), axis=-1)
            return (back(drawn), state)

    writer = OneStep()
    states = None
    character = tf.constant(["to "])
    out = []
    for _ in range(30):
        character, states = writer.step(character, states=states)
        out.append(character.numpy()[0])
    show("text", np.array(out))


def words(tf, keras, show):
    """Skip-grams and negative samples."""
    random = np.random.default_rng(0)
    seqs = [random.integers(0, 30, 10).tolist() for _ in range(20)]
    table = keras.preprocessing.sequence.make_sampling_table(30)
    targets, contexts, labels = ([], [], [])
    for sequence in seqs:
        pairs, _ = keras.preprocessing.sequence.skipgrams(
            sequence, vocabulary_size=30, sampling_table=table, window_size=2, negative_samples=0
        )
        show("pos", np.array(pairs).reshape(-1, 2))
        for target, context in pairs:
            true = tf.expand_dims(tf.constant([context], dtype="int64"), 1)
            negatives, _, _ = tf.random.log_uniform_candidate_sampler(
                true_classes=true,
                num_true=1,
                num_sampled=4,
                unique=True,
                range_max=30,
                seed=42,
                name="negative_sampling",
            )
            targets.append(target)
            contexts.append(tf.concat([tf.squeeze(true, 1), negatives], 0))
            labels.append(tf.constant([1] + [0] * 4, dtype="int64"))
    show("neg", np.array(contexts))
    dataset = (
        tf.data.Dataset.from_tensor_slices(
            ((np.array(targets), np.array(contexts)), np.array(labels))
        )
        .shuffle(10000)
        .batch(16, drop_remainder=True)
        .cache()
        .prefetch(2)
    )

    class Embeddings(keras.Model):
        def __init__(self):
            super().__init__()
            self.t = keras.layers.Embedding(30, 8, input_length=1, name="w2v")
            self.c = keras.layers.Embedding(30, 8, input_length=5)

        def call(self, pair):
            target, context = pair
            if len(target.shape) == 2:
                target = tf.squeeze(target, axis=1)
            return tf.einsum("be,bce->bc", self.t(target), self.c(context))

    model = Embeddings()
    model.compile(
        "adam", keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    run = model.fit(dataset, epochs=4, verbose=0)
    show("l", run.history["loss"], run.history["accuracy"])
    show(
        "skip",
        np.array(keras.preprocessing.sequence.skipgrams(seqs[0], 30, window_size=2, seed=3)[0]),
        np.array(keras.preprocessing.sequence.skipgrams(seqs[0], 30, window_size=2)[0]),
    )


def forecasts(tf, keras, show):
    """Windows of time series, shuffled."""
    import pandas as pd

    layers = keras.layers
    random = np.random.default_rng(5)
    time = np.arange(700)
    table = pd.DataFrame(
        {
            "a": np.sin(time / 9.0) + random.normal(size=700) * 0.1,
            "b": np.cos(time / 17.0),
            "c": random.normal(size=700),
        }
    )
    train, validation, test = (table[:490], table[490:630], table[630:])
    mean, std = (train.mean(), train.std())
    train, validation, test = [(frame - mean) / std for frame in (train, validation, test)]

    def windows(frame, width, shift):
        dataset = keras.utils.timeseries_dataset_from_array(
            data=np.array(frame, dtype=np.float32),
            targets=None,
            sequence_length=width + shift,
            sequence_stride=1,
            shuffle=True,
            batch_size=32,
        )

        def split(window):
            inputs, labels = (window[:, :width], window[:, -1:, :1])
            inputs.set_shape([None, width, None])
            labels.set_shape([None, 1, None])
            return (inputs, labels)

        return dataset.map(split)

    train_windows, validation_windows, test_windows = [
        windows(frame, 6, 1) for frame in (train, validation, test)
    ]
    for inputs_, labels_ in train_windows.take(1):
        show("x", np.sum(inputs_), np.sum(labels_))
    for name, model in {
        "linear": keras.Sequential([layers.Flatten(), layers.Dense(1), layers.Reshape([1, -1])]),
        "conv": keras.Sequential(
            [
                layers.Conv1D(8, 6, activation="relu"),
                layers.Dense(8, activation="relu"),
                layers.Dense(1),
            ]
        ),
        "lstm": keras.Sequential(
            [layers.LSTM(8, return_sequences=False), layers.Dense(1), layers.Reshape([1, 1])]
        ),
    }.items():
        model.compile(
            loss=keras.losses.MeanSquaredError(),
            optimizer=keras.optimizers.Adam(),
            metrics=[keras.metrics.MeanAbsoluteError()],
        )
        run = model.fit(
            train_windows,
            epochs=3,
            validation_data=validation_windows,
            callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, mode="min")],
            verbose=0,
        )
        for key in sorted(run.history):
            show(name + key, run.history[key])
        show(name + "test", model.evaluate(test_windows, verbose=0))


def sequences(tf, keras, show):
    """An encoder and a decoder with attention and dropout."""
    layers = keras.layers
    random = np.random.default_rng(3)
    sources = random.integers(1, 15, (48, 6))
    targets = sources[:, ::-1].copy()
    encoder_input = layers.Input((None,))
    embedded = layers.Embedding(15, 8)(encoder_input)
    encoded, state, carry = layers.LSTM(8, return_sequences=True, return_state=True, dropout=0.1)(
        embedded
    )
    decoder_input = layers.Input((None,))
    shifted = layers.Embedding(15, 8)(decoder_input)
    decoded, _, _ = layers.LSTM(8, return_sequences=True, return_state=True)(
        shifted, initial_state=[state, carry]
    )
    attended = layers.Attention()([decoded, encoded])
    joined = layers.Concatenate()([decoded, attended])
    joined = layers.Dropout(0.2)(joined)
    model = keras.Model(
        [encoder_input, decoder_input], layers.Dense(15, activation="softmax")(joined)
    )
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
    started = np.concatenate([np.zeros((48, 1), int), targets[:, :-1]], 1)
    run = model.fit(
        [sources, started], targets, batch_size=16, epochs=4, validation_split=0.2, verbose=0
    )
    for key in sorted(run.history):
        show(key, run.history[key])


def fuel(tf, keras, show):
    """Regression on the columns of a table, normalized."""
    import pandas as pd

    layers = keras.layers
    random = np.random.default_rng(6)
    table = pd.DataFrame(
        random.normal(size=(120, 4)) * [1, 5, 100, 2] + [3, 2, 500, 1], columns=list("abcd")
    )
    table["mpg"] = table.a * 2 + table.b - table.c * 0.02 + random.normal(size=120)
    train = table.sample(frac=0.8, random_state=0)
    test = table.drop(train.index)
    train_inputs, test_inputs = (train.copy(), test.copy())
    train_labels, test_labels = (train_inputs.pop("mpg"), test_inputs.pop("mpg"))
    normalization = layers.Normalization(axis=-1)
    normalization.adapt(np.array(train_inputs))
    show("n", normalization.mean)
    of_one = layers.Normalization(input_shape=[1], axis=None)
    of_one.adapt(np.array(train_inputs["c"]))
    linear = keras.Sequential([of_one, layers.Dense(units=1)])
    linear.compile(keras.optimizers.Adam(0.1), "mean_absolute_error")
    run = linear.fit(train_inputs["c"], train_labels, epochs=5, verbose=0, validation_split=0.2)
    show("one", run.history["loss"], run.history["val_loss"])
    model = keras.Sequential(
        [
            normalization,
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile(loss="mean_absolute_error", optimizer=keras.optimizers.Adam(0.001))
    run = model.fit(train_inputs, train_labels, validation_split=0.2, verbose=0, epochs=5)
    show("dnn", run.history["loss"], run.history["val_loss"])
    show("e", model.evaluate(test_inputs, test_labels, verbose=0))
    show("p", model.predict(test_inputs, verbose=0).flatten()[:4])


PROGRAMS = {
    each.__name__: each
    for each in (
        characters,
        words,
        forecasts,
        sequences,
        fuel,
    )
}
