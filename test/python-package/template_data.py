# SPDX-License-Identifier: Apache-2.0
"""Small groups of people for tests of templates, and workers that are this process."""

import itertools

import gpuregistration as gr
import numpy as np
from conftest import make_head
from gpuregistration._devices import describe_device
from gpuregistration.cohort.pipeline import Pipeline, WorkerInfo
from gpuregistration.template import build

GRID = {"shape": (28, 36, 32), "spacing": (3.0, 3.0, 3.0), "origin": (-46.0, -52.0, -42.0)}
#: Stages that register such people well, and stages that do so in no time.
GOOD = ["affine", gr.stages.SyN(iterations=(25, 20), radius=2, step=0.25)]
QUICK = ["affine", gr.stages.Greedy(iterations=(8, 4), field_sigma=1.0)]
WORDS = ("--transform", "affine,greedy:iterations=8x4:field_sigma=1", "--first", "none", "--rounds", "2", "--devices", "host")


def make_person(shift, contrast=1.0):
    """Returns the head whose point x is the common head's point x + shift(x). It has spots, of which no two are equal, to lie on."""

    def there(point):
        return point + shift(point)

    head = make_head(there, **GRID)
    index = np.stack(np.meshgrid(*[np.arange(n) for n in GRID["shape"]], indexing="ij"), axis=-1)[..., ::-1]
    point = there(index * np.array(GRID["spacing"]) + np.array(GRID["origin"]))
    rng = np.random.default_rng(7)
    spots = np.zeros(GRID["shape"])
    for centre, radius, height in zip(rng.uniform(-24, 24, (60, 3)), rng.uniform(4.0, 8.0, 60), rng.choice([-0.5, 0.5], 60)):
        spots += height * np.exp(-np.square((point - centre) / radius).sum(axis=-1))
    return head.like((contrast * head.array * (1 + spots)).astype(np.float32))


def shifts_of(count, size=3.0):
    """Returns smooth displacements of up to `size` mm, whose sum is 0: one for each person."""
    phases = 2 * np.pi * np.arange(count) / count

    def shift_of(phase):
        def shift(point):
            x, y, z = (point[..., n] * (2 * np.pi / 80.0) for n in range(3))
            return size * np.stack([np.sin(y + z + phase), np.sin(z - x + phase), np.cos(x + y + phase)], axis=-1)

        return shift

    return [shift_of(phase) for phase in phases]


def make_people(folder, count=3, modalities=1, size=3.0):
    """Writes people whose mean shape is the common head's, each of its own brightness, and their table. Returns the table's name."""
    names = ["image", *(f"image{n + 1}" for n in range(1, modalities))]
    lines = [",".join(["id", *names])]
    for number, shift in enumerate(shifts_of(count, size)):
        person = make_person(shift, contrast=1.0 + number)
        cells = [f"p{number}"]
        for n in range(modalities):
            # The second modality is dark where the first one is bright.
            image = person if n == 0 else person.like((200.0 * (1.0 + number) - person.array).astype(np.float32))
            gr.write_image(folder / f"p{number}-{n}.nii.gz", image)
            cells.append(f"p{number}-{n}.nii.gz")
        lines.append(",".join(cells))
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    return folder / "people.csv"


def write_nowhere(image, path):
    """Writes an image as NIfTI that does not say where it lies, and returns the file's name."""
    import nibabel

    gr.write_image(path, image)
    stored = nibabel.load(path)
    values, header = np.asarray(stored.dataobj), stored.header.copy()
    header["sform_code"] = header["qform_code"] = 0
    nibabel.save(nibabel.Nifti1Image(values, None, header), path)
    return path


class Here:
    """Stands for Dask's workers: this process does each job, one after the other.

    Attributes:
        jobs: the jobs that were done: their kinds and names.
        reverse: the last job is done first.
        most: after so many jobs somebody ends the program; None: never.
        workers: as many are said to be there.
    """

    jobs = []
    reverse = False
    most = None
    workers = 1

    def __init__(self, plan, scheduler, hint):
        info = WorkerInfo("0", "tcp://here:1", 1, "here", "host", "A host")
        self._pipeline = Pipeline(describe_device("host"), info)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def run(self, jobs):
        for job in reversed(jobs) if self.reverse else jobs:
            if self.most is not None and len(self.jobs) >= self.most:
                raise KeyboardInterrupt
            yield None, self.workers, []
            outcome = self._pipeline.run(job, lambda: False)
            self.jobs.append(f"{type(job).__name__} {job.id}")
            yield outcome, self.workers, []


def build_here(monkeypatch, table, output, reverse=False, most=None, workers=1, **settings):
    """Builds a template in this process, as if so many workers were there. Returns it, and the jobs that were done. With `most`, it is ended after
    so many jobs."""
    here = type("Here", (Here,), {"jobs": [], "reverse": reverse, "most": most, "workers": workers})
    monkeypatch.setattr(build, "Workers", here)
    settings = {"transform": QUICK, "first": (), "rounds": 2, **settings}
    try:
        template = build.build_template(table, output, devices=["host"], **settings)
    except KeyboardInterrupt:
        assert most is not None
        template = None
    return template, here.jobs


def correlation(first, second):
    """Returns the correlation of two arrays."""
    return float(np.corrcoef(np.ravel(first).astype(np.float64), np.ravel(second).astype(np.float64))[0, 1])


def files_of(folder):
    """Returns the content of all files of results whose bits are to be the same: images and transforms, without the rounds' pictures."""
    names = ("*.nii.gz", "*.mat", "*.npy")
    found = sorted(itertools.chain.from_iterable(folder.rglob(name) for name in names))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
