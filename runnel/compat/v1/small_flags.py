"""Command-line flags on the standard library, for where absl is not installed."""

from __future__ import annotations

import argparse
import sys


class FlagValues:
    """The values of the flags, as attributes; parsed from the command line on first use."""

    def __init__(self):
        self.__dict__["_parser"] = argparse.ArgumentParser(allow_abbrev=False)
        self.__dict__["_values"] = {}
        self.__dict__["_parsed"] = False
        self.__dict__["_required"] = set()

    def add(self, name, default, help, **options):
        """Declare a flag."""
        options.setdefault("default", default)
        self._parser.add_argument(f"--{name}", f"-{name}", help=help, dest=name, **options)
        self._values[name] = default

    def require(self, name):
        """Make a flag required."""
        self._required.add(name)

    def __call__(self, argv, known_only=False):
        """Parse a command line; returns the remaining arguments."""
        values, rest = self._parser.parse_known_args(argv[1:])
        if not known_only:
            unknown = [each for each in rest if each.startswith("--")]
            if unknown:
                self._parser.error(f"Unknown command line flag {unknown[0]!r}")
        self._values.update(vars(values))
        missing = [name for name in sorted(self._required) if self._values.get(name) is None]
        if missing:
            self._parser.error(f"Flag --{missing[0]} must have a value other than None.")
        self.__dict__["_parsed"] = True
        return [argv[0], *rest]

    def mark_as_parsed(self):
        """Use the defaults without parsing a command line."""
        self.__dict__["_parsed"] = True

    def is_parsed(self):
        """Whether a command line was parsed."""
        return self._parsed

    def flag_values_dict(self):
        """All values by name."""
        return dict(self._values)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"There is no flag {name!r}. Define it with flags.DEFINE_...().")
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._values[name]

    def __setattr__(self, name, value):
        if name not in self._values:
            raise AttributeError(f"There is no flag {name!r}. Define it with flags.DEFINE_...().")
        self._values[name] = value

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self._values)


FLAGS = FlagValues()


def _truth(text):
    lowered = text.lower()
    if lowered in ("true", "t", "1", "yes"):
        return True
    if lowered in ("false", "f", "0", "no"):
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is no boolean: write true or false.")


def DEFINE_string(name, default, help, flag_values=FLAGS, required=False, **args):
    """A string flag."""
    _define(flag_values, required, name, default, help, type=str)


def DEFINE_integer(name, default, help, flag_values=FLAGS, required=False, **args):
    """An integer flag."""
    _define(flag_values, required, name, default, help, type=int)


def DEFINE_float(name, default, help, flag_values=FLAGS, required=False, **args):
    """A float flag."""
    _define(flag_values, required, name, default, help, type=float)


def DEFINE_boolean(name, default, help, flag_values=FLAGS, required=False, **args):
    """A boolean flag: on (`--name`) or off (`--noname`)."""
    _define(flag_values, required, name, default, help, type=_truth, nargs="?", const=True)
    flag_values._parser.add_argument(
        f"--no{name}", dest=name, action="store_false", default=argparse.SUPPRESS
    )


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(name, default, enum_values, help, flag_values=FLAGS, required=False, **args):
    """A flag whose value is one of several strings."""
    _define(flag_values, required, name, default, help, choices=list(enum_values))


def DEFINE_list(name, default, help, flag_values=FLAGS, required=False, **args):
    """A flag whose value is a comma-separated list of strings."""
    if isinstance(default, str):
        default = _parts(default)
    _define(flag_values, required, name, default, help, type=_parts)


def _parts(text):
    return [each.strip() for each in text.split(",")] if text else []


def _define(flag_values, required, name, default, help, **options):
    flag_values.add(name, default, help, **options)
    if required:
        flag_values.require(name)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Make a flag required."""
    flag_values.require(flag_name)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """Make these flags required."""
    for name in flag_names:
        flag_values.require(name)
