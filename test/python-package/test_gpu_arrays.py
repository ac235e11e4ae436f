# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU, in and out without a copy: of CUDA by its driver alone, of CuPy and PyTorch where they are; and, where there is no GPU,
arrays of the host that say that they are on one, which the engine's host reads by the same way."""

import ctypes
import gc
import sys
import time
import types
import weakref

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, turn
from cuda_arrays import CudaArray, Driver, Gpu
from gpuregistration import _devices, _engine, _gpu_arrays

# The bytes that are transferred besides voxels: a chain's parts, tables, sums.
FEW_BYTES = 1 << 16


class PretendedDLPack:
    """An array of the host that claims by DLPack to be on a GPU."""

    def __init__(self, array, number=0):
        self.array = array
        self.number = number
        self.streams = []

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, stream=None, **arguments):
        capsule = writable(self.array).__dlpack__(**arguments)
        self.streams.append(stream)
        return capsule


def writable(array):
    """Returns a writable array of the same memory. NumPy before 2.1 exports no other arrays, and its from_dlpack returns read-only ones."""
    if array.flags.writeable:
        return array
    span = sum((count - 1) * stride for count, stride in zip(array.shape, array.strides)) + array.itemsize
    memory = (ctypes.c_char * span).from_address(array.ctypes.data)
    memory.owner = array
    return np.ndarray(array.shape, array.dtype, memory, strides=array.strides)


class PretendedInterface:
    """An array of the host that claims by CUDA's array interface to be on a GPU."""

    def __init__(self, array):
        self.array = array
        self.changes = {}

    @property
    def __cuda_array_interface__(self):
        found = dict(self.array.__array_interface__)
        return {**{name: found[name] for name in ("shape", "typestr", "data", "strides")}, "version": 3, "stream": None, **self.changes}


class OnHost:
    """Makes arrays of one of these classes."""

    def __init__(self, kind, monkeypatch):
        self.kind = kind
        self.device = "host"
        monkeypatch.setattr(_gpu_arrays, "find_device", lambda array: "host")
        library = types.ModuleType("pretended")
        library.from_dlpack = lambda made: kind(np.from_dlpack(made))
        monkeypatch.setitem(sys.modules, "pretended", library)
        monkeypatch.setattr(kind, "__module__", "pretended.arrays")

    def put(self, values):
        if np.asarray(values).dtype == bool and int(np.__version__.split(".")[0]) < 2:
            pytest.skip("NumPy before 2 has no bools in DLPack")
        return self.kind(np.ascontiguousarray(values))

    def get(self, array):
        assert type(array) is self.kind
        return array.array

    def set(self, array, values):
        array.array[...] = values

    def address(self, array):
        return array.array.ctypes.data


class OnCuda:
    """Makes arrays by CUDA's driver."""

    def __init__(self, monkeypatch):
        self.gpu = Gpu(find_driver(), first_gpu())
        self.device = self.gpu.name

    def put(self, values):
        return CudaArray(self.gpu, values)

    def get(self, array):
        if isinstance(array, CudaArray):
            return array.get()
        # The library has no from_dlpack.
        assert isinstance(array, _engine.DeviceArray) and array.device == self.device
        found = array.__cuda_array_interface__
        assert found["data"][0] == array.address and found["version"] == 3
        return self.gpu.read(array.address, found["shape"], np.dtype(found["typestr"]))

    def set(self, array, values):
        array.set(values)

    def address(self, array):
        return array.address


class OnCupy:
    def __init__(self, monkeypatch):
        self.cupy = pytest.importorskip("cupy")
        self.device = f"cuda:{first_gpu()}"

    def put(self, values):
        with self.cupy.cuda.Device(int(self.device[5:])):
            return self.cupy.asarray(values)

    def get(self, array):
        assert isinstance(array, self.cupy.ndarray)
        return self.cupy.asnumpy(array)

    def set(self, array, values):
        array[...] = self.cupy.asarray(values)

    def address(self, array):
        return array.data.ptr


