"""tf.compat.v1.image: `tf.image` with the arguments that TensorFlow 1 has."""

import runnel as _tf

# Functions of `tf.image` that take other arguments there, and have no older form here.
_OTHERS = frozenset(
    {"crop_and_resize", "draw_bounding_boxes", "extract_glimpse", "resize",
     "sample_distorted_bounding_box"}
)  # fmt: skip
_NAMES = {
    "resize_image_with_crop_or_pad": "resize_with_crop_or_pad",
    "transpose_image": "transpose",
}


def __getattr__(name: str) -> object:
    if name in _OTHERS:
        raise AttributeError(f"module 'runnel.compat.v1.image' has no attribute {name!r}")
    return getattr(_tf.image, _NAMES.get(name, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.image), *_NAMES} - _OTHERS)
