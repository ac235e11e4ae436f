# SPDX-License-Identifier: Apache-2.0
"""Writes gzip by several threads at once."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any, BinaryIO, Callable, Iterator

from . import _deflate
from ._checksum import join
from ._gzip_index import LAST_BLOCK, TRAILER, Block, choose_block, make_header, make_indexed_header
from ._threads import call_in_order


def write_compressed(file: BinaryIO, *parts: Any, owner: Any = None) -> None:
    """Writes bytes, compressed as one member of gzip, which every reader takes. Where the file can be written at any place, and there are
    enough blocks, its header has their index.

    Args:
        file: it is not open for appending, which ignores places.
        parts: the bytes, one part after the other, in objects of contiguous memory; or functions that make such objects, some
            choose_block() bytes each, which the threads call.
        owner: an object that holds the memory of the parts. It is kept for as long as threads read there, which may be longer than this
            function runs, where a signal ends it.

    Raises:
        OSError: the file cannot be written.
    """
    makers = list(_blocks(parts))
    begin = file.tell() if file.seekable() else None
    header = make_header(len(makers) if begin is not None else 0)
    file.write(header)
    blocks: list[Block] = []
    check = size = 0
    with closing(call_in_order("gzip", (partial(_compress, make, owner) for make in makers))) as done:
        for packed, block in done:
            file.write(packed)
            blocks.append(block)
            check, size = join(check, block.check, block.size), size + block.size
    file.write(LAST_BLOCK + TRAILER.pack(check, size & 0xFFFFFFFF))
    indexed = make_indexed_header(blocks)
    if begin is not None and indexed is not None:
        end = file.tell()
        file.seek(begin)
        file.write(indexed)
        file.seek(end)


def _blocks(parts: tuple[Any, ...]) -> Iterator[Callable[[], Any]]:
    """Yields functions that return the blocks of all parts."""
    contents = [part if callable(part) else memoryview(part).cast("B") for part in parts]
    step = choose_block(sum(len(content) for content in contents if not callable(content)))
    for content in contents:
        if callable(content):
            yield content
            continue
        for begin in range(0, len(content), step):
            yield partial(content.__getitem__, slice(begin, begin + step))


def _compress(make: Callable[[], Any], owner: Any) -> tuple[bytes, Block]:
    """Compresses a block, and holds the owner of its memory until this is over. Returns what it has become, and what an index says of
    it."""
    block = memoryview(make()).cast("B")
    packed = _deflate.deflate(block)
    return packed, Block(len(block), len(packed), _deflate.library.crc32(block))