class OnTorch:
    def __init__(self, monkeypatch):
        self.torch = pytest.importorskip("torch")
        self.device = f"cuda:{first_gpu()}"

    def put(self, values):
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def get(self, array):
        assert isinstance(array, self.torch.Tensor) and str(array.device) == self.device
        return array.cpu().numpy()

    def set(self, array, values):
        array.copy_(self.torch.from_numpy(values))

    def address(self, array):
        return array.data_ptr()


def find_driver():
    try:
        return Driver()
    except OSError:
        pytest.skip("there is no driver of CUDA")


def first_gpu():
    names = [device.name for device in gr.devices() if device.kind == "cuda"]
    if not names:
        pytest.skip("the engine computes on no GPU of CUDA here")
    return int(names[0][5:])


@pytest.fixture(params=["dlpack on the host", "interface on the host", "cuda", "cupy", "torch"])
def library(request, monkeypatch):
    """Makes arrays by a library, and reads them."""
    if request.param == "cuda":
        return OnCuda(monkeypatch)
    if request.param == "cupy":
        return OnCupy(monkeypatch)
    if request.param == "torch":
        return OnTorch(monkeypatch)
    return OnHost(PretendedDLPack if request.param.startswith("dlpack") else PretendedInterface, monkeypatch)


@pytest.fixture
def head():
    return make_head(shape=(30, 32, 34))


def statistics(kind, device):
    """Returns the statistics of the engine that was used last."""
    with _devices.borrow_engine(getattr(_engine, kind), device) as engine:
        return engine.statistics


def assert_stays_there(kind, device):
    moved = statistics(kind, device)
    assert moved.bytes_up < FEW_BYTES and moved.bytes_down < FEW_BYTES


def as_image(library, image):
    return gr.Image(library.put(image.array), image.spacing, image.origin, image.direction)


MOVE = gr.Affine(turn(7), [1.234, 2.345, 3.456], [3, 2, 1])


@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "?"])
@pytest.mark.parametrize("interpolation", ["linear", "nearest", "bspline"])
def test_resampling(library, head, kind, interpolation):
    low, default = -60 if np.dtype(kind).kind in "if" else 0, 1 if kind == "?" else 3
    values = (head.array > 50) if kind == "?" else (head.array + low).clip(low, 127 + low).astype(kind)
    expected = gr.resample(head.like(values), MOVE, None, interpolation, default=default, device=library.device)
    gr.resample(as_image(library, head), device=library.device)
    made = gr.resample(as_image(library, head.like(values)), MOVE, None, interpolation, default=default)
    assert isinstance(made, gr.Image) and made.has_grid_of(head)
    found = library.get(made.array)
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, expected.array)
    assert_stays_there("Resampler", library.device)


def test_resampling_behind_a_spline(library, head, rng):
    spline = gr.BSpline(rng.uniform(-3, 3, (8, 8, 8, 3)), (15.0,) * 3, (-60.0,) * 3)
    expected = gr.resample(head, spline, device=library.device)
    made = gr.resample(as_image(library, head), spline)
    np.testing.assert_array_equal(library.get(made.array), expected.array)


def test_bare_arrays(library, head):
    made = gr.resample(library.put(head.array), gr.Affine(translation=(1.5, 0, 0)))
    expected = gr.resample(head.array, gr.Affine(translation=(1.5, 0, 0)), device=library.device)
    np.testing.assert_array_equal(library.get(made), expected)


def test_two_dimensions(library, head):
    image = head.array[15]
    made = gr.resample(library.put(image), gr.Affine(translation=(1.5, 2.5)))
    expected = gr.resample(image, gr.Affine(translation=(1.5, 2.5)), device=library.device)
    assert library.get(made).shape == image.shape
    np.testing.assert_array_equal(library.get(made), expected)
    np.testing.assert_array_equal(library.get(gr.smooth(library.put(image), 2.0)), gr.smooth(image, 2.0, library.device))


