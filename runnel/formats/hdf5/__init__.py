"""A reader of Keras's HDF5 files without libhdf5: malicious files cannot crash or hang it."""

from .datasets import Dataset as Dataset
from .groups import Group as Group, open_group as open_group
from .source import (
    DamagedFile as DamagedFile,
    Source as Source,
    UnknownStructure as UnknownStructure,
    is_hdf5 as is_hdf5,
    seal as seal,
)
