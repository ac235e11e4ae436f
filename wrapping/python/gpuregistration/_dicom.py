# SPDX-License-Identifier: Apache-2.0
"""Folders of DICOM's slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._engine import BadInputError
from ._simpleitk import import_simpleitk


def read_dicom_folder(folder: Path) -> Any:
    """The one series in a folder, as SimpleITK's image; its slices in the order of their places.

    Raises:
        BadInputError: there is no series, there are several, or a slice cannot be read.
    """
    sitk = import_simpleitk()
    series = sitk.ImageSeriesReader.GetGDCMSeriesIDs(str(folder))
    if not series:
        raise BadInputError(f"The folder {folder} holds no series of DICOM. Name an image's file, or a folder of a series's slices.")
    if len(series) > 1:
        raise BadInputError(
            f"The folder {folder} holds {len(series)} series of DICOM: {', '.join(series)}. Give each a folder of its own, and name one."
        )
    return sitk.ReadImage(sitk.ImageSeriesReader.GetGDCMSeriesFileNames(str(folder), series[0]), imageIO="GDCMImageIO")
