"""Saving objects with their variables and functions as SavedModels."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any

from ..core import dtypes, hooks, nest
from ..core.context import init_scope, state
from ..core.graph.concrete import ConcreteFunction
from ..core.graph.function import Function
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from ..core.variable import Variable
from ..formats.paths import local
from ..formats.saved_model_messages import SavedModel
from ..formats.saved_model_names import (
    ASSETS_DIRECTORY,
    FINGERPRINT_FILENAME,
    INIT_OP_SIGNATURE_KEY,
    MAIN_OP_KEY,
    PREDICT_METHOD_NAME,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from ..formats.tensor_bundle import write_bundle
from ..release import GIT_VERSION, GRAPH_DEF_VERSION, VERSION
from ..train.object_graph import GRAPH_KEY
from ..train.trackables import is_trackable
from .assets import Asset
from .custom_gradients import is_inside
from .export_objects import (
    Constant,
    Exported,
    Signatures,
    full_arg_spec,
    parts_of,
    result_specs,
    saved_traces,
    signature_messages,
)
from .export_values import ExportedValues, describe_variable
from .fingerprint import fingerprint_of
from .folders import replacing_folder
from .graph_export import _MIN_CONSUMER, Library, _clean
from .main_graph_export import MainGraph, Saver, asset_name
from .options import SaveOptions
from .restored import SignatureMap
from .signatures import function_stem, signatures_of
from .structured_values import NotEncodable, _tuple_class, encode
from .table_export import TableExport
from .tensors import shape_proto

_SPEC_FIELDS = ("args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults",
                "annotations")  # fmt: skip
_UNREACHABLE = (
    "Failed to add concrete function {name!r} to object-based SavedModel as it captures {what} "
    "which is unsupported or not reachable from root. One reason could be that a stateful object "
    "or a variable that the function depends on is not assigned to an attribute of the serialized "
    "trackable object: set it as an attribute of what you save."
)


def save(
    obj: Any, export_dir: Any, signatures: Any = None, options: SaveOptions | None = None
) -> None:
    """Save an object with its variables and functions to a folder, for any program to load.

    The existing traces of every `tf.function` are included. `signatures` is a function with an
    input signature, or a dict of them by name, for programs that do not use the object. An
    interrupted save leaves an existing SavedModel in the folder unchanged.

    >>> import tempfile
    >>> class Adder(tf.Module):
    ...     @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    ...     def add(self, x):
    ...         return x + 1.0
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(Adder(), folder)
    >>> tf.saved_model.load(folder).add(tf.constant(2.0)).numpy()
    np.float32(3.0)
    """
    options = SaveOptions() if options is None else options
    options.experimental_variable_policy  # noqa: B018 - what is no SaveOptions is refused here
    if not _can_be_saved(obj):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the "
            f"`Trackable` class, for export. Got {obj} with type {type(obj)}."
        )
    if state.graph is not None:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to "
            "the outer eagerly-executed context."
        )
    write(exported(obj, signatures, options), local(export_dir))


def exported(obj: Any, signatures: Any, options: SaveOptions) -> Export:
    """The contents of an object's SavedModel."""
    with init_scope(), _functions_of_layers():
        return Export(obj, signatures_of(signatures, parts_of(obj)), options)


def _functions_of_layers() -> Any:
    return hooks.exporting()


def _can_be_saved(obj: Any) -> bool:
    return is_trackable(obj) and not isinstance(obj, list | dict | tuple | SignatureMap)


def write(export: Export, folder: str) -> None:
    """Write an export to a folder atomically."""
    with replacing_folder(folder) as temporary:
        variables = os.path.join(temporary, VARIABLES_DIRECTORY)
        os.makedirs(variables)
        os.makedirs(os.path.join(temporary, ASSETS_DIRECTORY))
        prefix = os.path.join(variables, VARIABLES_FILENAME)
        write_bundle(prefix, export.tensors)
        for name, path in export.files.items():
            shutil.copyfile(path, os.path.join(temporary, ASSETS_DIRECTORY, name))
        data = export.saved_model.SerializeToString(deterministic=True)
        for name, content in {
            SAVED_MODEL_FILENAME_PB: data,
            FINGERPRINT_FILENAME: fingerprint_of(export.saved_model, data, prefix),
            **export.more_files,
        }.items():
            with open(os.path.join(temporary, name), "wb") as file:
                file.write(content)


