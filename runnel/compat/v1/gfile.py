"""tf.compat.v1.gfile: files, under TensorFlow 1's names."""

import runnel as _tf

Copy = _tf.io.gfile.copy
DeleteRecursively = _tf.io.gfile.rmtree
Exists = _tf.io.gfile.exists
FastGFile = _tf.io.gfile.GFile
GFile = _tf.io.gfile.GFile
Glob = _tf.io.gfile.glob
IsDirectory = _tf.io.gfile.isdir
ListDirectory = _tf.io.gfile.listdir
MakeDirs = _tf.io.gfile.makedirs
MkDir = _tf.io.gfile.mkdir
Open = _tf.io.gfile.GFile
Remove = _tf.io.gfile.remove
Rename = _tf.io.gfile.rename
Stat = _tf.io.gfile.stat


def Walk(top, in_order=True):
    """The folders below a folder, with the names of their subfolders and files."""
    return _tf.io.gfile.walk(top, topdown=in_order)
