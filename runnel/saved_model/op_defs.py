"""OpDef messages of ops: the names and types of their inputs, outputs and attributes."""

from __future__ import annotations

import functools
from typing import Any

from tensorboard.compat.proto import op_def_pb2

from ..core.op import REGISTRY, Argument, Op
from .attributes import FIXED, LEFT_OUT, attr_value, fitting, kernel_attributes, value_field

# The types of required attributes, which have no default to infer them from.
_TYPES = {
    "bool": "preserve_short_sequences unique",
    "func": "body cond else_branch then_branch",
    "int": "beam_width block_size k key_index limit num_buckets num_sampled num_true pad_width "
    "range_max seq_dim value_index",
    "list(float)": "pooling_ratio unigrams",
    "list(func)": "branches",
    "list(int)": "key ksize ksizes ngram_widths rates strides",
    "list(shape)": "context_dense_shapes dense_shapes feature_list_dense_shapes output_shapes "
    "shapes",
    "list(string)": "field_names row_partition_types",
    "list(type)": "component_types",
    "shape": "shape value_shape",
    "string": "equation input_encoding interpolation left_pad message message_type mode "
    "output_encoding output_stream padding pattern rewrite right_pad separator set_operation "
    "template token",
    "tensor": "value",
    "type": "element_dtype key_dtype value_dtype",
}
_REQUIRED = {name: kind for kind, names in _TYPES.items() for name in names.split()}
_FIELDS = {
    "b": "bool",
    "f": "float",
    "func": "func",
    "i": "int",
    "s": "string",
    "shape": "shape",
    "tensor": "tensor",
    "type": "type",
}
# Kernel attributes that TensorFlow's op does not have.
_OURS = {"While": frozenset(["Tout", "carried", "invariants", "reverse"])}


def op_def(op: Op) -> Any:
    """The OpDef message of an op."""
    message = op_def_pb2.OpDef(name=op.name, is_stateful=op.stateful)
    for arguments, target in ((op.inputs, message.input_arg), (op.outputs, message.output_arg)):
        for argument in arguments:
            _add_argument(op, argument, target.add(name=argument.name))
    left_out = LEFT_OUT.get(op.name, frozenset()) | _OURS.get(op.name, frozenset())
    for name, (kind, default) in _attributes(op).items():
        if name in left_out:
            continue
        attr = message.attr.add(name=name, type=kind)
        if default is not None:
            attr.default_value.CopyFrom(attr_value(default))
        for dtype in sorted(op.constraints.get(name, ()), key=lambda each: each.as_datatype_enum):
            attr.allowed_values.list.type.append(dtype.as_datatype_enum)
    return message


def op_def_for(name: str) -> Any:
    """The OpDef message of the op with this name; RuntimeError if there is none."""
    try:
        return op_def(REGISTRY[name])
    except KeyError:
        raise RuntimeError(
            f"Op type not registered '{name}': no op of this name is known here."
        ) from None


def require_kinds(op: Op, node: Any) -> None:
    """Raise ValueError if an attribute of a node has another type than the op's."""
    kinds = _kinds(op)
    for name, attr in node.attr.items():
        expected = kinds.get(name)
        field = attr.WhichOneof("value")
        if expected is None or field is None:
            continue
        found = _FIELDS.get(field, field)
        if field == "list":
            fields = [_FIELDS[each.name] for each, _ in attr.list.ListFields()]
            # An empty list is valid for any type.
            found = f"list({fields[0]})" if len(fields) == 1 else expected if not fields else "list"
        if found != expected:
            raise ValueError(
                f"AttrValue had value with type '{found}' when '{expected}' expected for attr "
                f"'{name}' of the node '{node.name}', whose op is {op.name}."
            )


@functools.cache
def _kinds(op: Op) -> dict[str, str]:
    return {name: kind for name, (kind, _) in _attributes(op).items()}


def _add_argument(op: Op, argument: Argument, message: Any) -> None:
    if argument.type in op.fixed:
        message.type = op.fixed[argument.type].as_datatype_enum
    elif argument.count == "*":
        message.type_list_attr = argument.type
    else:
        message.type_attr = argument.type
    if argument.count not in (None, "*"):
        message.number_attr = argument.count


def _attributes(op: Op) -> dict[str, tuple[str, Any]]:
    """The type and default (or None) of each attribute."""
    found: dict[str, tuple[str, Any]] = {}
    for argument in (*op.inputs, *op.outputs):
        if argument.type not in op.fixed:
            kind = "list(type)" if argument.count == "*" else "type"
            found.setdefault(argument.type, (kind, op.defaults.get(argument.type)))
        if argument.count not in (None, "*"):
            found.setdefault(str(argument.count), ("int", None))
    for name in sorted(kernel_attributes(op)):
        if name == "_stream":
            found["seed"] = found["seed2"] = ("int", 0)
        elif name == "func":
            found["token"] = "string", None
        elif not name.startswith("_"):
            default = op.defaults.get(name)
            if default is not None:
                default = fitting(name, default)
            found.setdefault(name, (_type(name, default), default))
    for name, value in FIXED.get(op.name, {}).items():
        found[name] = _type(name, value), value
    return found


def _type(name: str, default: Any) -> str:
    if name in _REQUIRED or default is None:
        return _REQUIRED.get(name, "type")
    if isinstance(default, list | tuple):
        return f"list({_FIELDS[value_field(default[0])] if default else 'int'})"
    return _FIELDS[value_field(default)]
