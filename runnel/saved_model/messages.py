"""The messages of SavedModels, which `formats/saved_model_messages.py` describes."""

from ..formats.saved_model_messages import (
    FingerprintDef as FingerprintDef,
    KerasMetadata as KerasMetadata,
    MetaGraphDef as MetaGraphDef,
    SavedModel as SavedModel,
    SavedObjectGraph as SavedObjectGraph,
    SignatureDef as SignatureDef,
    StructuredValue as StructuredValue,
    TensorInfo as TensorInfo,
    TypeSpecProto as TypeSpecProto,
)
