"""tf.keras.layers.experimental: experimental layers, and older names of others."""

from ..batch_normalization import SyncBatchNormalization as SyncBatchNormalization
from ..einsum_dense import EinsumDense as EinsumDense
from ..random_fourier import RandomFourierFeatures as RandomFourierFeatures
from . import preprocessing as preprocessing
from .dynamic_embedding import DynamicEmbedding as DynamicEmbedding
from .dynamic_lookup import DynamicLookup as DynamicLookup