@pytest.mark.parametrize("kind", ["f4", "f8", "i2"])
def test_smoothing(library, head, kind):
    values = head.array.astype(kind)
    array = library.put(values)
    made = gr.smooth(array, (1.5, 0, 2.5))
    np.testing.assert_array_equal(library.get(made), gr.smooth(values, (1.5, 0, 2.5), library.device))
    gr.smooth(array, (1.5, 0, 2.5))
    assert_stays_there("Filter", library.device)
    np.testing.assert_array_equal(library.get(array), values)


@pytest.mark.parametrize("kind", ["f4", "f8", "u1"])
def test_pyramids(library, head, kind):
    image = head.like(head.array.astype(kind))
    made = gr.pyramid(as_image(library, image), 3)
    expected = gr.pyramid(image, 3, library.device)
    assert len(made) == 3
    for ours, theirs in zip(made, expected):
        assert ours.has_grid_of(theirs)
        np.testing.assert_array_equal(library.get(ours.array), theirs.array)


@pytest.mark.parametrize("stage", ["rigid", "affine", "ffd"])
def test_registration(library, heads, stage):
    fixed, moving = heads
    expected = gr.register(fixed, moving, stage, device=library.device)
    found = gr.register(as_image(library, fixed), as_image(library, moving), stage)
    assert found.device == library.device
    assert found.cost == expected.cost
    np.testing.assert_array_equal(library.get(found.warped.array), expected.warped.array)
    moved = statistics("FreeFormRegistration" if stage == "ffd" else "GlobalRegistration", library.device)
    # A search downloads the levels of 8 mm, to compute centres of mass, and some sums of each evaluation.
    assert moved.bytes_down < 2 * fixed.array.nbytes


def test_registration_of_one_there_and_one_here(library, heads):
    fixed, moving = heads
    expected = gr.register(fixed, moving, device=library.device).transform.matrix_of()
    there = gr.register(as_image(library, fixed), moving)
    assert isinstance(there.warped.array, np.ndarray) and there.device == library.device
    np.testing.assert_array_equal(there.transform.matrix_of(), expected)
    here = gr.register(fixed, as_image(library, moving))
    np.testing.assert_array_equal(library.get(here.warped.array), there.warped.array)


@pytest.mark.parametrize("kind", ["?", "u1", "f4"])
def test_masks(library, heads, kind):
    fixed, moving = heads
    mask = np.zeros(fixed.array.shape, kind)
    # Every value but 0 is inside.
    mask[8:30, 10:40, 5:] = 1 if kind != "f4" else 0.25
    expected = gr.metric("mattes_mutual_information", fixed, moving, fixed_mask=mask, device=library.device)
    found = gr.metric("mattes_mutual_information", as_image(library, fixed), as_image(library, moving), fixed_mask=library.put(mask))
    at = gr.Affine(translation=(2.0, 1.0, 0.5))
    assert found.value(at) == expected.value(at)
    plain = gr.metric("mattes_mutual_information", as_image(library, fixed), as_image(library, moving))
    assert plain.value(at) != found.value(at)


@pytest.mark.parametrize("dimension", [2, 3])
def test_displacement_fields(library, head, rng, dimension):
    image = head if dimension == 3 else gr.Image(head.array[15], (2.0, 3.0), (-30.0, -40.0), turn(5, 2))
    spline = gr.BSpline(rng.uniform(-3, 3, (9,) * dimension + (dimension,)), (15.0,) * dimension, (-60.0,) * dimension)
    for transform in (spline, gr.Affine(turn(7, dimension)), gr.Composite([gr.Affine(turn(7, dimension)), spline])):
        expected = transform.to_displacement_field(image, library.device)
        made = transform.to_displacement_field(as_image(library, image))
        found = library.get(made.array)
        assert found.dtype == np.float64 and found.shape == image.array.shape + (dimension,)
        np.testing.assert_array_equal(found, expected.array)
        np.testing.assert_array_equal(made.host_array(), expected.array)
        assert made.dimension == dimension and repr(made) == repr(expected)
    if dimension == 3:
        assert_stays_there("Resampler", library.device)


