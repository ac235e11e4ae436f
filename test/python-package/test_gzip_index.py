# SPDX-License-Identifier: Apache-2.0
"""Tests that a compressed file has an index of its blocks, that several threads read it by, and that it is read as one without an index is."""

import gzip
import io
import os
import random
import time
import warnings
import zlib
from contextlib import closing
from functools import partial

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import _checksum, _deflate, _gzip_blocks, _gzip_index, _unpack
from gpuregistration._gzip import write_compressed
from gpuregistration._threads import call_in_order

BLOCK = 1000
SEED = int(os.environ.get("GPUREG_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Files of a few kilobytes have an index."""
    monkeypatch.setattr(_gzip_index, "BLOCK", BLOCK)
    monkeypatch.setattr(_gzip_index, "_FEWEST_BLOCKS", 1)


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    gr.set_threads(request.param)
    yield request.param
    gr.set_threads()


@pytest.fixture
def draw():
    """Draws the same for the same seed, which is printed where a test fails."""
    print(f"GPUREG_TEST_SEED={SEED}")
    return random.Random(SEED)


def make_content(draw, size):
    """Returns bytes of which some repeat."""
    return b"".join(bytes([draw.randrange(256)]) * draw.choice((1, 1, 1, 2, 30)) for _ in range(size))[:size]


def write(path, *parts):
    with open(path, "wb") as file:
        write_compressed(file, *parts)
    return path.read_bytes()


def outcome(path, read):
    """Returns what read() returns, or its error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = read(path)
        except gr.BadInputError as error:
            result = str(error)
    return result, sorted({str(warning.message) for warning in caught})


def read_all(path):
    content = _unpack.Content(path)
    found = content.take(1 << 20)
    assert content.count_rest() == 0
    return found


def check_as_without_index(monkeypatch, path, read=read_all):
    """Asserts that a file is read, or refused, as by one thread that takes no notice of an index. Returns what came of it."""
    found = outcome(path, read)
    with monkeypatch.context() as without:
        without.setattr(_unpack, "_find_blocks", lambda path: None)
        assert found == outcome(path, read)
    return found[0]


def test_joined_checksums(draw):
    for _ in range(200):
        one, other = (draw.randbytes(draw.choice((0, 1, 2, 7, 500, draw.randrange(5000)))) for _ in range(2))
        assert _checksum.join(zlib.crc32(one), zlib.crc32(other), len(other)) == zlib.crc32(one + other)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 7 * BLOCK - 1, 7 * BLOCK + 1])
def test_what_is_written_is_read(tmp_path, deflate_library, threads, draw, size):
    content = make_content(draw, size)
    packed = write(tmp_path / "a.gz", content)
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert member.decompress(packed) == content and member.eof and member.unused_data == b"" and gzip.decompress(packed) == content
    index = _gzip_index.read_index(tmp_path / "a.gz")
    assert (index is None) == (size == 0)
    assert index is None or [one.size for one in index.blocks] == [min(BLOCK, size - begin) for begin in range(0, size, BLOCK)]
    assert index is None or index.end == len(packed)
    assert read_all(tmp_path / "a.gz") == content
    for _ in range(20):
        pieces = _unpack.Content(tmp_path / "a.gz")
        if draw.randrange(2):
            pieces.unpack_ahead()
        while pieces.taken < size:
            begin, count = pieces.taken, draw.choice((1, 10, BLOCK, BLOCK + 1, 3 * BLOCK, 20 * BLOCK))
            if draw.randrange(2):
                assert pieces.take(count) == content[begin : begin + count]
            else:
                pieces.skip(count)
            assert pieces.taken == min(size, begin + count)
            if draw.randrange(20) == 0:
                break
        assert pieces.count_rest() == size - pieces.taken


def test_bytes_do_not_depend_on_threads(tmp_path, draw):
    content = make_content(draw, 9500)
    try:
        files = []
        for count in (1, 2, 7, 2):
            gr.set_threads(count)
            files.append(write(tmp_path / "a.gz", content[:10], content[10:]))
    finally:
        gr.set_threads()
    assert len(set(files)) == 1


def test_blocks_that_functions_make(tmp_path, monkeypatch, deflate_library, draw):
    for _ in range(20):
        sizes = [draw.choice((1, 352, BLOCK, 3 * BLOCK, draw.randrange(1, 2000))) for _ in range(draw.randrange(1, 9))]
        pieces = [make_content(draw, size) for size in sizes]
        write(tmp_path / "a.gz", b"begin", *(lambda piece=piece: piece for piece in pieces))
        assert [one.size for one in _gzip_index.read_index(tmp_path / "a.gz").blocks] == [5, *sizes]
        assert read_all(tmp_path / "a.gz") == b"begin" + b"".join(pieces) == gzip.decompress((tmp_path / "a.gz").read_bytes())
    monkeypatch.setattr(_gzip_index, "_MOST_BYTES", 2 * BLOCK)
    write(tmp_path / "a.gz", b"begin", lambda: bytes(2 * BLOCK + 1))
    assert _gzip_index.read_index(tmp_path / "a.gz") is None
    assert read_all(tmp_path / "a.gz") == b"begin" + bytes(2 * BLOCK + 1) == gzip.decompress((tmp_path / "a.gz").read_bytes())


def test_where_there_is_no_index(tmp_path, monkeypatch, draw):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise AssertionError("It cannot seek.")

        tell = seek

    content = make_content(draw, 5 * BLOCK)
    pipe = Pipe()
    write_compressed(pipe, content)
    monkeypatch.setattr(_gzip_index, "_FEWEST_BLOCKS", 6)
    packed = write(tmp_path / "few.gz", content)
    assert packed == pipe.getvalue() and gzip.decompress(packed) == content and packed[3] == 0
    monkeypatch.setattr(_gzip_index, "_FEWEST_BLOCKS", 1)
    monkeypatch.setattr(_gzip_index, "_MOST_BLOCKS", 4)
    assert write(tmp_path / "many.gz", *(lambda n=n: content[BLOCK * n :][:BLOCK] for n in range(5))) == packed


def test_a_file_that_does_not_begin_with_it(draw):
    content, file = make_content(draw, 3 * BLOCK), io.BytesIO(b"before")
    file.seek(6)
    write_compressed(file, content)
    file.write(b"behind")
    assert file.getvalue().startswith(b"before") and gzip.decompress(file.getvalue()[6:-6]) == content


def test_large_files_have_larger_blocks(monkeypatch):
    monkeypatch.undo()
    mebibyte, most = 1 << 20, _gzip_index._MOST_BLOCKS
    assert [_gzip_index.choose_block(total) for total in (0, 1, 1 << 30, 5 << 30, 12 << 30)] == [mebibyte] * 4 + [3 * mebibyte]
    for total in (1 << 30, 12 << 30, 1 << 40):
        assert total <= _gzip_index.choose_block(total) * (most - 4)
    for count in (_gzip_index._FEWEST_BLOCKS, most):
        header = _gzip_index.make_header(count)
        assert len(header) == 12 + int.from_bytes(header[10:12], "little") and len(header) <= 12 + 0xFFFF and header[3] == 4
        assert len(header) == len(_gzip_index.make_indexed_header([_gzip_index.Block(1, 2, 3)] * count))
        assert gzip.decompress(header + b"\3\0" + bytes(8)) == b""
    assert _gzip_index.make_header(most + 1)[3] == _gzip_index.make_header(_gzip_index._FEWEST_BLOCKS - 1)[3] == 0


def test_damaged_files(tmp_path, monkeypatch, deflate_library, draw):
    """Each bit of the header and of the index is inverted, and bits of blocks and of the end. The whole is cut off at many places."""
    content = make_content(draw, 5 * BLOCK + 100)
    path = tmp_path / "a.gz"
    packed = write(path, content)
    begin = _gzip_index.read_index(path).begin
    places = [*range(8 * begin), *(draw.randrange(8 * begin, 8 * len(packed)) for _ in range(300)), *range(8 * len(packed) - 90, 8 * len(packed))]
    refused = 0
    for place in places:
        damaged = bytearray(packed)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        found = check_as_without_index(monkeypatch, path)
        assert found == content or isinstance(found, str) or place < 16, place
        refused += isinstance(found, str)
    assert refused > 300
    for length in (0, 2, 11, 19, 20, begin - 1, begin, begin + 1, len(packed) // 2, *range(len(packed) - 12, len(packed))):
        path.write_bytes(packed[:length])
        found = check_as_without_index(monkeypatch, path)
        assert length < 2 or "a.gz is cut off" in found


def test_an_index_of_something_else(tmp_path, monkeypatch, deflate_library, draw):
    """The numbers fit the member's end, and not the blocks: the index is left out of account, also where blocks were taken before."""
    content = make_content(draw, 6 * BLOCK)
    path = tmp_path / "a.gz"
    packed = write(path, content)
    index = _gzip_index.read_index(path)

    def put(*blocks):
        path.write_bytes(_gzip_index.make_indexed_header(list(blocks)) + packed[index.begin :])
        assert _gzip_index.read_index(path) is not None

    first = index.blocks[0]
    for shift in (-3, -1, 1, 3):
        changed = [_gzip_index.Block(one.size, one.packed, one.check) for one in index.blocks]
        changed[-2].packed += shift
        changed[-1].packed -= shift
        put(*changed)
        assert check_as_without_index(monkeypatch, path) == content
        pieces = _unpack.Content(path)
        assert pieces.take(4 * BLOCK + 10) + pieces.take(2 * BLOCK) == content and pieces.count_rest() == 0
        pieces = _unpack.Content(path)
        pieces.skip(4 * BLOCK)
        assert pieces.count_rest() == 2 * BLOCK
    put(first, _gzip_index.Block(0, 0, 0), *index.blocks[1:])
    assert check_as_without_index(monkeypatch, path) == content
    # A last block behind the first one ends what one reader would find.
    early = packed[: index.begin] + packed[index.begin : index.begin + first.packed] + b"\3\0"
    path.write_bytes(early + packed[len(early) :])
    assert "a.gz is damaged" in check_as_without_index(monkeypatch, path)
    # Each block says that it is the last one, or bytes that belong to nothing follow it.
    for behind in (b"", b"\0"):
        pieces = [content[place : place + BLOCK] for place in range(0, len(content), BLOCK)]
        # A member without its header and its end is a stream that is ended.
        ended = [gzip.compress(piece)[10:-8] + behind for piece in pieces]
        blocks = [_gzip_index.Block(BLOCK, len(one), zlib.crc32(piece)) for one, piece in zip(ended, pieces)]
        path.write_bytes(_gzip_index.make_indexed_header(blocks) + b"".join(ended) + packed[-10:])
        assert _gzip_index.read_index(path) is not None
        assert "a.gz is damaged" in check_as_without_index(monkeypatch, path)
    for name, version in ((b"GQ", 1), (b"GP", 2), (b"GP", 0)):
        other = bytearray(packed)
        other[12:14], other[16] = name, version
        path.write_bytes(other)
        assert _gzip_index.read_index(path) is None and check_as_without_index(monkeypatch, path) == content


def test_what_follows(tmp_path, monkeypatch, deflate_library, draw):
    content, other = make_content(draw, 3 * BLOCK), make_content(draw, 2 * BLOCK + 7)
    path = tmp_path / "a.gz"
    packed, follower = write(path, content), gzip.compress(other)
    indexed = write(tmp_path / "b.gz", other)
    for behind, wanted in ((follower, other), (indexed, other), (follower + indexed, other + other), (bytes(1000), b""), (b"more", b"")):
        path.write_bytes(packed + behind)
        assert _gzip_index.read_index(path) is not None
        assert check_as_without_index(monkeypatch, path) == content + wanted
        pieces = _unpack.Content(path)
        pieces.skip(len(content) - 5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert pieces.take(20) == (content + wanted)[len(content) - 5 :][:20]
    for cut in (1, 9, len(follower) - 1):
        path.write_bytes(packed + follower[:-cut])
        check_as_without_index(monkeypatch, path)
    path.write_bytes(follower + packed)
    assert _gzip_index.read_index(path) is None and check_as_without_index(monkeypatch, path) == other + content
    path.write_bytes(packed[:-1] + bytes([packed[-1] ^ 1]) + follower)
    assert "a.gz is damaged" in check_as_without_index(monkeypatch, path)


@pytest.mark.parametrize("components", [1, 3])
def test_images_that_others_read(tmp_path, deflate_library, draw, components):
    """nibabel and SimpleITK read what has an index, and damage is found."""
    nibabel, sitk = pytest.importorskip("nibabel"), pytest.importorskip("SimpleITK")
    shape = (17, 19, 23, components)[: 4 if components > 1 else 3]
    values = np.random.default_rng(draw.randrange(1 << 32)).normal(size=shape).astype(np.float32).round(1)
    image = gr.Image(values, (1.0, 1.5, 2.0), is_vector=components > 1)
    path = tmp_path / "a.nii.gz"
    gr.write_image(path, image)
    index = _gzip_index.read_index(path)
    assert len(index.blocks) == 1 + components * -(-17 * 19 * 23 * 4 // BLOCK)
    by_nibabel = np.asarray(nibabel.load(path).dataobj)
    assert (np.moveaxis(by_nibabel.squeeze().T, 0, -1 if components > 1 else 0) == image.array).all()
    assert (sitk.GetArrayFromImage(sitk.ReadImage(str(path))) == image.array).all()
    assert (gr.read_image(path).array == image.array).all()
    packed = path.read_bytes()
    for _ in range(30):
        damaged = bytearray(packed)
        damaged[draw.randrange(index.begin, len(packed))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            assert (gr.read_image(path).array == image.array).all()
        except gr.BadInputError as error:
            # A bit may take away the end of what is compressed.
            assert "a.nii.gz is damaged" in str(error) or "a.nii.gz is cut off" in str(error)


def test_a_volume_of_a_series_needs_its_own_blocks_alone(tmp_path, monkeypatch, draw):
    pytest.importorskip("nibabel")
    rng = np.random.default_rng(draw.randrange(1 << 32))
    volumes = [gr.Image(rng.normal(size=(9, 10, 11)).astype(np.float32)) for _ in range(6)]
    path = tmp_path / "s.nii.gz"
    gr.write_series(path, volumes, gr._series.Series(6, volumes.__getitem__, 1.0, 0.0, "sec"))
    assert all((read.array == volume.array).all() for read, volume in zip(gr.read_series(path), volumes))
    series, unpacked = gr.read_series(path), []
    unpack = _gzip_blocks.Blocks._unpack
    monkeypatch.setattr(_gzip_blocks.Blocks, "_unpack", lambda self, number: unpacked.append(number) or unpack(self, number))
    for number in (3, 0, 5, 4, 1, 2):
        assert (series[number].array == volumes[number].array).all() and 0 < len(unpacked) <= 5
        unpacked.clear()
    # The file is damaged behind its first check.
    index = _gzip_index.read_index(path)
    content = bytearray(path.read_bytes())
    content[index.begin + sum(one.packed for one in index.blocks[:6]) + 100] ^= 1
    path.write_bytes(content)
    assert (series[4].array == volumes[4].array).all()
    with pytest.raises(gr.BadInputError, match="s.nii.gz is damaged"):
        series[1]
    with pytest.raises(gr.BadInputError, match="s.nii.gz is damaged"):
        gr.read_series(path)


def test_small_pieces_unpack_each_block_once(tmp_path, monkeypatch, draw):
    content, unpacked = make_content(draw, 5 * BLOCK + 1), []
    write(tmp_path / "a.gz", content)
    make = _deflate.make_inflater
    monkeypatch.setattr(_deflate, "make_inflater", lambda: unpacked.append(1) or make())
    for is_ahead in (False, True):
        pieces = _unpack.Content(tmp_path / "a.gz")
        if is_ahead:
            pieces.unpack_ahead()
        assert b"".join(iter(lambda: pieces.take(300), b"")) == content and pieces.count_rest() == 0
        assert len(unpacked) == 6
        unpacked.clear()


def test_few_blocks_are_in_memory(threads):
    called = []
    results = call_in_order("gzip", ((lambda n=n: called.append(n) or n) for n in range(100)))
    for number, found in enumerate(results):
        assert found == number and len(called) <= number + 2 * threads + 1
        if number == 60:
            break
    results.close()
    assert len(called) <= 60 + 2 * threads + 1


def test_closing_waits_for_what_has_begun(threads):
    """Nobody writes to a target behind the error of another block."""
    begun, ended = [], []

    def work(number):
        if number == 0:
            raise ValueError
        begun.append(number)
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError), closing(call_in_order("gzip", (partial(work, number) for number in range(30)))) as results:
        list(results)
    found = len(begun)
    assert found == len(ended) < 30
    time.sleep(0.1)
    assert len(begun) == found
