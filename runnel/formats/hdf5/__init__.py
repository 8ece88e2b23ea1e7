"""HDF5 files as Keras has them, read without libhdf5: a stranger's file cannot crash or stop it."""

from .datasets import Dataset as Dataset
from .groups import Group as Group, open_group as open_group
from .source import (
    DamagedFile as DamagedFile,
    Source as Source,
    UnknownStructure as UnknownStructure,
    is_hdf5 as is_hdf5,
    seal as seal,
)