def test_fields_that_are_there_move_images(library, head, rng):
    values = rng.uniform(-2, 2, head.array.shape + (3,)).astype(np.float32)
    here = gr.DisplacementField(values, head.spacing, head.origin)
    there = gr.DisplacementField(library.put(values), head.spacing, head.origin)
    expected = gr.resample(head, here, device=library.device).array
    np.testing.assert_array_equal(gr.resample(head, there, device=library.device).array, expected)
    np.testing.assert_array_equal(library.get(gr.resample(as_image(library, head), there).array), expected)
    values[3, 4, 5, 1] = np.inf
    broken = gr.DisplacementField(library.put(values), head.spacing, head.origin)
    with pytest.raises(gr.BadInputError, match="not finite"):
        gr.resample(head, broken, device=library.device)


def test_the_field_of_a_registration(library, heads):
    fixed, moving = heads
    found = gr.register(as_image(library, fixed), as_image(library, moving), "rigid")
    expected = gr.register(fixed, moving, "rigid", device=library.device)
    np.testing.assert_array_equal(library.get(found.displacement_field.array), expected.displacement_field.array)


def test_metrics_have_what_was_there_when_they_were_made(library, heads):
    fixed, moving = (library.put(image.array) for image in heads)
    at = gr.Affine(translation=(2.0, 1.0, 0.5))
    for name in ("correlation_ratio", "mattes_mutual_information", "correlation", "mean_squares"):
        made = gr.metric(name, fixed, moving)
        before = made.value(at)
        for array, image in ((fixed, heads[0]), (moving, heads[1])):
            library.set(array, np.ascontiguousarray(image.array[::-1]))
        assert made.value(at) == before
        assert gr.metric(name, fixed, moving).value(at) != before
        for array, image in ((fixed, heads[0]), (moving, heads[1])):
            library.set(array, image.array)


def cost_beside_the_engine(whole, engine):
    """Returns what a call takes beside the engine's seconds, as a share of these."""
    return (whole - engine) / engine


def test_registration_takes_what_the_engine_takes(library, heads, moved):
    """Arrays in and out cost less than a millisecond beside the engine: on a GPU 1/20 of a whole head's registration.

    register() and the warped image's array, which is made when it is asked for, are timed. The engine's share is the seconds that it reports
    for each stage. It reports none for warping: the time of a second resampling of the same arrays counts as its share. That includes
    the cost of a call of resample(), too, which is then not looked at. The first call of six that was not disturbed ends it.
    """
    if library.device != "host":
        grid = {"shape": (160, 192, 176), "spacing": (0.5, 0.5, 0.5)}
        heads = (make_head(**grid), make_head(moved.inverse().transform_points, **grid))
    fixed, moving = (as_image(library, image) for image in heads)
    calls = []
    for _ in range(6):
        started = time.perf_counter()
        found = gr.register(fixed, moving, ["affine", "ffd"])
        warped = found.warped.array
        whole = time.perf_counter() - started
        started = time.perf_counter()
        again = gr.resample(moving, found.transform, fixed)
        warping = time.perf_counter() - started
        calls.append((whole, sum(part.seconds for part in found.stages) + warping))
        if cost_beside_the_engine(*calls[-1]) < 0.05:
            break
    np.testing.assert_array_equal(library.get(warped), library.get(again.array))
    print(f"{library.device}: " + ", ".join(f"{1000 * call:.2f} ms of which the engine {1000 * engine:.2f}" for call, engine in calls))
    assert cost_beside_the_engine(*calls[-1]) < 0.05, calls


def test_nothing_is_copied(library, head):
    array = library.put(head.array)
    content = gr.Image(array).content
    before = _engine.memory_in_use(library.device)
    borrowed = content.borrow()
    assert borrowed.address == library.address(array)
    assert _engine.memory_in_use(library.device) == before


