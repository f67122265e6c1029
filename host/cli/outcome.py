"""The exit code of a turn."""

from actors.events import TurnFinished
from actors.records import TurnStop
from host.cli.boundary import ExitCode

# The error of a turn begins with its name. At these a person has to set something right before it helps to
# ask again.
TO_SET_RIGHT = frozenset(
    {
        "AccessDenied",
        "AuthenticationFailed",
        "CatalogError",
        "ConnectionFailed",
        "LocalModelMissing",
        "ModelNotFound",
        "NoModel",
        "ProtocolMismatch",
        "ProviderUnusable",
    }
)


def exit_code_of_turn(turn: TurnFinished) -> ExitCode:
    """0 done, 130 cancelled, 2 where the provider cannot be used as it is set up, else 1."""
    if turn.stop is TurnStop.DONE:
        return ExitCode.DONE
    if turn.stop is TurnStop.CANCELLED:
        return ExitCode.INTERRUPTED
    name = (turn.error or "").partition(":")[0]
    return ExitCode.UNUSABLE if name in TO_SET_RIGHT else ExitCode.FAILED
