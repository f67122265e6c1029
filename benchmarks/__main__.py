"""Runs all measurements, or those that are named: `python -m benchmarks projection store`."""

import gc
import sys
import time

from benchmarks import agents, decoding, log, mailbox, projection, resume, start, storage, store, turn
from benchmarks.machine import machine_lines

# As the entry of a host sets them.
_GC_THRESHOLDS = (50_000, 20, 100)

_TOPICS = {
    "projection": projection.measurements,
    "mailbox": mailbox.measurements,
    "store": store.measurements,
    "log": log.measurements,
    "resume": resume.measurements,
    "storage": storage.measurements,
    "turn": turn.measurements,
    "agents": agents.measurements,
    "decoding": decoding.measurements,
    "start": start.measurements,
}


def main(names: list[str]) -> int:
    """Prints each measurement as soon as it is there; the exit code is 2 for a name that is none."""
    if unknown := set(names) - set(_TOPICS):
        print(f"no such topic: {', '.join(sorted(unknown))}; there are {', '.join(_TOPICS)}", file=sys.stderr)
        return 2
    gc.set_threshold(*_GC_THRESHOLDS)
    print("\n".join(machine_lines()))
    began = time.perf_counter()
    for name in names or _TOPICS:
        print(f"\n== {name}", flush=True)
        for measurement in _TOPICS[name]():
            print("\n".join(measurement.lines()), flush=True)
    print(f"\nmeasured in {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
