"""A SavedModel of signal, set and quantization ops goes from either library to the other."""

import numpy as np
import pytest
import tensorflow

import runnel


def module(tf):
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.float32)])
        def __call__(self, x):
            spectra = tf.signal.stft(x, 8, 4)
            levels = tf.quantization.quantize(x, -1.0, 1.0, tf.qint8)[0]
            signs = tf.sets.union(tf.cast(x > 0, tf.int32), tf.cast(x > 1, tf.int32))
            return {
                "spectra": tf.abs(spectra),
                "back": tf.signal.inverse_stft(spectra, 8, 4),
                "there and back": tf.abs(tf.signal.ifft2d(tf.signal.fft2d(spectra))),
                "cosines": tf.signal.dct(x),
                "lapped": tf.signal.mdct(x, 8),
                "signs": signs.values,
                "quantized": tf.quantization.dequantize(levels, -1.0, 1.0),
                "levels": tf.quantization.fake_quant_with_min_max_vars(x, -1.0, 1.0),
                "rounded": tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0),
            }

    return Module()


@pytest.mark.parametrize(("saves", "loads"), [(tensorflow, runnel), (runnel, tensorflow)])
def test_saved_models(saves, loads, tmp_path):
    x = np.random.default_rng(0).normal(size=(2, 16)).astype(np.float32)
    made = module(saves)
    wanted = made(saves.constant(x))
    saves.saved_model.save(made, str(tmp_path))
    found = loads.saved_model.load(str(tmp_path))(loads.constant(x))
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name].numpy(), value.numpy(), atol=1e-4, err_msg=name)