def test_changes_between_calls_are_seen(library, head):
    array = library.put(head.array)
    image = gr.Image(array)
    first = library.get(gr.resample(image).array).copy()
    library.set(array, head.array * np.float32(2))
    np.testing.assert_array_equal(library.get(gr.resample(image).array), 2 * first)


def test_arrays_are_let_go(library, heads):
    fixed, moving = (library.put(image.array) for image in heads)
    gone = [weakref.ref(fixed), weakref.ref(moving)]
    result = gr.register(fixed, moving, ["rigid", "ffd"])
    result.warped
    gr.smooth(fixed, 1.0)
    gr.pyramid(fixed, 2)
    gr.metric("mean_squares", fixed, moving).value(gr.Affine())
    del fixed, moving, result
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_results_outlive_what_made_them(library, head):
    made = gr.resample(library.put(head.array))
    gc.collect()
    gr.release_memory(library.device)
    np.testing.assert_array_equal(library.get(made), head.array)


def test_memory_goes_with_who_reads_it(library, head):
    image = gr.Image(library.put(head.array)).content.borrow()
    with _devices.borrow_engine(_engine.NumberConverter, library.device) as converter:
        before = _engine.memory_in_use(library.device)
        made = converter.make_numbers(image, "float32")
    assert _engine.memory_in_use(library.device) == before + head.array.nbytes
    capsule = made.__dlpack__()
    del made
    gc.collect()
    assert _engine.memory_in_use(library.device) == before + head.array.nbytes
    del capsule
    gc.collect()
    assert _engine.memory_in_use(library.device) == before


def test_levels_of_one_voxel_are_copies(library):
    # Along a short axis no voxel is skipped, and the level may be the image itself.
    values = np.arange(8, dtype=np.float64).reshape(2, 2, 2)
    array = library.put(values)
    levels = gr.pyramid(array, 5)
    for level in levels[1:]:
        before = library.get(level).copy()
        library.set(array, -values)
        np.testing.assert_array_equal(library.get(level), before)
        library.set(array, values)


def test_results_come_in_again(library, head):
    made = gr.resample(library.put(head.array), gr.Affine(translation=(1.5, 0, 0)))
    again = gr.smooth(made, 1.0)
    once = gr.resample(head.array, gr.Affine(translation=(1.5, 0, 0)), device=library.device)
    np.testing.assert_array_equal(library.get(again), gr.smooth(once, 1.0, library.device))


def test_what_the_engine_makes_is_kept_by_who_reads_it():
    made = _engine.load("host", np.arange(24, dtype=np.float32).reshape(2, 3, 4), (2, 3, 4))
    ref = weakref.ref(made) if hasattr(made, "__weakref__") else None
    array = np.from_dlpack(made)
    address = made.address
    del made
    gc.collect()
    assert array.ctypes.data == address and array.sum() == 276
    assert ref is None or ref() is not None


def test_an_unknown_library_gets_the_engines_array(monkeypatch, head):
    monkeypatch.setattr(_gpu_arrays, "find_device", lambda array: "host")
    content = gr.Image(PretendedDLPack(head.array)).content
    made = content.convert_like(content.borrow())
    assert isinstance(made, _engine.DeviceArray) and made.type == "float32" and made.shape == head.array.shape
    assert made.__dlpack_device__() == (1, 0)
    assert not hasattr(made, "__cuda_array_interface__")
    np.testing.assert_array_equal(np.from_dlpack(made), head.array)
    with pytest.raises(BufferError):
        made.__dlpack__(copy=True)


def test_producers_are_told_a_stream(monkeypatch, head):
    monkeypatch.setattr(_gpu_arrays, "find_device", lambda array: "host")
    array = PretendedDLPack(head.array)
    image = gr.Image(array)
    # Inspecting it waits for nothing.
    assert array.streams == [-1]
    gr.resample(image)
    assert array.streams[-1] == _engine.meeting_stream("host") == 0


