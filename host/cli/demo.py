"""`callboard demo`"""

from host.cli.options import JsonOption, ModelOption


def demo(model: ModelOption = None, json: JsonOption = False) -> None:
    """Three short acts on files of this repository, with whatever model there is."""
    from providers.errors import CallboardError

    raise CallboardError("the demo is not part of this version yet")
