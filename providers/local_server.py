"""The child process that serves the local model; run by file, never imported by the host.

It reads one line of JSON from its standard input (`weights`, `name`, `key`), answers
with one line on its standard output (`url`), and ends when its standard input
closes: so it never outlives its parent, however that one dies. Everything
else that it has to say goes to its standard error.
"""

import json
import os
import sys
import threading
from typing import BinaryIO


def _end_with_parent(parent: BinaryIO) -> None:
    while parent.read(4096):
        pass
    # at once: the server's threads are in the middle of computing and own nothing that must be saved
    os._exit(0)


def _take_stdout() -> BinaryIO:
    """Standard output for ourselves; whatever else prints there goes to standard error."""
    ours = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return ours


def main() -> None:
    answers = _take_stdout()
    parent = os.fdopen(os.dup(0), "rb", buffering=0)
    order = json.loads(_read_line(parent))
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    server = _serve(order["weights"], order["name"], order["key"])
    answers.write(json.dumps({"url": server.listening_address}).encode() + b"\n")
    answers.close()
    threading.Event().wait()


def _read_line(stream: BinaryIO) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = stream.read(1)
        if not byte:
            sys.exit("the parent closed the input before it said what to serve")
        line += byte
    return line


def _serve(weights: str, name: str, key: str):  # type: ignore[no-untyped-def]  # xllamacpp has no types
    from xllamacpp import CommonParams, Server  # type: ignore[import-untyped]  # it has no types

    params = CommonParams()
    params.model.path = weights
    params.model_alias = {name}
    params.n_ctx = 8192
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.use_jinja = True
    params.api_keys = [key]
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_batch = 128
    params.n_ubatch = 128
    params.cache_ram_mib = 512
    params.ui = False
    return Server(params)


if __name__ == "__main__":
    main()