def test_results_are_the_nearest_whole_numbers(library):
    values = np.array([-1e30, -300.0, -128.5, -1.5, -0.5, 0.49, 0.5, 1.5, 2.5, 126.5, 127.5, 254.5, 255.5, 1e30, np.inf, -np.inf, 3.0])
    image = gr.Image(library.put(values.reshape(1, 1, -1))).content.borrow()
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        limits = np.iinfo(kind)
        expected = [int(min(max(np.rint(v), limits.min), limits.max)) if np.isfinite(v) else (limits.max if v > 0 else limits.min) for v in values]
        with _devices.borrow_engine(_engine.NumberConverter, library.device) as converter:
            made = converter.make_numbers(image, kind)
        assert made.type == kind
        found = read(library, made).ravel()
        assert [int(number) for number in found] == expected


def read(library, made):
    """Reads the engine's own array."""
    if library.device == "host":
        return np.from_dlpack(made)
    return Gpu(find_driver(), int(library.device[5:])).read(made.address, made.shape, np.dtype(made.type))


def test_torch_on_the_host(heads):
    torch = pytest.importorskip("torch")
    fixed, moving = (torch.from_numpy(image.array) for image in heads)
    found = gr.register(fixed, moving.requires_grad_(), device="host")
    expected = gr.register(heads[0].array, heads[1].array, device="host")
    assert isinstance(found.warped, torch.Tensor)
    np.testing.assert_array_equal(found.warped.numpy(), expected.warped)
    made = gr.smooth(fixed.to(torch.int16), 1.0, "host")
    assert made.dtype == torch.int16
    np.testing.assert_array_equal(made.numpy(), gr.smooth(heads[0].array.astype(np.int16), 1.0, "host"))


def test_torch_takes_what_the_engine_makes(head):
    torch = pytest.importorskip("torch")
    made = _engine.load("host", head.array, head.array.shape)
    tensor = torch.from_dlpack(made)
    assert tensor.data_ptr() == made.address
    np.testing.assert_array_equal(tensor.numpy(), head.array)


# Errors.


@pytest.fixture
def on_host(monkeypatch):
    return OnHost(PretendedDLPack, monkeypatch)


@pytest.mark.parametrize("use", [lambda a: gr.resample(a), lambda a: gr.smooth(a, 1.0), lambda a: gr.register(a, a)])
def test_a_gpu_that_is_not_there(head, use):
    with pytest.raises(gr.BadInputError, match=r"is on cuda:99, .*host.*\.cpu\(\)"):
        use(PretendedDLPack(head.array, 99))


def test_an_interface_of_no_gpu(head):
    with pytest.raises(gr.BadInputError, match=r"device that is not known.*\.cpu\(\)"):
        gr.resample(PretendedInterface(head.array))


def test_a_device_of_another_kind(head):
    class OnRocm(PretendedDLPack):
        def __dlpack_device__(self):
            return (10, 0)

    with pytest.raises(gr.UnsupportedError, match="kind 10.*copy on the host"):
        gr.resample(OnRocm(head.array))


def test_another_device_is_asked_for(library, head):
    others = [device.name for device in gr.devices() if device.name != library.device]
    if not others:
        pytest.skip("there is one device alone")
    for use in (
        lambda array: gr.resample(array, device=others[0]),
        lambda array: gr.smooth(array, 1.0, others[0]),
        lambda array: gr.pyramid(array, 2, others[0]),
        lambda array: gr.register(array, array, device=others[0]),
        lambda array: gr.metric("mean_squares", array, array, device=others[0]),
    ):
        with pytest.raises(gr.BadInputError, match=f"is on {library.device}, and {others[0]} is to compute.*copy"):
            use(library.put(head.array))
    with pytest.raises(gr.DeviceError, match="cuda:99"):
        gr.resample(library.put(head.array), device="cuda:99")


def test_its_own_device_may_be_asked_for(library, head):
    array = library.put(head.array)
    np.testing.assert_array_equal(library.get(gr.resample(array, device=library.device)), head.array)


