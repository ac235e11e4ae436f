# SPDX-License-Identifier: Apache-2.0
"""The error that ends a template."""

from .._engine import Error


class TemplateError(Error):
    """A part of the work has failed, without which there is no template."""
