"""Programs that learn from files: sounds, tables, texts."""

import os

import numpy as np
from training_programs.showing import losses_seen, show_history, sums_of as weights_of


def words_in_sound(tf, keras, show):
    """Short words, as spectrograms: files by folder, a normalization that adapts, convolutions."""
    random = np.random.default_rng(1)
    classes = ["down", "go", "left", "up"]
    for number, name in enumerate(classes):
        os.makedirs(f"sounds/{name}")
        for i in range(24):
            length = 1600 - int(random.integers(0, 200))
            time = np.arange(length) / 1600
            wave = 0.5 * np.sin(
                2 * np.pi * (60 + 90 * number + random.normal() * 5) * time
            ) + 0.1 * random.normal(size=length)
            wav = tf.audio.encode_wav(tf.constant(np.clip(wave, -1, 1)[:, None], tf.float32), 1600)
            tf.io.write_file(f"sounds/{name}/{i:03}.wav", wav)
    train, val = keras.utils.audio_dataset_from_directory(
        directory="sounds",
        batch_size=8,
        validation_split=0.2,
        seed=0,
        output_sequence_length=1600,
        subset="both",
    )
    show("names", train.class_names)

    def squeeze(audio, labels):
        return (tf.squeeze(audio, axis=-1), labels)

    train = train.map(squeeze, tf.data.AUTOTUNE)
    val = val.map(squeeze, tf.data.AUTOTUNE)
    test = val.shard(num_shards=2, index=0)
    val = val.shard(num_shards=2, index=1)
    for audio, labels in train.take(2):
        show("first", np.sum(audio), labels)

    def spectrogram(wave):
        spectra_ = tf.abs(tf.signal.stft(wave, frame_length=63, frame_step=32))
        return spectra_[..., tf.newaxis]

    def spectra(dataset):
        return dataset.map(
            lambda audio, labels: (spectrogram(audio), labels), num_parallel_calls=tf.data.AUTOTUNE
        )

    train, val, test = (spectra(train), spectra(val), spectra(test))
    spectra_, labels = next(iter(train.take(1)))
    show("spectrogram", np.sum(spectra_), labels)
    train = train.cache().shuffle(10000).prefetch(tf.data.AUTOTUNE)
    val = val.cache().prefetch(tf.data.AUTOTUNE)
    test = test.cache().prefetch(tf.data.AUTOTUNE)
    normalization = keras.layers.Normalization()
    normalization.adapt(data=train.map(map_func=lambda spectra_, labels: spectra_))
    show("norm", normalization.mean, normalization.variance)
    model = keras.Sequential(
        [
            keras.layers.Input(shape=spectra_.shape[1:]),
            keras.layers.Resizing(32, 32),
            normalization,
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Conv2D(12, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Dropout(0.25),
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(4),
        ]
    )
    show("weights", *weights_of(model))
    model.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    run = model.fit(
        train,
        validation_data=val,
        epochs=3,
        callbacks=[keras.callbacks.EarlyStopping(verbose=0, patience=2), losses_seen(keras, show)],
        verbose=0,
    )
    show_history(show, run)
    results = model.evaluate(test, return_dict=True, verbose=0)
    show("test", results["loss"], results["accuracy"])
    show("pred", model.predict(test, verbose=0))


def rare_class(tf, keras, show):
    """A class that is rare: an initial bias, class weights, and batches drawn from both classes."""
    random = np.random.default_rng(2)
    count = 4000
    labels_ = (random.uniform(size=count) < 0.04).astype(np.int64)
    features_ = random.normal(size=(count, 12)) + labels_[:, None] * 0.8
    cut = [2400, 3200]
    xt, xv, xs = np.split(features_, cut)
    yt, yv, ys = np.split(labels_, cut)
    mean, dev = (xt.mean(0), xt.std(0))
    xt, xv, xs = [np.clip((a - mean) / dev, -5, 5) for a in (xt, xv, xs)]
    metrics_ = keras.metrics

    def metrics():
        return [
            keras.metrics.MeanSquaredError(name="Brier"),
            metrics_.BinaryCrossentropy(name="ce"),
            metrics_.TruePositives(name="tp"),
            metrics_.FalsePositives(name="fp"),
            metrics_.TrueNegatives(name="tn"),
            metrics_.FalseNegatives(name="fn"),
            metrics_.BinaryAccuracy(name="acc"),
            metrics_.Precision(name="precision"),
            metrics_.Recall(name="recall"),
            metrics_.AUC(name="auc"),
            metrics_.AUC(name="prc", curve="PR"),
        ]

    def make(bias=None):
        if bias is not None:
            bias = keras.initializers.Constant(bias)
        model = keras.Sequential(
            [
                keras.layers.Dense(16, activation="relu", input_shape=(12,)),
                keras.layers.Dropout(0.5),
                keras.layers.Dense(1, activation="sigmoid", bias_initializer=bias),
            ]
        )
        model.compile(
            optimizer=keras.optimizers.Adam(learning_rate=0.001),
            loss=keras.losses.BinaryCrossentropy(),
            metrics=metrics(),
        )
        return model

    def stop():
        return keras.callbacks.EarlyStopping(
            monitor="val_prc", verbose=0, patience=2, mode="max", restore_best_weights=True
        )

    model = make()
    show("weights", *weights_of(model))
    show("pred0", model.predict(xt[:10], verbose=0))
    show("eval0", model.evaluate(xt, yt, batch_size=200, verbose=0)[0])
    positives = yt.sum()
    negatives = len(yt) - positives
    bias = np.log([positives / negatives])
    model = make(bias)
    show("pred1", model.predict(xt[:10], verbose=0))
    show("eval1", model.evaluate(xt, yt, batch_size=200, verbose=0))
    model.save_weights("initial")
    run = model.fit(
        xt,
        yt,
        batch_size=200,
        epochs=5,
        callbacks=[stop(), losses_seen(keras, show)],
        validation_data=(xv, yv),
        verbose=0,
    )
    show_history(show, run)
    model = make()
    model.load_weights("initial")
    weighted = model.fit(
        xt,
        yt,
        batch_size=200,
        epochs=3,
        callbacks=[stop(), losses_seen(keras, show)],
        validation_data=(xv, yv),
        class_weight={0: len(yt) / negatives / 2, 1: len(yt) / positives / 2},
        verbose=0,
    )
    show_history(show, weighted)
    show("test", model.evaluate(xs, ys, batch_size=200, verbose=0))

    def endless(a, b):
        return tf.data.Dataset.from_tensor_slices((a, b)).shuffle(1000).repeat()

    positive, negative = (endless(xt[yt == 1], yt[yt == 1]), endless(xt[yt == 0], yt[yt == 0]))
    for features, labels in positive.take(2):
        show("pos", features, labels)
    both = tf.data.Dataset.sample_from_datasets([positive, negative], weights=[0.5, 0.5])
    # Without prefetch: how far that gets behind a take is left to the threads of the original.
    for features, labels in both.batch(200).take(1):
        show("mean label", labels, np.sum(features))
    both = both.batch(200).prefetch(2)
    model = make()
    model.load_weights("initial")
    val = tf.data.Dataset.from_tensor_slices((xv, yv)).cache().batch(200).prefetch(2)
    run = model.fit(
        both,
        epochs=3,
        steps_per_epoch=12,
        callbacks=[stop(), losses_seen(keras, show)],
        validation_data=val,
        verbose=0,
    )
    show_history(show, run)
    show("resampled test", model.evaluate(xs, ys, batch_size=200, verbose=0))


def overfitting(tf, keras, show):
    """Models of several sizes on the same endless dataset from a file, with decay and dropout."""
    random = np.random.default_rng(3)
    rows, features = (1200, 28)
    inputs = random.normal(size=(rows, features))
    weights = random.normal(size=features)
    targets = (inputs @ weights + random.normal(size=rows) * 4 > 0).astype(float)
    np.savetxt("higgs.csv", np.c_[targets, inputs], delimiter=",", fmt="%.6e")
    rows_of_csv = tf.data.experimental.CsvDataset("higgs.csv", [0.0] * (features + 1))

    def pack(*row):
        return (tf.stack(row[1:], 1), row[0])

    packed = rows_of_csv.batch(400).map(pack).unbatch()
    held_out = packed.take(200).cache()
    train = packed.skip(200).take(1000).cache()
    size = 100
    held_out = held_out.batch(size)
    train = train.shuffle(500).repeat().batch(size)
    for features_, labels in train.take(2):
        show("batch", np.sum(features_, 0), labels)
    steps = 1000 // size
    schedule = keras.optimizers.schedules.InverseTimeDecay(
        0.001, decay_steps=steps * 10, decay_rate=1, staircase=False
    )
    layers = keras.layers
    l2 = keras.regularizers.l2
    models = {
        "tiny": [layers.Dense(16, activation="elu", input_shape=(features,)), layers.Dense(1)],
        "small": [
            layers.Dense(16, activation="elu", input_shape=(features,)),
            layers.Dense(16, activation="elu"),
            layers.Dense(1),
        ],
        "l2": [
            layers.Dense(
                64, activation="elu", kernel_regularizer=l2(0.001), input_shape=(features,)
            ),
            layers.Dense(64, activation="elu", kernel_regularizer=l2(0.001)),
            layers.Dense(1),
        ],
        "dropout": [
            layers.Dense(64, activation="elu", input_shape=(features,)),
            layers.Dropout(0.5),
            layers.Dense(64, activation="elu"),
            layers.Dropout(0.5),
            layers.Dense(1),
        ],
        "combined": [
            layers.Dense(
                64, kernel_regularizer=l2(0.0001), activation="elu", input_shape=(features,)
            ),
            layers.Dropout(0.5),
            layers.Dense(64, kernel_regularizer=l2(0.0001), activation="elu"),
            layers.Dropout(0.5),
            layers.Dense(1),
        ],
    }
    for name, layers in models.items():
        model = keras.Sequential(layers)
        model.compile(
            optimizer=keras.optimizers.Adam(schedule),
            loss=keras.losses.BinaryCrossentropy(from_logits=True),
            metrics=[
                keras.losses.BinaryCrossentropy(from_logits=True, name="binary_crossentropy"),
                "accuracy",
            ],
        )
        show(name + " weights", *weights_of(model))
        run = model.fit(
            train,
            steps_per_epoch=steps,
            epochs=3,
            validation_data=held_out,
            callbacks=[
                keras.callbacks.EarlyStopping(monitor="val_binary_crossentropy", patience=200),
                losses_seen(keras, lambda a, b: show(name + a, b)),
            ],
            verbose=0,
        )
        show_history(show, run)


def texts(tf, keras, show):
    """Texts by folder, a vocabulary that adapts, embeddings and dropout."""
    random = np.random.default_rng(4)
    words = [f"word{i}" for i in range(60)]
    for part, count in (("train", 60), ("test", 20)):
        for number, name in enumerate(["neg", "pos"]):
            os.makedirs(f"reviews/{part}/{name}")
            for i in range(count):
                odds = np.ones(60)
                odds[number * 20 : number * 20 + 20] += 2
                chosen = random.choice(words, size=int(random.integers(5, 40)), p=odds / odds.sum())
                tf.io.write_file(
                    f"reviews/{part}/{name}/{i}_{i % 10}.txt",
                    "It's <br />" + " ".join(chosen) + "!",
                )
    make = keras.utils.text_dataset_from_directory
    train = make("reviews/train", batch_size=16, validation_split=0.2, subset="training", seed=42)
    held_out = make(
        "reviews/train", batch_size=16, validation_split=0.2, subset="validation", seed=42
    )
    test = make("reviews/test", batch_size=16)
    for texts, labels in train.take(2):
        show("texts", texts.numpy(), labels)
    for texts, labels in held_out.take(2):
        show("val texts", texts.numpy(), labels)

    def clean(text):
        text = tf.strings.regex_replace(tf.strings.lower(text), "<br />", " ")
        return tf.strings.regex_replace(text, "[!'\"#$%&()*+,./:;<=>?@^_`{|}~-]", "")

    vectorize = keras.layers.TextVectorization(
        standardize=clean, max_tokens=50, output_mode="int", output_sequence_length=30
    )
    vectorize.adapt(train.map(lambda texts, labels: texts))
    show("vocabulary", vectorize.get_vocabulary())

    def vectorized(texts, labels):
        return (vectorize(tf.expand_dims(texts, -1)), labels)

    train, held_out, test = [
        each.map(vectorized).cache().prefetch(tf.data.AUTOTUNE) for each in (train, held_out, test)
    ]
    for texts, labels in train.take(1):
        show("numbers", texts, labels)
    model = keras.Sequential(
        [
            keras.layers.Embedding(51, 16),
            keras.layers.Dropout(0.2),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        loss=keras.losses.BinaryCrossentropy(),
        optimizer="adam",
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.5)],
    )
    run = model.fit(
        train, validation_data=held_out, epochs=4, verbose=0, callbacks=[losses_seen(keras, show)]
    )
    show_history(show, run)
    show("test", model.evaluate(test, verbose=0))
    whole = keras.Sequential([vectorize, model, keras.layers.Activation("linear")])
    whole.compile(
        loss=keras.losses.BinaryCrossentropy(from_logits=False),
        optimizer="adam",
        metrics=["accuracy"],
    )
    raw = make("reviews/test", batch_size=16)
    show("raw", whole.evaluate(raw, verbose=0))
    show("examples", whole.predict(tf.constant(["word1 word2", "word25 word30"]), verbose=0))


PROGRAMS = {
    each.__name__: each
    for each in (
        words_in_sound,
        rare_class,
        overfitting,
        texts,
    )
}
