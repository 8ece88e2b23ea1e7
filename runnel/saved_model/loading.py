"""Loading SavedModels: their objects, with variables, functions and signatures."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from ..core import dtypes, nest
from ..core.context import init_scope
from ..core.errors import NotFoundError
from ..core.graph.concrete import ConcreteFunction
from ..core.graph.graph import FuncGraph
from ..core.graph.signature import BoundSignature, Parameters
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TypeSpec
from ..core.variable import Variable, VariableAggregation, VariableSynchronization
from ..formats.paths import local
from ..formats.saved_model_names import ASSETS_DIRECTORY, VARIABLES_DIRECTORY, VARIABLES_FILENAME
from ..formats.tensor_bundle import BundleReader
from ..ops.lookup.tables import Table
from ..train.object_graph import GRAPH_KEY, VALUE
from .assets import Asset
from .custom_gradients import CapturedTensor, FunctionLibrary, LoadedGradient
from .folders import of_one_version
from .graph_import import function_graph, require_names_of_functions, require_ops
from .limits import clean_errors, require_small
from .options import LoadOptions
from .permissions import Permissions, path_inside, require_files_inside
from .reading import chosen_meta_graph, read_saved_model
from .restored import (
    CallableUserObject,
    RestoredConcreteFunction,
    RestoredFunction,
    RestoredResource,
    SignatureMap,
    Trace,
    UserObject,
    parameters_of,
)
from .structured_values import decode, is_callable
from .tensors import make_ndarray, shape_from

# Nodes with these identifiers are Python containers.
_LISTS = frozenset({"trackable_list_wrapper", "trackable_tuple_wrapper"})
# The checkpoint keys of the keys and values of a table.
TABLE = "table"
_DICTS = frozenset({"trackable_dict_wrapper"})


def load(export_dir: Any, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Load the object of a SavedModel, with its children as attributes and callable functions.

    Functions have the traces from before saving. `tags` select one of several graphs of a
    SavedModel, which mostly has one. Operations that write files are refused: see
    `runnel.allow_file_operations`.

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.double = tf.function(lambda x: 2.0 * x)
    >>> module.double(tf.constant(1.0)).numpy()
    np.float32(2.0)
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(module, folder)
    >>> tf.saved_model.load(folder).double(tf.constant(4.0)).numpy()
    np.float32(8.0)
    """
    path = local(export_dir)
    options = options or LoadOptions()
    with init_scope(), clean_errors(f"The SavedModel at {path}", OSError):
        meta_graph, values = of_one_version(path, lambda: _opened(path, tags, options))
        try:
            root = Loader(meta_graph, path, options, values).root
        finally:
            values.release()
    if isinstance(root, UserObject):
        info = meta_graph.meta_info_def
        root.tensorflow_version = info.tensorflow_version
        root.tensorflow_git_version = info.tensorflow_git_version
    return root


def _opened(path: str, tags: Any, options: LoadOptions) -> tuple[Any, _Values]:
    """The MetaGraph in a folder, and the values of the same version."""
    meta_graph = chosen_meta_graph(read_saved_model(path), tags, path)
    if not meta_graph.HasField("object_graph_def"):
        raise ValueError(
            f"The SavedModel at {path} has no objects, as TensorFlow 1 wrote them: there is but a "
            "graph for sessions in it. Save it anew with TensorFlow 2."
        )
    require_files_inside(path, VARIABLES_DIRECTORY)
    return meta_graph, _Values(path, meta_graph.object_graph_def, options)


