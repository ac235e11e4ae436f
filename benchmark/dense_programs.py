# SPDX-License-Identifier: Apache-2.0
"""Dense registration by this package, by greedy (picsl-greedy) and by ANTs (antspyx), each from the same affine transform on.

greedy and ANTs run in a process of their own, which is this file: their copies of ITK do not meet. Of ANTs only the library of its wheel is
loaded, which needs none of the packages that antspyx does.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional, Sequence

ITERATIONS = {"greedy": (100, 100, 100, 50), "ants": (100, 70, 50, 20)}
#: The metrics of the other programs' rows.
GREEDY = {"greedy-ncc4": "NCC 4x4x4", "greedy-ncc2": "NCC 2x2x2", "greedy-nmi": "NMI"}
ANTS = {"ants-cc": "CC[{fixed},{moving},1,4]", "ants-mattes": "Mattes[{fixed},{moving},1,32]"}
MODULES = {"greedy": "picsl_greedy", "ants": "ants"}


class Skipped(Exception):
    """A program is not there, or has failed; the text says which."""


@dataclasses.dataclass
class Found:
    """A displacement field on the fixed image's grid, behind which the affine transform follows, its inverse, and the seconds it took."""

    field: object
    inverse: object
    seconds: float


@dataclasses.dataclass
class Pair:
    """Two images, the affine transform between them, and the folder where fixed.nii, moving.nii, affine.mat and affine.txt lie."""

    fixed: object
    moving: object
    affine: object
    folder: Path


def write_pair(pair: Pair) -> None:
    """Writes a pair's images, and its affine transform as greedy and as ANTs read it."""
    import gpuregistration as gr
    import numpy as np

    gr.write_image(pair.folder / "fixed.nii", pair.fixed)
    gr.write_image(pair.folder / "moving.nii", pair.moving)
    # greedy's points have x and y the other way round.
    flip = np.diag([-1.0, -1.0, 1.0, 1.0])
    matrix = pair.affine.matrix_of()
    np.savetxt(pair.folder / "affine.mat", flip @ matrix @ flip, fmt="%.17g")
    numbers = " ".join(f"{number:.17g}" for number in [*matrix[:3, :3].ravel(), *matrix[:3, 3]])
    (pair.folder / "affine.txt").write_text(
        "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3\n"
        f"Parameters: {numbers}\nFixedParameters: 0 0 0\n"
    )


def parse_stage(text: str, iterations: Optional[Sequence[int]]) -> object:
    """Reads a stage of this package, such as "greedy radius=4 iterations=(50,20)". Raises ValueError if it is none."""
    from gpuregistration import stages

    kinds = {kind.name: kind for kind in (stages.Greedy, stages.SyN, stages.Velocity)}
    name, *settings = text.split()
    try:
        stage = kinds[name](**{key: ast.literal_eval(value) for key, value in (one.split("=", 1) for one in settings)})
        if iterations and not any(one.startswith("iterations=") for one in settings):
            stage.iterations = tuple(iterations)
        stage.settings()
        return stage
    except KeyError:
        raise ValueError(f'"{text}" is no stage: it begins with {", ".join(kinds)}.') from None
    except (TypeError, ValueError, SyntaxError) as error:
        raise ValueError(
            f'"{text}" is not possible: {error}. Settings are name=value without spaces; write words in quotes.'
        ) from None


def run_ours(stage: object, pair: Pair, device: str, times: int = 1) -> Found:
    """Registers by a stage of this package. The seconds are the least of several runs, from loaded images to a transform."""
    import gpuregistration as gr

    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = gr.register(pair.fixed, pair.moving, stage, initial=pair.affine, device=device)
        seconds.append(time.perf_counter() - start)
    found = result.stages[0]
    field = found.transform.transforms[0]
    # SyN has kept an inverse; its deformation comes last.
    inverse = field.inverse(device=device) if found.inverse is None else found.inverse.transforms[-1]
    return Found(field, inverse, min(seconds))


def run_other(name: str, pair: Pair, threads: int, iterations: Optional[Sequence[int]]) -> Found:
    """Registers by one of GREEDY or ANTS. Raises Skipped if it is not installed, or fails."""
    import gpuregistration as gr

    program = name.split("-")[0]
    if importlib.util.find_spec(MODULES[program]) is None:
        raise Skipped(f"{MODULES[program]} is not installed")
    counts = "x".join(str(count) for count in iterations or ITERATIONS[program])
    levels = counts.count("x") + 1
    log = pair.folder / f"{name}.log"
    if program == "greedy":
        commands = [
            f"-d 3 -m {GREEDY[name]} -i fixed.nii moving.nii -it affine.mat -n {counts} -s 1.732vox 0.707vox -wp 0 "
            f"-threads {threads} -o warp.nii",
            # The time of the inverse is not the registration's.
            f"-d 3 -iw warp.nii inverse.nii -wp 0 -threads {threads}",
        ]
        names = "warp.nii", "inverse.nii"
    else:
        factors = "x".join(str(2**n) for n in reversed(range(levels)))
        sigmas = "x".join(str(n) for n in reversed(range(levels)))
        metric = ANTS[name].format(fixed="fixed.nii", moving="moving.nii")
        commands = [
            f"-d 3 -v 1 -r affine.txt -m {metric} -t SyN[0.1,3,0] -c [{counts},1e-6,10] -f {factors} -s {sigmas}vox -u 0 --float 1 -o ants_"
        ]
        names = "ants_1Warp.nii.gz", "ants_1InverseWarp.nii.gz"
    environment = {**os.environ, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)}
    with open(log, "w") as out:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), program, *commands],
            cwd=pair.folder, env=environment, stdout=out, stderr=subprocess.STDOUT,
        )
    text = log.read_text(errors="replace")
    if done.returncode:
        raise Skipped(f"failed, exit status {done.returncode}: {' '.join(text.split())[-200:]}")
    # ANTs prints its time without reading and compressing; greedy's time is the whole command's, whose files are not compressed.
    pattern = r"Elapsed time \(stage 0\): (\S+)" if program == "ants" else r"SECONDS (\S+)"
    seconds = re.search(pattern, text)
    if seconds is None:
        raise Skipped(f"told no time, see {log}")
    return Found(*(gr.read_transform(pair.folder / one) for one in names), float(seconds[1]))


def _run_child(program: str, commands: Sequence[str]) -> int:
    if program == "greedy":
        import picsl_greedy

        for command in commands:
            start = time.perf_counter()
            picsl_greedy.Greedy3D().execute(command)
            print(f"SECONDS {time.perf_counter() - start:.4f}", flush=True)
        return 0
    folder = Path(next(iter(importlib.util.find_spec("ants").submodule_search_locations)))
    library = next(folder.glob("lib.*.so"))
    spec = importlib.util.spec_from_file_location("lib", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return max(module.antsRegistration(command.split()) for command in commands)


if __name__ == "__main__":
    sys.exit(_run_child(sys.argv[1], sys.argv[2:]))
