"""`callboard check`"""

from enum import StrEnum
from typing import Annotated

import typer

from host.cli.options import JsonOption


class DialectName(StrEnum):
    """The values of `providers.model.Dialect`, which is too much to load for a help text."""

    ANTHROPIC = "anthropic"
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Bodies of requests, lists of messages, or cases of ours; as one JSON document or line by"
            " line. `-` is standard input.",
        ),
    ],
    dialect: Annotated[
        list[DialectName] | None,
        typer.Option(
            "--dialect",
            help="Judge by the rules of this wire format; may be given several times. Default: the format"
            " that --model speaks; else the one that the file is in; all three where it could be any.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="Judge by what this model takes, such as claude-opus-5-5 or openai:gpt-5.2. Default: the"
            " model that the file names; where it names none, one that takes system messages in front only"
            " (anthropic) or anywhere (openai).",
        ),
    ] = None,
    force_mcs: Annotated[
        bool, typer.Option("--force-mcs", help="The model takes system messages mid-conversation.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what a provider would refuse in a history, and what repair would do about it.

    Reads what is sent to Anthropic Messages, OpenAI Chat Completions and Responses, and cases of `project`.

    What holds for whole requests (a user first, no assistant last) counts in a body that names its model.

    Ends with 0: nothing would be refused; 1: something would be; 2: the file cannot be read.
    """
    from host.cli.checking import check_file

    raise typer.Exit(
        check_file(
            file, tuple(name.value for name in dialect or ()), model, force_mcs=force_mcs, as_json=json
        )
    )