class Loader:
    """Creates the objects of one MetaGraph, by node ID."""

    def __init__(self, meta_graph: Any, path: str, options: LoadOptions, values: _Values) -> None:
        self._path = path
        self._options = options
        self._assets = list(meta_graph.asset_file_def)
        self._constants = {node.name: node for node in meta_graph.graph_def.node}
        self.graph = meta_graph.object_graph_def
        functions = meta_graph.graph_def.library
        self._library = FunctionLibrary(functions.function)
        self._permissions = Permissions()
        require_names_of_functions(self._library)
        self._require_ops()
        self._values = values
        self.nodes: list[Any] = [None] * len(self.graph.nodes)
        for number in range(len(self.nodes)):
            self.nodes[number] = self._created(number)
        self._find_gradients(functions.registered_gradients)
        self._connect()
        self._fill_resources()

    @property
    def root(self) -> Any:
        return self.nodes[0]

    def _require_ops(self) -> None:
        """Raise NotFoundError with all ops without a kernel, before anything is created.

        Functions with unsupported argument types, such as iterators, are skipped: they cannot be
        called.
        """
        nodes = [
            node
            for name, saved in self.graph.concrete_functions.items()
            if name in self._library and is_callable(decode(saved.canonicalized_input_signature))
            for node in self._library[name].node_def
        ]
        require_ops(nodes, self._library)

    # Nodes.

    def _created(self, number: int) -> Any:
        node = self.graph.nodes[number]
        kind = node.WhichOneof("kind")
        if kind == "user_object":
            return self._user_object(node)
        if kind == "variable":
            return self._variable(number, node.variable)
        if kind == "asset":
            name = self._assets[node.asset.asset_file_def_index].filename
            return Asset(path_inside(self._path, ASSETS_DIRECTORY, name))
        if kind == "constant":
            message = require_small(self._constants[node.constant.operation].attr["value"].tensor)
            return Tensor(make_ndarray(message), dtypes.as_dtype(message.dtype))
        if kind == "function":
            return self._function(number, node.function)
        if kind == "bare_concrete_function":
            return self._bare_trace(node.bare_concrete_function)
        if kind == "captured_tensor":
            return CapturedTensor(node.captured_tensor.name)
        return RestoredResource() if kind == "resource" else UserObject()

    def _user_object(self, node: Any) -> Any:
        identifier = node.user_object.identifier
        if identifier in _LISTS:
            return []
        if identifier in _DICTS:
            return {}
        if identifier == "signature_map":
            return SignatureMap()
        called = any(child.local_name == "__call__" for child in node.children)
        return CallableUserObject() if called else UserObject()

    def _variable(self, number: int, saved: Any) -> Variable:
        dtype, shape = dtypes.as_dtype(saved.dtype), shape_from(saved.shape)
        value = self._values.of(number)
        if value is None:
            value = _zeros(dtype, shape)
        variable = Variable(
            Tensor(value, dtype),
            trainable=saved.trainable,
            shape=shape,
            synchronization=VariableSynchronization(saved.synchronization),
            aggregation=VariableAggregation(saved.aggregation),
        )
        variable._name = f"{saved.name or 'Variable'}:0"
        return variable

    def _function(self, number: int, saved: Any) -> RestoredFunction:
        spec = saved.function_spec
        parameters = parameters_of(decode(spec.fullargspec), spec.is_method)
        traces = [self._trace(name, parameters) for name in saved.concrete_functions]
        signature = decode(spec.input_signature)
        return RestoredFunction(f"function_{number}", parameters, signature, traces)

    def _trace(self, name: str, parameters: Parameters) -> Trace:
        saved = self.graph.concrete_functions[name]
        args, kwargs = _arguments(saved)
        return Trace(args, kwargs, lambda: self._concrete(name, parameters, args, kwargs))

    def _bare_trace(self, saved: Any) -> Trace:
        name = saved.concrete_function_name
        args, kwargs = _arguments(self.graph.concrete_functions[name])
        if saved.function_spec.HasField("fullargspec"):
            spec = decode(saved.function_spec.fullargspec)
            parameters = parameters_of(spec, saved.function_spec.is_method)
        else:
            parameters = keyword_parameters(list(saved.argument_keywords))
        return Trace(args, kwargs, lambda: self._concrete(name, parameters, args, kwargs))

    def _concrete(
        self, name: str, parameters: Parameters, args: Any, kwargs: Any
    ) -> ConcreteFunction:
        saved = self.graph.concrete_functions[name]
        with init_scope(), clean_errors(f"The SavedModel at {self._path}", OSError):
            graph = self._graph_of(name)
            given = [part.dtype for part in _parts((args, kwargs))]
            results = decode(saved.output_signature)
            found = [part.dtype for part in _parts(results)]
            takes = [each.dtype for each in graph.inputs]
            gives = [each.dtype for each in graph.outputs]
            if (given, found) != (takes, gives):
                raise OSError(
                    f"The SavedModel at {self._path} is broken: the function {name} does not take "
                    f"{(args, kwargs)}, or does not return {results}."
                )
            _name_inputs(graph, (args, kwargs))
            signature = BoundSignature(parameters, args, kwargs)
            signature.structured()
        return RestoredConcreteFunction(name, graph, results, signature)

    def _graph_of(self, name: str, permissions: Permissions | None = None) -> FuncGraph:
        if name not in self._library:
            raise OSError(f"The SavedModel at {self._path} is broken: it has no function {name}.")
        bound = self.graph.concrete_functions[name].bound_inputs
        captured = [self._captured(number) for number in bound]
        permissions = permissions or self._permissions
        return function_graph(self._library[name], self._library, captured, permissions)

    def _captured(self, number: int) -> Tensor:
        """The tensor that represents an object among the captures of a function."""
        value = self.nodes[number]
        if isinstance(value, Variable):
            return value.handle
        if isinstance(value, Asset):
            return value._tensor
        if isinstance(value, RestoredResource):
            return self._handle(number, value)
        if isinstance(value, Tensor):
            return value
        raise OSError(f"The SavedModel at {self._path} is broken: a function takes node {number}.")

    def _find_gradients(self, registered: Any) -> None:
        """The custom gradients of nodes."""
        for each in registered:
            saved = self.graph.concrete_functions.get(each.gradient_func)
            if saved is None or each.gradient_func not in self._library:
                continue
            captured = [
                self.nodes[number]
                if isinstance(self.nodes[number], CapturedTensor)
                else self._captured(number)
                for number in saved.bound_inputs
            ]
            results = decode(saved.output_signature)
            results = results if isinstance(results, list | tuple) else [results]
            self._library.gradients[each.registered_op_type] = LoadedGradient(
                self._library[each.gradient_func], captured, results
            )

    # Edges.

    def _connect(self) -> None:
        for number, node in enumerate(self.graph.nodes):
            owner = self.nodes[number]
            for child in node.children:
                value = self.nodes[child.node_id]
                if isinstance(owner, SignatureMap):
                    if not isinstance(value, Trace):
                        raise OSError(f"The signature {child.local_name!r} is no function.")
                    owner._add(child.local_name, value)
                    continue
                if isinstance(value, Trace):
                    value = value.function if isinstance(owner, UserObject | dict) else value
                if isinstance(owner, list):
                    owner.append(value)
                elif isinstance(owner, dict):
                    owner[child.local_name] = value
                elif isinstance(owner, UserObject):
                    _require_attribute(child.local_name)
                    setattr(owner, child.local_name, value)
                    if isinstance(value, RestoredFunction):
                        value._name = child.local_name

    # Resources.

    def _handle(self, number: int, resource: RestoredResource) -> Tensor:
        if resource.resource_handle is None:
            name = self._child_function(number, "_create_resource")
            graph = self._graph_of(name, self._permissions.while_loading())
            made = graph.outputs[0]
            if isinstance(made, SymbolicTensor):
                arrays = [outside._array for outside in graph.external_captures]
                feeds = list(zip(graph.internal_captures, arrays, strict=True))
                made = Tensor(graph.compute([made], feeds)[0], dtypes.resource)
            resource.resource_handle = made
        return resource.resource_handle

    def _child_function(self, number: int, name: str) -> str:
        for child in self.graph.nodes[number].children:
            function = self.graph.nodes[child.node_id].function
            if child.local_name == name and function.concrete_functions:
                return str(function.concrete_functions[0])
        return ""

    def _fill_resources(self) -> None:
        for number, value in enumerate(self.nodes):
            if isinstance(value, RestoredResource):
                handle = self._handle(number, value)
                if self._child_function(number, "_initialize"):
                    name = self._child_function(number, "_initialize")
                    graph = self._graph_of(name, self._permissions.while_loading())
                    ConcreteFunction(graph, []).call([])
                entries = self._values.table(number)
                if entries is not None:
                    _fill(handle._array, *entries)


