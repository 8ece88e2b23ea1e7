"""tf.keras.preprocessing.image: images as arrays and as files."""

from ..utils.images import (
    array_to_img as array_to_img,
    img_to_array as img_to_array,
    load_img as load_img,
    save_img as save_img,
)
