"""tf.keras.experimental: ready-made models, and older names of others."""

from .engine.premade import LinearModel as LinearModel, WideDeepModel as WideDeepModel
from .optimizers.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
)
from .utils.sidecar_evaluator import SidecarEvaluator as SidecarEvaluator