def _arguments(saved: Any) -> tuple[Any, Any]:
    """The positional and keyword arguments that a function was traced with."""
    args, kwargs = decode(saved.canonicalized_input_signature)
    if not isinstance(args, list | tuple) or not isinstance(kwargs, dict):
        raise OSError(f"The arguments {args}, {kwargs} are none: the SavedModel is broken.")
    return args, kwargs


def _require_attribute(name: str) -> None:
    """Raise OSError if the name of a child is a special attribute of Python objects."""
    if name.startswith("__") and name.endswith("__") and name != "__call__":
        raise OSError(f"The SavedModel has a part named {name!r}: it is broken.")


def _fill(table: Any, keys: np.ndarray, values: np.ndarray) -> None:
    """Insert the saved entries into a table, except for the markers of empty slots."""
    markers = [getattr(table, name) for name in ("_empty", "_deleted") if hasattr(table, name)]
    if markers:
        kept = [key not in markers for key in Table.keys_of(table, keys)]
        keys, values = keys[kept], values[kept]
    if len(keys):
        table.insert(keys, values)


def _parts(structure: Any) -> list[Any]:
    """The specs of the component tensors of a structure."""
    specs = [each for each in nest.flatten(structure) if isinstance(each, TypeSpec)]
    return [part for spec in specs for part in spec.flatten()]