def test_two_gpus(monkeypatch, head):
    names = [device.name for device in gr.devices()]
    if len(names) < 2:
        pytest.skip("there is one device alone")
    monkeypatch.setattr(_gpu_arrays, "find_device", lambda array: names[array.number])
    fixed, moving = (PretendedDLPack(head.array, number) for number in (0, 1))
    for use in (
        lambda: gr.register(fixed, moving),
        lambda: gr.metric("mean_squares", fixed, moving),
        lambda: gr.register(fixed, fixed, moving_mask=moving),
    ):
        with pytest.raises(gr.BadInputError, match=f"is on {names[0]}, and the moving .* on {names[1]}.*Copy"):
            use()


def test_memory_of_opencl_is_not_read(monkeypatch, head):
    names = [device.name for device in gr.devices() if device.kind == "opencl"]
    if not names:
        pytest.skip("there is no OpenCL")
    monkeypatch.setattr(_gpu_arrays, "find_device", lambda array: names[0])
    for values in (head.array, head.array.astype(np.int16)):
        with pytest.raises(gr.UnsupportedError, match=names[0]):
            gr.resample(PretendedDLPack(values))


def test_what_is_not_contiguous(on_host, head):
    for values in (head.array[::2], head.array.T, head.array[:, :, :-1]):
        with pytest.raises(gr.BadInputError, match=r"not contiguous.*\.contiguous\(\)"):
            gr.resample(PretendedDLPack(values))
    # An array with a single slice has no stride along it.
    assert gr.resample(PretendedDLPack(head.array[::30])).array.shape == (1, 32, 34)


@pytest.mark.parametrize("kind", ["f2", "c8"])
def test_types_that_are_not_read(on_host, head, kind):
    with pytest.raises(gr.BadInputError, match="Convert them"):
        gr.resample(PretendedDLPack(head.array.astype(kind)))


def test_shapes_that_are_no_image(on_host):
    for shape in ((5,), (2, 3, 4, 5), (0, 3, 4)):
        with pytest.raises(gr.BadInputError, match=r"dimensions|no voxels"):
            gr.resample(PretendedDLPack(np.zeros(shape, np.float32)))


def test_values_that_cannot_be_registered(library, head):
    broken = head.array.copy()
    broken[3, 4, 5] = np.nan
    with pytest.raises(gr.BadInputError, match="not a number"):
        gr.register(library.put(head.array), library.put(broken))
    with pytest.raises(gr.BadInputError, match="constant"):
        gr.register(library.put(np.full_like(head.array, 3)), library.put(head.array))


@pytest.mark.parametrize("stage", ["rigid", "ffd"])
def test_a_mask_that_is_empty(library, heads, stage):
    empty = library.put(np.zeros(heads[0].array.shape, bool))
    with pytest.raises(gr.BadInputError, match="mask"):
        gr.register(as_image(library, heads[0]), as_image(library, heads[1]), stage, fixed_mask=empty)


def test_an_array_that_has_become_another(on_host, head):
    array = on_host.put(head.array)
    image = gr.Image(array)
    array.array = head.array[1:]
    with pytest.raises(gr.BadInputError, match="no longer of shape"):
        gr.resample(image)


def test_a_mask_of_another_shape(library, head):
    with pytest.raises(gr.BadInputError, match="mask is on another grid.*shape"):
        gr.register(library.put(head.array), library.put(head.array), fixed_mask=library.put(head.array[1:]))


@pytest.mark.parametrize(
    "changes, message",
    [({"stream": 0}, "stream 0"), ({"mask": 1}, "mask of its own"), ({"data": None}, "not as"), ({"typestr": "<f2"}, "Convert")],
)
def test_interfaces_that_are_wrong(monkeypatch, head, changes, message):
    on = OnHost(PretendedInterface, monkeypatch)
    array = on.put(head.array)
    array.changes = changes
    with pytest.raises(gr.BadInputError, match=message):
        gr.resample(array)


def test_vectors_stay_with_the_host(library, head):
    image = gr.Image(library.put(np.stack([head.array, head.array], axis=-1)), is_vector=True)
    for use in (lambda: gr.resample(image), lambda: gr.smooth(image, 1.0)):
        with pytest.raises(gr.BadInputError, match="2 components a voxel"):
            use()