class Export:
    """An object as the messages, tensors and files of a SavedModel."""

    def __init__(self, root: Any, signatures: Signatures, options: SaveOptions) -> None:
        self.objects = Exported(root, signatures)
        self.saved_model = SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
        self.meta_graph = self.saved_model.meta_graphs.add()
        self.tensors: list[tuple[str, Any, Any]] = []
        # Assets by the names of their copies, and other files of the folder.
        self.files: dict[str, str] = {}
        self.more_files: dict[str, bytes] = {}
        self._options = options
        self._library = Library()
        self._names: dict[int, str] = {}
        self._bound: dict[str, list[Any]] = {}
        self._feeds: dict[str, list[Any]] = {}
        # The functions that contain operations with custom gradients.
        self._homes: dict[str, str] = {}
        self._graph_def = self.meta_graph.graph_def
        self._main = MainGraph(self._graph_def)
        self._describe()
        self._write_functions()
        self._write_aliases()
        self._write_nodes()
        self._write_gradients()
        self._write_signatures(signatures)
        self._write_assets()
        self._write_initialization()
        if not options.experimental_skip_saver:
            self._write_saver()
        self._library.require_complete()
        self._graph_def.library.function.extend(self._library.functions)

    def _describe(self) -> None:
        info = self.meta_graph.meta_info_def
        info.tags.extend([SERVING, *(self._options.extra_tags or ())])
        info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION
        self._graph_def.versions.producer = GRAPH_DEF_VERSION
        self._graph_def.versions.min_consumer = _MIN_CONSUMER

    def _write_aliases(self) -> None:
        for alias, function in self._options.function_aliases.items():
            for concrete in [t for _, t in function._traces]:
                self._add_alias(alias, concrete)

    def _add_alias(self, alias: str, concrete: ConcreteFunction) -> None:
        name = self._names.get(id(concrete))
        if name is not None:
            self.meta_graph.meta_info_def.function_aliases[name] = alias

    # Functions.

    def _write_functions(self) -> None:
        for value in self.objects.nodes:
            if isinstance(value, ConcreteFunction):
                self._write_function(value)

    def _write_function(self, concrete: ConcreteFunction) -> None:
        messages = signature_messages(concrete)
        assert messages is not None
        name = f"__inference_{function_stem(concrete)}_{len(self._names)}"
        before = set(self._library.gradients)
        _, handles = self._library.add_function(concrete.graph, concrete._feeds, name)
        for key in self._library.gradients.keys() - before:
            self._homes[key] = name
        bound = [self.objects.captured(tensor) for tensor in concrete._captured]
        bound += [self._owner(handle, name) for handle in handles]
        numbers = [self.objects.number_of(each) for each in bound]
        self._names[id(concrete)], self._bound[name] = name, bound
        self._feeds[name] = concrete._feeds
        saved = self.meta_graph.object_graph_def.concrete_functions[name]
        saved.bound_inputs.extend(numbers)
        saved.canonicalized_input_signature.CopyFrom(messages[0])
        saved.output_signature.CopyFrom(messages[1])

    def _owner(self, handle: Tensor, name: str) -> Any:
        owner = self.objects.of_resource(handle)
        if owner is None:
            raise KeyError(_UNREACHABLE.format(name=name, what=f"{handle._array!r}"))
        return owner

    def _write_gradients(self) -> None:
        """The gradient functions of operations with custom gradients."""
        if not self._options.experimental_custom_gradients:
            return
        for key, (operation, graph, specs) in list(self._library.gradients.items()):
            name = f"__inference_internal_grad_fn_{len(self._names)}_{key.rpartition('-')[2]}"
            feeds = [*graph.inputs, *graph.internal_captures]
            _, handles = self._library.add_function(graph, feeds, name)
            numbers = [
                self._captured_node(each, operation, self._homes[key])
                for each in graph.external_captures
            ]
            owners = [self._owner(each, name) for each in handles]
            numbers += [self.objects.number_of(each) or 0 for each in owners]
            saved = self.meta_graph.object_graph_def.concrete_functions[name]
            saved.bound_inputs.extend(numbers)
            weights = [
                TensorSpec(tensor.shape, tensor.dtype, tensor.op.name) for tensor in graph.inputs
            ]
            saved.canonicalized_input_signature.CopyFrom(encode(((None, *weights), {})))
            saved.output_signature.CopyFrom(encode(specs))
            self._graph_def.library.registered_gradients.add(
                gradient_func=name, registered_op_type=key
            )

    def _captured_node(self, tensor: Tensor, operation: Any, home: str) -> int:
        """The node of a captured forward tensor, or of a constant."""
        nodes = self.meta_graph.object_graph_def.nodes
        node = nodes.add()
        if is_inside(tensor, operation.graph):
            node.captured_tensor.name = self._name_inside(tensor, home)
            node.captured_tensor.concrete_function = home
        else:
            node.constant.operation = self._main.source(Constant(tensor))
        return len(nodes) - 1

    def _name_inside(self, tensor: Any, home: str) -> str:
        definition = next(f for f in self._library.functions if f.signature.name == home)
        feeds = self._feeds[home]
        for place, feed in enumerate(feeds):
            if feed is tensor:
                return f"{definition.signature.input_arg[place].name}:0"
        return f"{_clean(tensor.op.name)}:{tensor.index}"

    # Objects.

    def _write_nodes(self) -> None:
        for number, value in enumerate(self.objects.nodes):
            node = self.meta_graph.object_graph_def.nodes.add()
            for name, child in self.objects.edges[number].items():
                node.children.add(node_id=child, local_name=name)
                if isinstance(value, Function | ConcreteFunction):
                    node.dependencies.add(node_id=child, local_name=name)
            self._write_node(node, value)
        self._values = ExportedValues(self.objects, self.meta_graph.object_graph_def.nodes)
        self.tensors = self._values.tensors

    def _write_node(self, node: Any, value: Any) -> None:
        if isinstance(value, Variable):
            describe_variable(node.variable, value)
        elif isinstance(value, Function):
            self._write_saved_function(node.function, value)
        elif isinstance(value, ConcreteFunction):
            self._write_bare_function(node.bare_concrete_function, value)
        elif isinstance(value, Constant):
            node.constant.operation = self._main.source(value)
            node.registered_name = "tf.TrackableConstant"
        elif isinstance(value, Asset):
            self._main.source(value)
            places = [id(asset) for asset, _ in self._main.assets]
            node.asset.asset_file_def_index = places.index(id(value))
        elif isinstance(value, TableExport):
            node.resource.SetInParent()
        else:
            node.user_object.identifier = identifier_of(value)
            node.user_object.version.producer = 1
            node.user_object.version.min_consumer = 1

    def _write_saved_function(self, message: Any, function: Function) -> None:
        message.concrete_functions.extend(self._names[id(t)] for t in saved_traces(function))
        spec = message.function_spec
        spec.fullargspec.CopyFrom(_encoded_spec(full_arg_spec(function.parameters.signature)))
        signature = function.input_signature
        spec.input_signature.CopyFrom(encode(None if signature is None else tuple(signature)))

    def _write_bare_function(self, message: Any, concrete: ConcreteFunction) -> None:
        message.concrete_function_name = self._names[id(concrete)]
        names = [tensor.op.name for tensor in concrete.graph.inputs]
        message.argument_keywords.extend(names)
        signature = concrete.function_type
        if signature is None:
            return
        keywords = len([leaf for leaf in nest.flatten(signature.kwargs)
                        if isinstance(leaf, TensorSpec)])  # fmt: skip
        only = len(names) == keywords == 1
        message.allowed_positional_arguments = 1 if only else len(names) - keywords
        fields = list(full_arg_spec(signature._parameters.signature))
        fields[3] = fields[5] = None
        message.function_spec.fullargspec.CopyFrom(_encoded_spec(fields))
        message.function_spec.input_signature.none_value.SetInParent()

    # For sessions.

    def _write_signatures(self, signatures: Signatures) -> None:
        for key in sorted(signatures.functions):
            concrete = signatures.functions[key]
            message = self.meta_graph.signature_def[key]
            message.method_name = PREDICT_METHOD_NAME
            inputs = []
            for tensor in concrete.graph.inputs:
                name = tensor.op.name
                fed = self._main.add(
                    f"{key}_{name}", "Placeholder", dtype=tensor.dtype, shape=tensor.shape
                )
                inputs.append(fed)
                _describe_tensor(message.inputs[name], f"{fed}:0", tensor)
            call = self._call(concrete, inputs)
            place = 0
            for name, spec in sorted(result_specs(concrete).items()):
                parts = spec.flatten()
                if len(parts) == 1:
                    _describe_tensor(message.outputs[name], f"{call}:{place}", spec)
                else:
                    self._describe_composite(message.outputs[name], call, place, spec)
                place += len(parts)

    def _call(self, concrete: ConcreteFunction, inputs: list[str]) -> str:
        name = self._names[id(concrete)]
        bound = [self._main.source(each) for each in self._bound[name]]
        definition = next(f for f in self._library.functions if f.signature.name == name)
        types = [_dtype(each) for each in definition.signature.input_arg]
        results = [_dtype(each) for each in definition.signature.output_arg]
        return self._main.call(name, [*inputs, *bound], types, results)

    def _describe_composite(self, message: Any, call: str, place: int, spec: Any) -> None:
        encoded = encode(spec)
        message.composite_tensor.type_spec.CopyFrom(encoded.type_spec_value)
        for i, part in enumerate(spec.flatten()):
            _describe_tensor(message.composite_tensor.components.add(), f"{call}:{place + i}", part)

    def _write_assets(self) -> None:
        taken: dict[str, str] = {}
        for asset, node in self._main.assets:
            name = asset_name(asset.path, taken)
            self.files[name] = asset.path
            message = self.meta_graph.asset_file_def.add(filename=name)
            message.tensor_info.name = f"{node}:0"

    def _write_initialization(self) -> None:
        for number, value in enumerate(self.objects.nodes):
            if isinstance(value, TableExport):
                function = self.objects.nodes[self.objects.edges[number]["_initialize"]]
                self._main.happens_first(self._call(function.get_concrete_function(), []))
        name = self._main.initialization()
        self.meta_graph.collection_def[MAIN_OP_KEY].node_list.value.append(name)
        info = self.meta_graph.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY]
        info.name = name
        info.tensor_shape.unknown_rank = True

    def _write_saver(self) -> None:
        saved = self._values.saved
        saver = Saver(saved, self._values.message.SerializeToString(deterministic=True))
        functions = [
            saver.save_function("__inference__traced_save", GRAPH_KEY),
            saver.restore_function("__inference__traced_restore"),
        ]
        self._library.functions.extend(functions)
        main, text = self._main, dtypes.string
        prefix = main.add("saver_filename", "Placeholder", dtype=text, shape=TensorShape([]))
        inputs = [prefix, *(main.source(variable) for _, variable in saved)]
        types = [text, *(dtypes.resource for _ in saved)]
        calls = [main.call(each.signature.name, inputs, types, [text]) for each in functions]
        definition = self.meta_graph.saver_def
        definition.filename_tensor_name = f"{prefix}:0"
        definition.save_tensor_name = f"{calls[0]}:0"
        definition.restore_op_name = calls[1]
        definition.version = definition.V2


def identifier_of(value: Any) -> str:
    """The identifier of the kind of object that a node represents."""
    if isinstance(value, Signatures):
        return "signature_map"
    if isinstance(value, list):
        return "trackable_list_wrapper"
    if isinstance(value, dict):
        return "trackable_dict_wrapper"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    return hooks.exported_identifier(value) or "_generic_user_object"


def _encoded_spec(fields: Sequence[Any]) -> Any:
    """The message of a FullArgSpec; a default that cannot be encoded becomes None."""
    values = list(fields)
    if values[3] is not None:
        values[3] = tuple(_or_none(each) for each in values[3])
    if values[5] is not None:
        values[5] = {name: _or_none(each) for name, each in values[5].items()}
    return encode(_tuple_class("FullArgSpec", _SPEC_FIELDS)(*values))


def _or_none(value: Any) -> Any:
    try:
        encode(value)
    except NotEncodable:
        return None
    return value


def _describe_tensor(message: Any, name: str, tensor: Any) -> None:
    message.name = name
    message.dtype = tensor.dtype.as_datatype_enum
    message.tensor_shape.CopyFrom(shape_proto(tensor.shape))


def _dtype(argument: Any) -> Any:
    return dtypes.as_dtype(argument.type)
