"""The process that copies an HDF5 file to its plain form: python copying.py FILE COPY BYTES.

A standalone script, run without the package: only h5py and its dependencies are imported.
"""

import sys


def limit(bytes_: int) -> None:
    """Limit memory and disable core dumps, where the system supports it."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (bytes_, bytes_))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def copy(source: object, target: object, most: int) -> None:
    """Copy groups, datasets and attributes; external data is refused."""
    import h5py

    waiting, left = [(source, target)], most
    while waiting:
        group, into = waiting.pop()
        for name, value in group.attrs.items():  # type: ignore[attr-defined]
            into.attrs[name] = value  # type: ignore[attr-defined]
        for name in group:  # type: ignore[attr-defined]
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):  # type: ignore[attr-defined]
                raise SystemExit(f"{name!r} is a link to another place, which models do not have")
            member = group[name]  # type: ignore[index]
            if isinstance(member, h5py.Group):
                waiting.append((member, into.create_group(name)))  # type: ignore[attr-defined]
                continue
            if member.external or member.is_virtual:
                raise SystemExit(
                    f"the values of {name!r} are in another file, where a model must not look"
                )
            left -= member.nbytes
            if left < 0:
                raise SystemExit(f"its values have more than {most} bytes")
            into.create_dataset(name, data=member[()])  # type: ignore[attr-defined]


def main(path: str, target: str, most: int) -> None:
    """Copy one file."""
    limit(most + (1 << 30))
    import h5py

    with h5py.File(path, "r") as source, h5py.File(target, "w", libver="earliest") as copied:
        copy(source, copied, most)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
