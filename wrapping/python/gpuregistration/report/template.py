# SPDX-License-Identifier: Apache-2.0
"""Renders pages of HTML from templates in the folders `page` of this package, of cohort and of template. Everything that a template shows
is escaped."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import PurePath
from typing import Any

from . import wording

_PACKAGES = ("gpuregistration.report", "gpuregistration.cohort", "gpuregistration.template")


def render(name: str, **parts: Any) -> str:
    """Renders a template.

    Args:
        name: the file's name.
        parts: values of the template's names. Text is escaped unless safe() has marked it.

    Raises:
        ImportError: Jinja2 is not installed.
    """
    text: str = _environment().get_template(name).render(**parts)
    return text


def safe(text: str) -> Any:
    """Marks a text as HTML, or as a script, that contains nothing from a user."""
    from markupsafe import Markup

    return Markup(text)


@functools.lru_cache(maxsize=1)
def _environment() -> Any:
    # It takes a tenth of a second, which nobody waits for who writes no page.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_find_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=wording.duration, fixed=wording.fixed, number=wording.number, share=wording.share, count_of=wording.count_of
    )
    environment.globals["own_file"] = lambda name: safe(_read_file(name))
    return environment


def _read_file(name: str) -> str:
    """Reads a file of the pages: a template, a style or a script."""
    found = _find_file(name)
    if found is None:
        raise FileNotFoundError(name)
    return found


def _find_file(name: str) -> Any:
    for package in _PACKAGES:
        file = resources.files(package).joinpath("page", PurePath(name).name)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None
