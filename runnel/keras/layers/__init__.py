"""tf.keras.layers: the building blocks of models."""

from ...core.suggestions import suggesting as _suggesting
from ..engine.base_layer import Layer as Layer
from ..engine.input_spec import InputSpec as InputSpec
from . import experimental as experimental
from .activation import (
    ELU as ELU,
    LeakyReLU as LeakyReLU,
    PReLU as PReLU,
    ReLU as ReLU,
    Softmax as Softmax,
    ThresholdedReLU as ThresholdedReLU,
)
from .attention import (
    AdditiveAttention as AdditiveAttention,
    Attention as Attention,
    MultiHeadAttention as MultiHeadAttention,
)
from .convolution import (
    Conv1D as Conv1D,
    Conv1D as Convolution1D,
    Conv2D as Conv2D,
    Conv2D as Convolution2D,
    Conv3D as Conv3D,
    Conv3D as Convolution3D,
)
from .convolution_separable import (
    DepthwiseConv1D as DepthwiseConv1D,
    DepthwiseConv2D as DepthwiseConv2D,
    SeparableConv1D as SeparableConv1D,
    SeparableConv1D as SeparableConvolution1D,
    SeparableConv2D as SeparableConv2D,
    SeparableConv2D as SeparableConvolution2D,
)
from .convolution_transpose import (
    Conv1DTranspose as Conv1DTranspose,
    Conv1DTranspose as Convolution1DTranspose,
    Conv2DTranspose as Conv2DTranspose,
    Conv2DTranspose as Convolution2DTranspose,
    Conv3DTranspose as Conv3DTranspose,
    Conv3DTranspose as Convolution3DTranspose,
)
from .core import (
    Activation as Activation,
    ActivityRegularization as ActivityRegularization,
    Dense as Dense,
    Embedding as Embedding,
    Flatten as Flatten,
    Identity as Identity,
    Masking as Masking,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
)
from .dropout import (
    AlphaDropout as AlphaDropout,
    Dropout as Dropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
    SpatialDropout1D as SpatialDropout1D,
    SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)
from .einsum_dense import EinsumDense as EinsumDense
from .input_layer import Input as Input, InputLayer as InputLayer
from .lambda_layer import Lambda as Lambda
from .locally_connected import (
    LocallyConnected1D as LocallyConnected1D,
    LocallyConnected2D as LocallyConnected2D,
)
from .merging import (
    Add as Add,
    Average as Average,
    Concatenate as Concatenate,
    Dot as Dot,
    Maximum as Maximum,
    Minimum as Minimum,
    Multiply as Multiply,
    Subtract as Subtract,
    add as add,
    average as average,
    concatenate as concatenate,
    dot as dot,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    subtract as subtract,
)
from .normalization import (
    BatchNormalization as BatchNormalization,
    GroupNormalization as GroupNormalization,
    LayerNormalization as LayerNormalization,
    SpectralNormalization as SpectralNormalization,
    UnitNormalization as UnitNormalization,
)
from .pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling1D as AvgPool1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling2D as AvgPool2D,
    AveragePooling3D as AveragePooling3D,
    AveragePooling3D as AvgPool3D,
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling1D as GlobalAvgPool1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling2D as GlobalAvgPool2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalAveragePooling3D as GlobalAvgPool3D,
    GlobalMaxPooling1D as GlobalMaxPool1D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPool2D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    GlobalMaxPooling3D as GlobalMaxPool3D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
    MaxPooling1D as MaxPool1D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPool2D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPool3D,
    MaxPooling3D as MaxPooling3D,
)
from .preprocessing.augmentation import (
    RandomBrightness as RandomBrightness,
    RandomContrast as RandomContrast,
    RandomCrop as RandomCrop,
    RandomFlip as RandomFlip,
    RandomHeight as RandomHeight,
    RandomWidth as RandomWidth,
)
from .preprocessing.category_encoding import CategoryEncoding as CategoryEncoding
from .preprocessing.discretization import Discretization as Discretization
from .preprocessing.hashed_crossing import HashedCrossing as HashedCrossing
from .preprocessing.hashing import Hashing as Hashing
from .preprocessing.integer_lookup import IntegerLookup as IntegerLookup
from .preprocessing.normalization import Normalization as Normalization
from .preprocessing.random_warping import (
    RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation,
    RandomZoom as RandomZoom,
)
from .preprocessing.rescaling import Rescaling as Rescaling
from .preprocessing.resizing import CenterCrop as CenterCrop, Resizing as Resizing
from .preprocessing.string_lookup import StringLookup as StringLookup
from .preprocessing.text_vectorization import TextVectorization as TextVectorization
from .recurrent import (
    GRU as GRU,
    LSTM as LSTM,
    RNN as RNN,
    AbstractRNNCell as AbstractRNNCell,
    Bidirectional as Bidirectional,
    ConvLSTM1D as ConvLSTM1D,
    ConvLSTM2D as ConvLSTM2D,
    ConvLSTM3D as ConvLSTM3D,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNN as SimpleRNN,
    SimpleRNNCell as SimpleRNNCell,
    StackedRNNCells as StackedRNNCells,
    TimeDistributed as TimeDistributed,
)
from .reshaping import (
    Cropping1D as Cropping1D,
    Cropping2D as Cropping2D,
    Cropping3D as Cropping3D,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
    UpSampling3D as UpSampling3D,
    ZeroPadding1D as ZeroPadding1D,
    ZeroPadding2D as ZeroPadding2D,
    ZeroPadding3D as ZeroPadding3D,
)
from .serializing import deserialize as deserialize, serialize as serialize
from .wrapper import Wrapper as Wrapper

__getattr__ = _suggesting(__name__)
