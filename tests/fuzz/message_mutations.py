"""Mutations of protocol buffers: of their bytes, and of their fields by their types."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor

NUMBERS = (0, 1, -1, 2, 7, 127, 1 << 20, 2**31 - 1, -(2**31), 1 << 40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e30, float("nan"), float("inf"), 1e-45)
_WIDE = {code: code + 0xFEE0 for code in range(33, 127)}
ODD_NAMES = (
    "", "exec".translate(_WIDE), "print".translate(_WIDE), "plan", "c0", "x0", "branch0", "t1",
    "lambda", "None", "True", "import", "__builtins__", "__class__", "__call__", "__dict__",
    "__import__", "getattr", "a b", "x);print(1)#", 'q"""', "a\nimport os", "\\", "{x}",
    "\u017f", "\U0001d42d", "While", "If", "Mul", "PartitionedCall", "../../secret",
    "/etc/passwd", "a" * 5000, "^a", "a:0", ":",
    "a:-1", "a:99999999999999999999", "file://printed", "stdout", "\0", "loc:@a", "e\u0301",
)  # fmt: skip
_INTEGERS = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)
_BITS = {FieldDescriptor.CPPTYPE_INT32: 31, FieldDescriptor.CPPTYPE_UINT32: 32}


def strings_in(message, found=None):
    """All strings of a message, as material for its mutations."""
    found = set() if found is None else found
    for field, value in message.ListFields():
        if _is_map(field):
            found.update(key for key in value if isinstance(key, str))
            value = [value[key] for key in value]
        elif not _is_repeated(field):
            value = [value]
        for each in value:
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                if hasattr(each, "ListFields"):
                    strings_in(each, found)
            elif isinstance(each, str) and len(each) < 200:
                found.add(each)
    return found


def _is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_repeated(field):
    # What it is called has changed between versions of the library.
    known = getattr(field, "is_repeated", None)
    return known if known is not None else field.label == FieldDescriptor.LABEL_REPEATED


class Mutator:
    """Changes messages of one kind; `words` are strings to write into them."""

    def __init__(self, source, words):
        self.source = source
        self.words = sorted(words)

    def mutated_bytes(self, data):
        """Bytes with a few changes."""
        source, broken = self.source, bytearray(data)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(broken) + 1)
            kind = source.randrange(6)
            if kind < 2 and at < len(broken):
                broken[at] ^= 1 << source.randrange(8)
            elif kind == 2 and at < len(broken):
                broken[at] = source.randrange(256)
            elif kind == 3:
                broken[at : at + source.randint(0, 8)] = source.randbytes(source.randint(0, 8))
            elif kind == 4 and len(broken) > 1:
                other = source.randrange(len(broken))
                broken[at : at + 16] = broken[other : other + 16]
            elif source.random() < 0.1:
                del broken[at:]
        return bytes(broken)

    def mutate(self, message):
        """Change some field of a message, or of one inside of it."""
        source = self.source
        present = message.ListFields()
        if not present or source.random() < 0.04:
            self._set_any(message)
            return
        field, value = source.choice(present)
        # Large fields hold the most of what there is to change.
        for _ in range(2):
            other, more = source.choice(present)
            if _is_repeated(other) and len(more) > 1:
                field, value = other, more
        if _is_map(field):
            self._mutate_map(message, field, value)
        elif _is_repeated(field):
            self._mutate_list(message, field, value)
        elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE and source.random() < 0.93:
            self.mutate(value)
        elif source.random() < 0.2:
            message.ClearField(field.name)
        else:
            self._set(message, field)

    def _mutate_map(self, message, field, value):
        source, keys = self.source, sorted(value)
        key, kind = source.choice(keys), source.random()
        entry = field.message_type.fields_by_name["value"]
        is_message = entry.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
        if kind < 0.08:
            del value[key]
        elif kind < 0.16 and isinstance(key, str):
            new = self._word()
            if is_message:
                value[new].CopyFrom(value[key])
            else:
                value[new] = value[key]
        elif kind < 0.3 and is_message:
            value[key].CopyFrom(value[source.choice(keys)])
        elif is_message:
            self.mutate(value[key])
        else:
            value[key] = self._scalar(entry)

    def _mutate_list(self, message, field, value):
        source, kind = self.source, self.source.random()
        at, other = source.randrange(len(value)), source.randrange(len(value))
        if kind < 0.06:
            del value[at]
            return
        if field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE:
            if kind < 0.15:
                value.append(value[other])
            elif kind < 0.3:
                value[at], value[other] = value[other], value[at]
            else:
                value[at] = self._scalar(field)
        elif kind < 0.08:
            value.add().CopyFrom(value[at])
        elif kind < 0.2:
            value[at].CopyFrom(value[other])
        else:
            self.mutate(value[at])

    def _set_any(self, message):
        """Set some field, whether the message has it or not."""
        fields = message.DESCRIPTOR.fields
        if not fields:
            return
        field = self.source.choice(fields)
        if _is_map(field):
            values = getattr(message, field.name)
            entry = field.message_type.fields_by_name["value"]
            key_type = field.message_type.fields_by_name["key"].cpp_type
            key = self._word() if key_type == FieldDescriptor.CPPTYPE_STRING else 1
            if entry.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                self._set_any(values[key])
            else:
                values[key] = self._scalar(entry)
        elif _is_repeated(field):
            values = getattr(message, field.name)
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                self._set_any(values.add())
            else:
                values.append(self._scalar(field))
        else:
            self._set(message, field)

    def _set(self, message, field):
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            inner = getattr(message, field.name)
            inner.SetInParent()
            if self.source.random() < 0.7:
                self._set_any(inner)
        else:
            setattr(message, field.name, self._scalar(field))

    def _word(self):
        pool = ODD_NAMES if self.source.random() < 0.2 else self.words
        return self.source.choice(pool)

    def _scalar(self, field):
        source, kind = self.source, field.cpp_type
        if kind in _INTEGERS:
            number = source.choice(NUMBERS) if source.random() < 0.6 else source.randrange(-3, 30)
            bits = _BITS.get(kind, 63)
            if kind in (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64):
                return abs(number) % (1 << bits)
            return max(-(1 << bits), min(number, (1 << bits) - 1))
        if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return source.choice(FLOATS)
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return source.random() < 0.5
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return source.choice(field.enum_type.values).number
        if field.type == FieldDescriptor.TYPE_BYTES:
            if source.random() < 0.5:
                return self._word().encode(errors="surrogateescape")
            return source.randbytes(source.randint(0, 12))
        return self._word()
