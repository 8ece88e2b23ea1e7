"""tf.keras.experimental: premade models, and older names."""

from .engine.premade import LinearModel as LinearModel, WideDeepModel as WideDeepModel
from .optimizers.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
)
from .utils.sidecar_evaluator import SidecarEvaluator as SidecarEvaluator
