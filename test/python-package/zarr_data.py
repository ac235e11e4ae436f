# SPDX-License-Identifier: Apache-2.0
"""OME-Zarrs for tests, written by the package zarr alone."""

import numpy as np

import gpuregistration as gr

SCALE, TRANSLATION = (5.0, 4.0, 3.0), (10.0, 20.0, 30.0)


def write_zarr(folder, levels, version="0.4", unit="micrometer", scale=SCALE, translation=TRANSLATION, chunk=16, shard=None, leading=(), labels=()):
    """Writes an OME-Zarr by the specification's words.

    Args:
        levels: an array for each, the finest one first, each of half of the voxels of the one before.
        version: 0.4 is on Zarr's format 2, 0.5 on format 3.
        scale, translation: of space, in the arrays' order.
        leading: names of the axes before space, "t" and "c".
        labels: of the channels.
    """
    import zarr

    d = len(scale)
    kinds = {"t": "time", "c": "channel"}
    axes = [{"name": name, "type": kinds[name]} for name in leading]
    axes += [{"name": name, "type": "space", **({"unit": unit} if unit else {})} for name in "zyx"[-d:]]
    datasets = []
    for n in range(len(levels)):
        places = [
            {"type": "scale", "scale": [1.0] * len(leading) + [s * 2**n for s in scale]},
            {"type": "translation", "translation": [0.0] * len(leading) + [t + 0.5 * (2**n - 1) * s for s, t in zip(scale, translation)]},
        ]
        datasets.append({"path": f"scale{n}", "coordinateTransformations": places})
    image = {"name": "test", "axes": axes, "datasets": datasets}
    attributes = {"multiscales": [image]}
    if labels:
        attributes["omero"] = {"channels": [{"label": label} for label in labels]}
    if version == "0.4":
        image["version"] = version
    else:
        attributes = {"ome": {"version": version, **attributes}}
    group = zarr.open_group(str(folder), mode="w", zarr_format=2 if version == "0.4" else 3, attributes=attributes)
    for n, array in enumerate(levels):
        lead = (1,) * len(leading)
        more = {} if version == "0.4" else {"shards": None if shard is None else lead + (shard,) * d}
        made = group.create_array(name=f"scale{n}", shape=array.shape, chunks=lead + (chunk,) * d, dtype=array.dtype, **more)
        made[...] = array
    return folder


def contents_of(folder):
    """Returns the bytes of all files of a folder, by their names in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def image_of(array, factor=1, scale=SCALE, translation=TRANSLATION, **more):
    """The image that the finest level, or with a factor of 2 the next one, is to be read as: µm become mm."""
    spacing = 1e-3 * np.array(scale[::-1]) * factor
    origin = 1e-3 * (np.array(translation[::-1]) + 0.5 * (factor - 1) * np.array(scale[::-1]))
    return gr.Image(array, spacing, origin, **more)


def make_values(shape, kind=np.uint16, seed=1):
    """Smooth values with noise, over most of the type's range."""
    random = np.random.default_rng(seed)
    places = np.meshgrid(*[np.linspace(0, 3, n) for n in shape], indexing="ij")
    values = 0.5 + 0.3 * np.sin(sum((k + 1) * p for k, p in enumerate(places))) + 0.2 * random.uniform(-1, 1, shape)
    if np.dtype(kind) == bool:
        return values > 0.5
    most = 1.0 if np.dtype(kind).kind == "f" else np.iinfo(kind).max
    return (values * most).astype(kind)


def make_transforms(image, seed=2):
    """Transforms of each kind, about an image of less than a millimeter, by name."""
    random = np.random.default_rng(seed)
    d = image.dimension
    length = image.spacing * image.size
    center = image.origin + 0.5 * length
    matrix = np.eye(d) + random.uniform(-0.15, 0.15, (d, d))
    affine = gr.Affine(matrix, 0.1 * length * random.uniform(-1, 1, d), center)
    nodes = (9,) * d
    # Its domain ends within the image.
    spline = gr.BSpline(random.uniform(-0.1, 0.1, (*nodes, d)) * length, length / 8, image.origin + 0.05 * length)
    field = gr.BSpline(random.uniform(-0.1, 0.1, (*nodes, d)) * length, length / 5, image.origin - 0.3 * length).to_displacement_field(image, "host")
    return {
        "none": None,
        "affine": affine,
        "spline": spline,
        "field": field,
        "field after affine": gr.Composite([affine, field]),
        "all": gr.Composite([spline, affine, field]),
    }
