# SPDX-License-Identifier: Apache-2.0
"""Dense registration by this package, greedy (picsl-greedy), ANTs (antspyx) and FireANTs (fireants), from the same affine transform on.

The others run each in a process of its own, which executes this file, since their copies of ITK conflict. Only the library of ANTs' wheel is
loaded, so the packages that antspyx requires are not needed. FireANTs is called as its documentation shows, and runs on the processor.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence


@dataclasses.dataclass(frozen=True)
class Package:
    """A program that is compared: its module, its package, and its iterations at each level, the coarsest first."""

    module: str
    distribution: str
    iterations: tuple[int, ...]

    def version(self) -> str:
        """Returns the package's name and version; the name alone if it does not give its version."""
        try:
            return f"{self.distribution} {importlib.metadata.version(self.distribution)}"
        except importlib.metadata.PackageNotFoundError:
            return self.distribution


PACKAGES = {
    "greedy": Package("picsl_greedy", "picsl-greedy", (100, 100, 100, 50)),
    "ants": Package("ants", "antspyx", (100, 70, 50, 20)),
    "fireants": Package("fireants", "fireants", (100, 100, 100, 50)),
}


@dataclasses.dataclass(frozen=True)
class Other:
    """A way to run one of PACKAGES.

    Attributes:
        package: its key in PACKAGES.
        metric: as the program has it; of ANTs behind the images' names and weight; of FireANTs its scheme and the width of a neighborhood.
        minutes: that one core takes for two heads of 182×182×218 voxels, about: the longest run begins first.
        step: of ANTs' SyN, voxels; of FireANTs' optimizer.
    """

    package: str
    metric: str
    minutes: float
    step: float = 0.0

    def settings(self, iterations: Optional[Sequence[int]]) -> str:
        """Returns the arguments that decide what is found, but for the images' names. iterations: of each level; None: the program's own."""
        counts = "x".join(str(count) for count in iterations or PACKAGES[self.package].iterations)
        levels = range(counts.count("x"), -1, -1)
        if self.package == "greedy":
            return f"-m {self.metric} -n {counts} -s 1.732vox 0.707vox -wp 0"
        if self.package == "fireants":
            scheme, width = self.metric.split()
            scales = "x".join(str(2**level) for level in levels)
            return (
                f"{scheme} scales={scales} iterations={counts} cc_kernel_size={width} optimizer_lr={self.step:g} smooth_grad_sigma=1 "
                "smooth_warp_sigma=0.5"
            )
        factors, sigmas = ("x".join(str(one) for one in ones) for ones in ([2**level for level in levels], levels))
        kind, number = self.metric.split()
        return (
            f"-m {kind}[{{fixed}},{{moving}},1,{number}] -t SyN[{self.step:g},3,0] -c [{counts},1e-6,10] -f {factors} -s {sigmas}vox "
            "-u 0 --float 1"
        )


#: ants-cc and ants-mattes have ANTs' older step of 0.1; ants-cc2 has step and radius of today's antsRegistrationSyN.sh.
OTHERS = {
    "ants-cc": Other("ants", "CC 4", 76, step=0.1),
    "ants-cc2": Other("ants", "CC 2", 28, step=0.2),
    "ants-mattes": Other("ants", "Mattes 32", 5.5, step=0.1),
    "fireants-greedy": Other("fireants", "greedy 5", 10, step=0.5),
    "fireants-syn": Other("fireants", "syn 5", 25, step=0.5),
    "greedy-ncc4": Other("greedy", "NCC 4x4x4", 4),
    "greedy-ncc2": Other("greedy", "NCC 2x2x2", 4),
    "greedy-nmi": Other("greedy", "NMI", 3),
}


class Skipped(Exception):
    """A program is not there, has failed, or has not finished; the text says which."""


@dataclasses.dataclass
class Found:
    """A displacement field on the fixed image's grid, behind which the affine transform follows, its inverse, and the seconds it took.

    inverse: None if the program gives none.
    """

    field: Any
    inverse: Optional[Any]
    seconds: float


@dataclasses.dataclass
class Pair:
    """Two images and the affine transform between them."""

    fixed: Any
    moving: Any
    affine: Any


