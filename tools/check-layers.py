#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that sources include each other, and Python modules import each other, in one direction, as docs/architecture.md draws it. Prints
each include and import that does not, and each exception that no include needs."""
import ast
import graphlib
import re
import sys
from pathlib import Path

PACKAGE = "wrapping/python/gpuregistration"


def close(direct):
    """Returns each subject of a dictionary, in which it stands behind the subjects that it may use, with all that it may use."""
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
# Sources that include other layers, too: for a lock that a fork leaves free, and for metrics of images and levels of pyramids by
# themselves, for which gpureg has no class.
EXCEPTIONS = {f"src/itkGPU{one}.cxx": ["engine"] for one in ("Device", "DeviceUse", "RegistrationFactory")}
EXCEPTIONS.update({"wrapping/python/src/Measure.cpp": ["engine", "kernels"], "wrapping/python/src/Volumes.cpp": ["engine"]})
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]((?:%s)/|itk)([^">]+)' % "|".join(SUBJECTS.keys() - {"itk"}), re.MULTILINE)


def find_wrong_includes(root, users):
    """Yields a line of text for each include in the tree at root that points up, or to a neighbouring subject or layer, and for each
    exception that no include needs. Adds to users which ITK class or header of those includes which."""
    classes = {path.name for path in (root / "include").glob("itk*")}
    unneeded = {(name, other) for name, others in EXCEPTIONS.items() for other in others}
    for pattern, layer, lower, subjects in SOURCES:
        for path in sorted(path for path in root.glob(pattern) if path.is_file()):
            top = root / pattern.partition("*")[0].rpartition("/")[0]
            name, subject = path.relative_to(root).as_posix(), path.parent.relative_to(top).as_posix()
            if subject not in (".", *subjects):
                yield f"{name} is in no subject's folder"
                continue
            for prefix, rest in INCLUDE.findall(path.read_text("utf-8")):
                other, other_subject = prefix.rstrip("/"), Path(rest).parent.as_posix()
                if other == "itk" and prefix + rest not in classes:
                    continue  # a class that is ITK's own
                # A file in a layer's own folder may include all subjects.
                is_beside = subject != "." and SUBJECTS[other] is subjects and other_subject not in [subject, *subjects[subject]]
                is_above = other not in [layer, *lower]
                if is_beside or (is_above and other not in EXCEPTIONS.get(name, [])):
                    yield f"{name} includes {prefix}{rest}"
                elif is_above:
                    unneeded.discard((name, other))
                if other in ("itk", "GPURegistrationDetail"):
                    users.setdefault(path.stem, set()).add(Path(prefix + rest).stem)
    for name, other in sorted(unneeded):
        yield f"{name} includes nothing of {other}, and needs no exception"


def list_imported(node, path, package):
    """Returns a pair of paths without suffix for each name of the package that a statement of its module at path imports: of the module that
    the name is, and of the module that has the name if it is none."""
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
        return [(package.joinpath(*parts),) * 2 for top, *parts in names if top == package.name]
    if not isinstance(node, ast.ImportFrom):
        return []
    parts = node.module.split(".") if node.module else []
    if node.level == 0 and parts[0] != package.name:
        return []
    base = path.parents[node.level - 1].joinpath(*parts) if node.level > 0 else package.joinpath(*parts[1:])
    return [(base / alias.name, base) for alias in node.names]


def find_imports(path, package):
    """Returns the paths of the package's modules that a module imports, in functions and for type-checking, too. The package itself, which
    imports all names when they are used, is none."""
    found = set()
    if path != package / "__init__.py":
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for pair in list_imported(node, path, package):
                files = [file for one in pair for file in (one.with_suffix(".py"), one / "__init__.py")]
                found |= set([file for file in files if file.exists()][:1])
    return found - {path, package / "__init__.py"}


def find_wrong_imports(root, users):
    """Yields a line of text for each import of a folder in the tree at root that points up or to a neighbour. Adds to users which module
    imports which."""
    package = root / PACKAGE
    for path in sorted(package.rglob("*.py")):
        users[path] = find_imports(path, package)
        for other in sorted(users[path]):
            if path.parent != package and other.parent not in (package, path.parent) and other.parent.name not in PYTHON[path.parent.name]:
                yield f"{path.relative_to(root)} imports {other.relative_to(package)}"


def find_circle(users):
    """Yields a line of text if files use each other in a circle."""
    try:
        graphlib.TopologicalSorter({one: used - {one} for one, used in users.items()}).prepare()
    except graphlib.CycleError as error:
        yield "in a circle: " + ", ".join(Path(one).stem for one in reversed(error.args[1]))


def find_wrong(root):
    """Returns a line of text for each include, import and exception in the tree at root that breaks the rules."""
    classes, modules = {}, {}
    includes, imports = find_wrong_includes(root, classes), find_wrong_imports(root, modules)
    return [*includes, *find_circle(classes), *imports, *find_circle(modules)]


if __name__ == "__main__":
    wrong = find_wrong(Path(__file__).resolve().parent.parent)
    print("\n".join(wrong))
    sys.exit(f"{len(wrong)} includes, imports or exceptions are wrong" if wrong else 0)
