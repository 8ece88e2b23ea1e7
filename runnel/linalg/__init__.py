"""tf.linalg: Linear algebra."""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..ops.array.creation import (
    eye as eye,
)
from ..ops.linalg.banded import (
    banded_triangular_solve as banded_triangular_solve,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from ..ops.linalg.decomposition import (
    cholesky as cholesky,
    qr as qr,
)
from ..ops.linalg.diagonal import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from ..ops.linalg.eigen import (
    eig as eig,
    eigh as eigh,
    eigh_tridiagonal as eigh_tridiagonal,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    svd as svd,
)
from ..ops.linalg.einsum import (
    einsum as einsum,
)
from ..ops.linalg.functions import (
    det as det,
    expm as expm,
    logdet as logdet,
    logm as logm,
    slogdet as slogdet,
    sqrtm as sqrtm,
)
from ..ops.linalg.least_squares import (
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    pinv as pinv,
)
from ..ops.linalg.lu import (
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
)
from ..ops.linalg.matmul import (
    adjoint as adjoint,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    tensordot as tensordot,
)
from ..ops.linalg.norms import (
    cross as cross,
    norm as norm,
    normalize as normalize,
)
from ..ops.linalg.solve import (
    cholesky_solve as cholesky_solve,
    inv as inv,
    solve as solve,
    triangular_solve as triangular_solve,
)
from ..ops.math.clipping import (
    global_norm as global_norm,
)
from ..ops.math.statistics import (
    l2_normalize as l2_normalize,
)
from . import experimental as experimental

if _TYPE_CHECKING:
    from ..ops.linalg.operators import (
        LinearOperator as LinearOperator,
        LinearOperatorAdjoint as LinearOperatorAdjoint,
        LinearOperatorBlockDiag as LinearOperatorBlockDiag,
        LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
        LinearOperatorCirculant as LinearOperatorCirculant,
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
        LinearOperatorComposition as LinearOperatorComposition,
        LinearOperatorDiag as LinearOperatorDiag,
        LinearOperatorFullMatrix as LinearOperatorFullMatrix,
        LinearOperatorHouseholder as LinearOperatorHouseholder,
        LinearOperatorIdentity as LinearOperatorIdentity,
        LinearOperatorInversion as LinearOperatorInversion,
        LinearOperatorKronecker as LinearOperatorKronecker,
        LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
        LinearOperatorPermutation as LinearOperatorPermutation,
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
        LinearOperatorToeplitz as LinearOperatorToeplitz,
        LinearOperatorTridiag as LinearOperatorTridiag,
        LinearOperatorZeros as LinearOperatorZeros,
    )

# The operators, whose modules are loaded when one of them is first asked for.
_LATER = frozenset(
    {
        "LinearOperator",
        "LinearOperatorAdjoint",
        "LinearOperatorBlockDiag",
        "LinearOperatorBlockLowerTriangular",
        "LinearOperatorCirculant",
        "LinearOperatorCirculant2D",
        "LinearOperatorCirculant3D",
        "LinearOperatorComposition",
        "LinearOperatorDiag",
        "LinearOperatorFullMatrix",
        "LinearOperatorHouseholder",
        "LinearOperatorIdentity",
        "LinearOperatorInversion",
        "LinearOperatorKronecker",
        "LinearOperatorLowRankUpdate",
        "LinearOperatorLowerTriangular",
        "LinearOperatorPermutation",
        "LinearOperatorScaledIdentity",
        "LinearOperatorToeplitz",
        "LinearOperatorTridiag",
        "LinearOperatorZeros",
    }
)


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        from ..core.suggestions import no_attribute

        raise no_attribute(__name__, name)
    from ..ops.linalg import operators

    value = globals()[name] = getattr(operators, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
