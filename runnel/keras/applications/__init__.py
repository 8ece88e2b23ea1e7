"""tf.keras.applications: well-known models for images."""

from . import (
    densenet as densenet,
    imagenet_utils as imagenet_utils,
    inception_v3 as inception_v3,
    mobilenet as mobilenet,
    mobilenet_v2 as mobilenet_v2,
    resnet as resnet,
    resnet50 as resnet50,
    resnet_v2 as resnet_v2,
    vgg16 as vgg16,
    vgg19 as vgg19,
    xception as xception,
)
from .densenet import (
    DenseNet121 as DenseNet121,
    DenseNet169 as DenseNet169,
    DenseNet201 as DenseNet201,
)
from .inception_v3 import InceptionV3 as InceptionV3
from .mobilenet import MobileNet as MobileNet
from .mobilenet_v2 import MobileNetV2 as MobileNetV2
from .resnet import ResNet50 as ResNet50, ResNet101 as ResNet101, ResNet152 as ResNet152
from .resnet_v2 import (
    ResNet50V2 as ResNet50V2,
    ResNet101V2 as ResNet101V2,
    ResNet152V2 as ResNet152V2,
)
from .vgg import VGG16 as VGG16, VGG19 as VGG19
from .xception import Xception as Xception