@contextlib.contextmanager
def alone_on(device: str) -> Iterator[None]:
    """Waits until no job of this user, from this run or another one, has the device, and has it until the `with` block ends."""
    path = Path(tempfile.gettempdir()) / f"compare_dense-{os.getuid()}-{device.replace(':', '-')}.lock"
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_pair(pair: Pair, folder: Path) -> None:
    """Writes a pair into a folder: fixed.nii, moving.nii, and its affine transform as greedy, ANTs and NumPy read it."""
    import gpuregistration as gr
    import numpy as np

    gr.write_image(folder / "fixed.nii", pair.fixed)
    gr.write_image(folder / "moving.nii", pair.moving)
    # greedy's points have x and y the other way round.
    flip = np.diag([-1.0, -1.0, 1.0, 1.0])
    matrix = pair.affine.matrix_of()
    np.save(folder / "affine.npy", matrix)
    np.savetxt(folder / "affine.mat", flip @ matrix @ flip, fmt="%.17g")
    numbers = " ".join(f"{number:.17g}" for number in [*matrix[:3, :3].ravel(), *matrix[:3, 3]])
    (folder / "affine.txt").write_text(
        "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3\n"
        f"Parameters: {numbers}\nFixedParameters: 0 0 0\n"
    )


def read_pair(folder: Path) -> Pair:
    """Reads what write_pair() has written into a folder."""
    import gpuregistration as gr
    import numpy as np

    images = (gr.read_image(folder / name) for name in ("fixed.nii", "moving.nii"))
    return Pair(*images, gr.Affine.from_matrix(np.load(folder / "affine.npy")))


def parse_stage(text: str, iterations: Optional[Sequence[int]]) -> Any:
    """Reads a stage of this package as `gpureg register --transform` has it, such as "greedy:radius=4:iterations=50x20".

    iterations: of each level, where the text has none; None: the stage's own. Raises ValueError if it is no stage that deforms.
    """
    from gpuregistration import stages
    from gpuregistration.command.errors import WrongUse
    from gpuregistration.command.stages import check, read_stages

    try:
        (stage,) = read_stages(text, None)
        if not isinstance(stage, stages.DEFORMING):
            raise ValueError(f"{text}: one of greedy, syn, velocity and ffd is compared.")
        if iterations and not isinstance(stage, stages.FreeForm) and ":iterations=" not in text:
            stage.iterations = tuple(iterations)
            check([stage])
    except WrongUse as error:
        raise ValueError(str(error)) from None
    return stage


def run_ours(stage: Any, pair: Pair, device: str, times: int = 1) -> Found:
    """Registers by a stage of this package. The seconds are the least of several runs, from loaded images to a transform."""
    import gpuregistration as gr

    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = gr.register(pair.fixed, pair.moving, stage, initial=pair.affine, device=device)
        seconds.append(time.perf_counter() - start)
    found = result.stages[0]
    deformation = found.transform.transforms[0]
    is_field = isinstance(deformation, gr.DisplacementField)
    field = deformation if is_field else deformation.to_displacement_field(pair.fixed, device)
    # SyN and velocity have kept an inverse; its deformation comes last.
    inverse = deformation.inverse(pair.fixed, device) if found.inverse is None else found.inverse.transforms[-1]
    return Found(field, inverse, min(seconds))


def run_other(name: str, pair: Path, folder: Path, threads: int, iterations: Optional[Sequence[int]], most_seconds: Optional[float]) -> Found:
    """Registers by one of OTHERS.

    Args:
        pair: folder of write_pair()'s files.
        folder: for the program's files.
        iterations: of each level; None: the program's own.
        most_seconds: after which the program is stopped; None: never.

    Raises:
        Skipped: it is not installed, fails, or takes longer.
    """
    import gpuregistration as gr

    other = OTHERS[name]
    package = PACKAGES[other.package]
    if importlib.util.find_spec(package.module) is None:
        raise Skipped(f"{package.module} is not installed")
    # Arguments are divided at blanks: paths have none.
    inputs = Path(os.path.relpath(pair, folder))
    if " " in str(inputs):
        raise Skipped(f"{inputs} has blanks, which the program takes for ends of names")
    fixed, moving = inputs / "fixed.nii", inputs / "moving.nii"
    settings = other.settings(iterations).format(fixed=fixed, moving=moving)
    if other.package == "greedy":
        commands = [
            f"-d 3 {settings} -i {fixed} {moving} -it {inputs / 'affine.mat'} -threads {threads} -o warp.nii",
            # The time of the inverse is not the registration's.
            f"-d 3 -iw warp.nii inverse.nii -wp 0 -threads {threads}",
        ]
        names = ["warp.nii", "inverse.nii"]
    elif other.package == "fireants":
        commands = [f"{settings} {fixed} {moving} {inputs / 'affine.npy'} total.nii.gz"]
        names = ["total.nii.gz"]
    else:
        commands = [f"-d 3 -v 1 -r {inputs / 'affine.txt'} {settings} -o ants_"]
        names = ["ants_1Warp.nii.gz", "ants_1InverseWarp.nii.gz"]
    text = run_apart(other.package, commands, folder, threads, most_seconds)
    # ANTs and FireANTs have a time without reading and compressing; greedy's time is the whole command's, whose files are not compressed.
    pattern = r"Elapsed time \(stage 0\): (\S+)" if other.package == "ants" else r"SECONDS (\S+)"
    seconds = re.search(pattern, text)
    if seconds is None:
        raise Skipped(f"printed no time: {' '.join(text.split())[-200:]}")
    field, *inverse = (gr.read_transform(folder / one) for one in names)
    if other.package == "fireants":
        field = take_off(field, read_pair(pair).affine)
    return Found(field, inverse[0] if inverse else None, float(seconds[1]))


