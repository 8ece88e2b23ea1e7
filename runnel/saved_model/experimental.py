"""tf.saved_model.experimental: fingerprints, custom resources, policies."""

from .fingerprint import Fingerprint as Fingerprint, read_fingerprint as read_fingerprint
from .options import VariablePolicy as VariablePolicy
from .resources import TrackableResource as TrackableResource
