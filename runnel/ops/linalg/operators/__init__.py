"""LinearOperator classes: structured matrices."""

from . import dispatch as dispatch
from .base import LinearOperator as LinearOperator
from .blocks import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from .circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from .composition import LinearOperatorComposition as LinearOperatorComposition
from .dense import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from .diagonal import LinearOperatorDiag as LinearOperatorDiag
from .identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    LinearOperatorZeros as LinearOperatorZeros,
)
from .kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from .low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from .orthogonal import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from .tridiagonal import LinearOperatorTridiag as LinearOperatorTridiag
from .wrappers import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorInversion as LinearOperatorInversion,
)