def test_what_the_host_alone_does(on_host, head, tmp_path):
    pytest.importorskip("SimpleITK")
    with pytest.raises(gr.BadInputError, match=r"by the host.*\.cpu\(\)"):
        gr.write_image(tmp_path / "made.nii.gz", gr.Image(on_host.put(head.array)))
    assert not list(tmp_path.iterdir())


# With a CUDA GPU, by its driver.


@pytest.fixture
def gpu():
    return Gpu(find_driver(), first_gpu())


@pytest.mark.parametrize("kind", ["f4", "i2"])
def test_cuda_streams_are_waited_for(gpu, head, kind):
    values = head.array.astype(kind)
    stream = gpu.make_stream()
    # The first allocation may wait for all work.
    gr.resample(CudaArray(gpu, values))
    gr.smooth(CudaArray(gpu, values), 0.0)
    late = CudaArray(gpu, values, stream, seconds=0.3)
    content = gr.Image(late).content
    # Without its stream, the values are not there yet: otherwise the test would show nothing.
    assert not late.get().any()
    begin = time.perf_counter()
    content.borrow()
    assert time.perf_counter() - begin > 0.1
    np.testing.assert_array_equal(late.get(), values)
    late = CudaArray(gpu, values, stream, seconds=0.3)
    np.testing.assert_array_equal(OnCuda.get(OnCuda(None), gr.resample(late)), values)
    late = CudaArray(gpu, values, stream, seconds=0.3)
    np.testing.assert_array_equal(OnCuda.get(OnCuda(None), gr.smooth(late, 0.0)), values)


def test_cuda_arrays_by_dlpack(gpu, head):
    made = gr.resample(CudaArray(gpu, head.array))
    assert made.__dlpack_device__() == (2, gpu.number)

    class Producer:
        """An object with DLPack's functions only."""

        streams = []

        def __dlpack_device__(self):
            return made.__dlpack_device__()

        def __dlpack__(self, stream=None, **arguments):
            self.streams.append(stream)
            return made.__dlpack__(stream=stream, **arguments)

    producer = Producer()
    image = gr.Image(producer)
    assert image.content.borrow().address == made.address
    meeting = _engine.meeting_stream(gpu.name)
    assert meeting > 2 and producer.streams == [-1, meeting]
    again = gr.resample(image)
    np.testing.assert_array_equal(gpu.read(again.array.address, again.array.shape, np.float32), head.array)


def test_cuda_arrays_of_another_gpu(head):
    driver = find_driver()
    names = [device.name for device in gr.devices() if device.kind == "cuda"]
    if len(names) < 2:
        pytest.skip("there is one GPU alone")
    first, second = (Gpu(driver, int(name[5:])) for name in names[:2])
    array = CudaArray(second, head.array)
    made = gr.resample(array)
    assert made.device == second.name
    np.testing.assert_array_equal(second.read(made.address, made.shape, np.float32), head.array)
    with pytest.raises(gr.BadInputError, match=f"is on {second.name}, and {first.name} is to compute"):
        gr.resample(array, device=first.name)
    with pytest.raises(gr.BadInputError, match=f"is on {first.name}, and the moving image on {second.name}"):
        gr.register(CudaArray(first, head.array), array)
    # The engine itself does not trust another library.
    wrong = _engine.Borrowed(array.address, array.shape, "float32", None, array)
    with pytest.raises(gr.BadInputError, match=f"is on {second.name}, and {first.name} is to compute"):
        _engine.borrow(first.name, wrong)


def test_cuda_does_not_read_the_hosts_memory(gpu, head):
    wrong = _engine.Borrowed(head.array.ctypes.data, head.array.shape, "float32", None, head)
    with pytest.raises(gr.BadInputError, match="not in a GPU's memory"):
        _engine.borrow(gpu.name, wrong)
    with pytest.raises(gr.BadInputError, match="not known"):
        gr.resample(PretendedInterface(head.array))