def _name_inputs(graph: FuncGraph, signature: Any) -> None:
    """Name the inputs of a graph after the parameters of a signature."""
    for spec, tensor in zip(_parts(signature), graph.inputs, strict=False):
        if spec.name and spec.name not in graph._by_name:
            graph._by_name[spec.name] = graph._by_name.pop(tensor.op.name)
            tensor.op.name = spec.name


def keyword_parameters(names: list[str]) -> Parameters:
    """Keyword parameters."""
    from .structured_values import _tuple_class

    fields = ("args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults")
    spec = _tuple_class("FullArgSpec", fields)([], None, None, None, names, None)
    return parameters_of(spec, False)


def _zeros(dtype: Any, shape: TensorShape) -> np.ndarray:
    sizes = [size or 0 for size in shape.as_list()] if shape.rank is not None else []
    if dtype is dtypes.string:
        return np.full(sizes, b"", object)
    return np.zeros(sizes, dtype.numpy)


def _pair_slots(ours: Any, theirs: Any, pairs: dict[int, int]) -> None:
    """Associate the slots of an optimizer with their variables."""
    slots = {
        (slot.original_variable_node_id, slot.slot_name): slot.slot_variable_node_id
        for slot in theirs.slot_variables
    }
    for slot in ours.slot_variables:
        place = slots.get((pairs.get(slot.original_variable_node_id, -1), slot.slot_name))
        if place is not None:
            pairs[slot.slot_variable_node_id] = place


class _Values:
    """The values of a SavedModel's variables and tables, by node ID."""

    def __init__(self, path: str, graph: Any, options: LoadOptions) -> None:
        self._partial = options.allow_partial_checkpoint or options.experimental_skip_checkpoint
        self._keys: dict[int, dict[str, str]] = {}
        self._bundle: BundleReader | None = None
        if not options.experimental_skip_checkpoint:
            self._read(os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME), graph)

    def release(self) -> None:
        """Close the files."""
        if self._bundle is not None:
            self._bundle.release()

    def _read(self, prefix: str, graph: Any) -> None:
        try:
            self._bundle = BundleReader(prefix)
        except NotFoundError:
            if any(node.WhichOneof("kind") == "variable" for node in graph.nodes):
                raise
            return
        saved = TrackableObjectGraph.FromString(self._bundle.read(GRAPH_KEY)[()])
        # The two graphs are traversed in parallel, by the names of children.
        pairs = {0: 0}
        waiting = [0]
        while waiting:
            number = waiting.pop()
            places = {
                child.local_name: child.node_id for child in saved.nodes[pairs[number]].children
            }
            for child in graph.nodes[number].children:
                place = places.get(child.local_name)
                if place is not None and child.node_id not in pairs:
                    pairs[child.node_id] = place
                    waiting.append(child.node_id)
        for number, place in list(pairs.items()):
            _pair_slots(graph.nodes[number], saved.nodes[place], pairs)
        for number, place in pairs.items():
            self._keys[number] = {
                each.name: each.checkpoint_key for each in saved.nodes[place].attributes
            }

    def of(self, number: int) -> Any:
        """The value of a variable; None if it is missing and that is allowed."""
        key = self._keys.get(number, {}).get(VALUE)
        if key is None:
            if self._partial:
                return None
            raise NotFoundError(
                None, None, f"The SavedModel has no value for the variable of node {number}. With "
                "tf.saved_model.LoadOptions(allow_partial_checkpoint=True) it is zero.",
            )  # fmt: skip
        assert self._bundle is not None
        return self._bundle.read(key)

    def table(self, number: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The keys and values of a mutable table."""
        key = self._keys.get(number, {}).get(TABLE)
        if key is None or self._bundle is None:
            return None
        return self._bundle.read(f"{key}-keys"), self._bundle.read(f"{key}-values")
