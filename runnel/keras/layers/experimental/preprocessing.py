"""tf.keras.layers.experimental.preprocessing: the preprocessing layers under their older names."""

from ..preprocessing.augmentation import (
    RandomContrast as RandomContrast,
    RandomCrop as RandomCrop,
    RandomFlip as RandomFlip,
    RandomHeight as RandomHeight,
    RandomWidth as RandomWidth,
)
from ..preprocessing.base import PreprocessingLayer as PreprocessingLayer
from ..preprocessing.category_encoding import CategoryEncoding as CategoryEncoding
from ..preprocessing.discretization import Discretization as Discretization
from ..preprocessing.hashed_crossing import HashedCrossing as HashedCrossing
from ..preprocessing.hashing import Hashing as Hashing
from ..preprocessing.integer_lookup import IntegerLookup as IntegerLookup
from ..preprocessing.normalization import Normalization as Normalization
from ..preprocessing.random_warping import (
    RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation,
    RandomZoom as RandomZoom,
)
from ..preprocessing.rescaling import Rescaling as Rescaling
from ..preprocessing.resizing import CenterCrop as CenterCrop, Resizing as Resizing
from ..preprocessing.string_lookup import StringLookup as StringLookup
from ..preprocessing.text_vectorization import TextVectorization as TextVectorization
