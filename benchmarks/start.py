"""CPU of imports and of the command, each in a process of its own, beside Python that does nothing."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Contender, Contest, Measurement

_AIM_S = 0.5
_HELP = "import sys; sys.argv[:] = ['callboard', '--help']; from host.cli.main import main; main()"


def measurements() -> Iterator[Measurement]:
    yield Contest(
        "a process that starts and ends, CPU",
        (
            Contender("python -c pass", partial(_ran, "pass")),
            Contender("import anyio, httpx, pydantic", partial(_ran, "import anyio, httpx, pydantic")),
            Contender("import host", partial(_ran, "import host"), aim_s=_AIM_S),
            Contender(
                "from host import open_host", partial(_ran, "from host import open_host"), aim_s=_AIM_S
            ),
            Contender("callboard --help", partial(_ran, _HELP), aim_s=_AIM_S),
        ),
    )


def _ran(code: str) -> float:
    before = _children_s()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
