# SPDX-License-Identifier: GPL-2.0
"""What an ELF program says about the shared libraries it needs (elf(5), ld.so(8)).

Only files of this machine's class (64 bits, little endian) are read; that is what guests run.
The file is parsed, never executed: `ldd` would run the program's own loader.
"""

import struct
from dataclasses import dataclass

from bench.lab import LabError

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True)
class Needs:
    """Of one ELF file. A static program needs nothing: all is empty."""

    interpreter: str = ""  # absolute path of its loader; libraries have none
    libraries: tuple[str, ...] = ()  # names such as libc.so.6, in the file's order
    search: tuple[str, ...] = ()  # its own directories to search; may hold $ORIGIN


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int  # in the file


def needs(data: bytes, name: str = "file") -> Needs | None:
    """The libraries that this file needs; None if it is not ELF of 64 bits, little endian.

    LabError if it is one but makes no sense; `name` says which.
    """
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        return _parse(data)
    except (struct.error, ValueError, UnicodeDecodeError):
        raise LabError(f"{name}: a damaged ELF file") from None


def _parse(data: bytes) -> Needs:
    segments = _segments(data)
    interpreter = ""
    entries: list[tuple[int, int]] = []
    for segment in segments:
        if segment.kind == _PT_INTERP:
            interpreter = _text(data, segment.offset)
        elif segment.kind == _PT_DYNAMIC:
            entries = _dynamic(data, segment)
    values = dict(reversed(entries))  # of one that is there twice the first
    if _DT_STRTAB not in values:
        return Needs(interpreter)
    strings = _file_offset(segments, values[_DT_STRTAB])
    libraries = [_text(data, strings + value) for tag, value in entries if tag == _DT_NEEDED]
    # ld.so(8): the older DT_RPATH is ignored where there is a DT_RUNPATH
    path = values.get(_DT_RUNPATH, values.get(_DT_RPATH))
    search = _text(data, strings + path).split(":") if path is not None else []
    return Needs(interpreter, tuple(libraries), tuple(filter(None, search)))


def _segments(data: bytes) -> list[_Segment]:
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = []
    for index in range(count):
        kind, _, offset, address, _, in_file = struct.unpack_from(
            "<IIQQQQ", data, table + index * size
        )
        found.append(_Segment(kind, offset, address, in_file))
    return found


def _dynamic(data: bytes, segment: _Segment) -> list[tuple[int, int]]:
    entries = []
    for at in range(segment.offset, segment.offset + segment.size, 16):
        tag, value = struct.unpack_from("<qQ", data, at)
        if not tag:
            break
        entries.append((tag, value))
    return entries


def _file_offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        inside = address - segment.address
        if segment.kind == _PT_LOAD and 0 <= inside < segment.size:
            return segment.offset + inside
    raise ValueError


def _text(data: bytes, at: int) -> str:
    end = data.index(b"\0", at)
    return data[at:end].decode()
