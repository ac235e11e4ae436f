#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that sources include each other, and Python modules import each other, in one direction, as docs/architecture.md draws it. Prints
each include and import that does not."""
import ast
import graphlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wrapping/python/gpuregistration"


def close(direct):
    """Returns each subject of a dictionary, in which it stands behind the subjects that it may use, with all that it may use besides itself."""
    subjects = {}
    for subject, lower in direct.items():
        subjects[subject] = {below for name in lower for below in [name, *subjects[name]]}
    return subjects


# Each subject of the engine and of the devices, with the subjects that it may include.
METRICS = ["metric/histogram", "metric/pairs", "metric/neighborhood"]
ENGINE = {"core": [], "runtime": ["core"], "image": ["runtime"], "transform": ["image"], "filter": ["transform"], "resample": ["filter"]}
ENGINE.update({"field": ["filter"], "penalty": ["transform"], "metric/samples": ["filter"], "metric": ["metric/samples"]})
ENGINE.update({one: ["metric"] for one in METRICS}, registration=["resample", "field", "penalty", *METRICS])
ENGINE.update({f"registration/{one}": ["registration"] for one in ("free_form", "global", "diffeomorphic")})
# Likewise, the subjects of the headers that only the ITK classes include.
DETAIL = {"core": [], "transform": ["core"], "filter": ["core"], "metric": ["transform", "filter"], "registration": ["metric"]}
# The Python package's folders. The modules beside them belong to no folder: for them, the rule is that no imports go in a circle.
PYTHON = {"report": [], "stages": [], "cohort": ["report", "stages"], "template": ["cohort"], "ome_zarr": ["cohort"]}
PYTHON.update(command=["template", "ome_zarr"], ants=["command"])
ENGINE, DETAIL, PYTHON = close(ENGINE), close(DETAIL), close(PYTHON)

# Sources, their layer, the layers that they may include besides it, and its subjects. "itk" are the ITK classes.
SOURCES = [
    ("src/kernels/**/*", "kernels", [], ENGINE),
    ("include/gpureg/**/*", "gpureg", [], ENGINE),
    ("src/engine/**/*", "engine", ["kernels", "gpureg"], ENGINE),
    *((f"{folder}/**/*", Path(folder).name, ["kernels", "gpureg", "engine"], ENGINE) for folder in ("src/host", "cuda", "opencl")),
    ("include/GPURegistrationDetail/**/*", "GPURegistrationDetail", ["gpureg", "itk"], DETAIL),
    ("include/itk*", "itk", ["gpureg", "GPURegistrationDetail"], {}),
    ("src/itk*", "itk", ["gpureg", "GPURegistrationDetail", "factories"], {}),
    ("src/factories/*", "factories", ["gpureg", "GPURegistrationDetail", "itk"], {}),
    ("src/plugin/*", "plugin", ["itk"], {}),
    ("wrapping/python/src/*", "python", ["gpureg"], {}),
]
SUBJECTS = {layer: subjects for _, layer, _, subjects in SOURCES}
# Sources that include other layers, too: for a lock that a fork leaves free, and for metrics of images and levels of pyramids by themselves,
# for which gpureg has no class.
EXCEPTIONS = {f"src/itkGPU{one}.cxx": ["engine"] for one in ("Device", "DeviceUse", "RegistrationFactory")}
EXCEPTIONS.update({f"wrapping/python/src/{one}.cpp": ["engine", "kernels"] for one in ("Measure", "Volumes")})
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]((?:%s)/|itk)([^">]+)' % "|".join(SUBJECTS.keys() - {"itk"}), re.MULTILINE)


def find_wrong_includes(users):
    """Yields a line of text for each include that points up, or to a neighbouring subject or layer. Adds to users which ITK class or header of
    those includes which."""
    classes = {path.name for path in (ROOT / "include").glob("itk*")}
    for pattern, layer, lower, subjects in SOURCES:
        for path in sorted(path for path in ROOT.glob(pattern) if path.is_file()):
            top = ROOT / pattern.partition("*")[0].rpartition("/")[0]
            name, subject = path.relative_to(ROOT).as_posix(), path.parent.relative_to(top).as_posix()
            if subject not in (".", *subjects):
                yield f"{name} is in no subject's folder"
                continue
            for prefix, rest in INCLUDE.findall(path.read_text("utf-8")):
                its, its_room = prefix.rstrip("/"), Path(rest).parent.as_posix()
                if its == "itk" and prefix + rest not in classes:
                    continue  # a class that is ITK's own
                # A file in a layer's own folder may include all subjects.
                is_beside = subject != "." and SUBJECTS[its] is subjects and its_room not in [subject, *subjects[subject]]
                if is_beside or its not in [layer, *lower, *EXCEPTIONS.get(name, [])]:
                    yield f"{name} includes {prefix}{rest}"
                if its in ("itk", "GPURegistrationDetail"):
                    users.setdefault(path.stem, set()).add(Path(prefix + rest).stem)


def find_imports(path):
    """Returns the paths of the package's modules that a module imports, in functions and for type-checking, too. The package itself, which
    imports all names when they are used, is none."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > 0 and path != PACKAGE / "__init__.py":
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for one in [base / alias.name for alias in node.names]:
                files = (one.with_suffix(".py"), one / "__init__.py", base.with_suffix(".py"), base / "__init__.py")
                found |= set([file for file in files if file.exists()][:1])
    return found - {path, PACKAGE / "__init__.py"}


def find_wrong_imports(users):
    """Yields a line of text for each import of a folder that points up or to a neighbour. Adds to users which module imports which."""
    for path in sorted(PACKAGE.rglob("*.py")):
        users[path] = find_imports(path)
        for other in sorted(users[path]):
            if path.parent != PACKAGE and other.parent not in (PACKAGE, path.parent) and other.parent.name not in PYTHON[path.parent.name]:
                yield f"{path.relative_to(ROOT)} imports {other.relative_to(PACKAGE)}"


def find_circle(users):
    """Yields a line of text if files use each other in a circle."""
    try:
        graphlib.TopologicalSorter({one: used - {one} for one, used in users.items()}).prepare()
    except graphlib.CycleError as error:
        yield "in a circle: " + ", ".join(Path(one).stem for one in reversed(error.args[1]))


if __name__ == "__main__":
    classes, modules = {}, {}
    wrong = [*find_wrong_includes(classes), *find_circle(classes), *find_wrong_imports(modules), *find_circle(modules)]
    print("\n".join(wrong))
    sys.exit(f"{len(wrong)} includes or imports point the wrong way" if wrong else 0)
