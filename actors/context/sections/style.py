"""The output style that is set."""

from actors.context.quoting import one_line
from actors.context.section import CacheHint, Section, goes_by_trust
from actors.context.values import ContextValues


def output_style(values: ContextValues) -> Section | None:
    """Name and text of the style; one from a project file is sent in user role."""
    style = values.output_style
    if style is None:
        return None
    return Section(
        "output_style",
        f"Output style: {one_line(style.name, 100)}",
        style.text.strip(),
        goes_by_trust(style.origin),
        CacheHint.DYNAMIC,
        style.origin,
    )