def take_off(total: Any, affine: Any) -> Any:
    """Returns the field behind which an affine transform follows, of a field that has both: x + u(x) = A⁻¹(x + total(x))."""
    import gpuregistration as gr
    import numpy as np
    from dense_scores import points_of

    points = points_of(total, np.ones(total.array.shape[:3], bool)).reshape(total.array.shape)
    inverse = np.linalg.inv(affine.matrix_of())
    vectors = (points + total.array) @ inverse[:3, :3].T + inverse[:3, 3] - points
    return gr.DisplacementField(np.ascontiguousarray(vectors), total.spacing, total.origin, total.direction)


def run_apart(package: str, commands: Sequence[str], folder: Path, threads: int, most_seconds: Optional[float]) -> str:
    """Runs commands of one of PACKAGES in a process, and returns what they print. Other arguments and errors are those of run_other()."""
    log = folder / "log"
    try:
        with open(log, "w") as out:
            done = subprocess.run(
                [sys.executable, str(Path(__file__).resolve()), package, *commands],
                cwd=folder, env={**os.environ, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)},
                stdout=out, stderr=subprocess.STDOUT, timeout=most_seconds,
            )
    except subprocess.TimeoutExpired:
        raise Skipped(f"not finished in {most_seconds:.0f} s") from None
    text = log.read_text(errors="replace")
    if done.returncode:
        raise Skipped(f"failed, exit status {done.returncode}: {' '.join(text.split())[-200:]}")
    return text


def _run_child(package: str, commands: Sequence[str]) -> int:
    if package == "greedy":
        import picsl_greedy

        for command in commands:
            start = time.perf_counter()
            picsl_greedy.Greedy3D().execute(command)
            print(f"SECONDS {time.perf_counter() - start:.4f}", flush=True)
        return 0
    if package == "fireants":
        for command in commands:
            _run_fireants(command)
        return 0
    folder = Path(next(iter(importlib.util.find_spec("ants").submodule_search_locations)))
    library = next(folder.glob("lib.*.so"))
    spec = importlib.util.spec_from_file_location("lib", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return max(module.antsRegistration(command.split()) for command in commands)


def _run_fireants(command: str) -> None:
    """Registers by FireANTs on the processor. The file that it writes is of the affine transform and the deformation together."""
    import numpy as np
    import torch
    from fireants.io import BatchedImages, Image
    from fireants.registration.greedy import GreedyRegistration
    from fireants.registration.syn import SyNRegistration

    torch.set_num_threads(int(os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"]))
    scheme, *options, fixed, moving, affine, total = command.split()
    given = dict(option.split("=") for option in options)
    levels = {name: [int(one) for one in given.pop(name).split("x")] for name in ("scales", "iterations")}
    width = int(given.pop("cc_kernel_size"))
    method = (SyNRegistration if scheme == "syn" else GreedyRegistration)(
        fixed_images=BatchedImages([Image.load_file(fixed, device="cpu")]),
        moving_images=BatchedImages([Image.load_file(moving, device="cpu")]),
        init_affine=torch.from_numpy(np.load(affine)).float()[None],
        cc_kernel_size=width, optimizer="Adam", **levels, **{name: float(number) for name, number in given.items()},
    )
    start = time.perf_counter()
    method.optimize()
    print(f"SECONDS {time.perf_counter() - start:.4f}", flush=True)
    method.save_as_ants_transforms(total)


if __name__ == "__main__":
    sys.exit(_run_child(sys.argv[1], sys.argv[2:]))
