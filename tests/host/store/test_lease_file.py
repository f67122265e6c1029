"""The lock behind a lease, taken and given up by many at once."""

import threading
import time
from pathlib import Path

import pytest

from host.errors import SessionBusy
from host.store.holder import Holder
from host.store.lease_file import take_lease_file

HOLDER = Holder("session", 7, 1.0)


def test_never_two_hold_one_session(tmp_path: Path) -> None:
    """Releasing takes the file away while others have it open; they must notice."""
    n_inside, n_taken, violations = 0, 0, 0
    start = threading.Barrier(4)

    def contend() -> None:
        nonlocal n_inside, n_taken, violations
        start.wait()
        for _ in range(1000):
            try:
                lease_file = take_lease_file(tmp_path / "leases", HOLDER)
            except SessionBusy:
                continue
            n_inside += 1
            time.sleep(0)  # lets the others in, if the lock does
            violations += n_inside > 1
            n_taken += 1
            n_inside -= 1
            lease_file.release()

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert violations == 0
    assert n_taken > 0
    assert list((tmp_path / "leases").iterdir()) == []


def test_a_lock_on_a_file_that_was_taken_away_is_not_the_lease(tmp_path: Path) -> None:
    first = take_lease_file(tmp_path / "leases", HOLDER)
    first.path.unlink()
    second = take_lease_file(tmp_path / "leases", HOLDER)
    first.release()
    with pytest.raises(SessionBusy):
        take_lease_file(tmp_path / "leases", HOLDER)
    second.release()
    take_lease_file(tmp_path / "leases", HOLDER).release()


def test_sessions_with_any_name_have_locks_of_their_own(tmp_path: Path) -> None:
    names = ["a", "A", "../a", "a/b", "", "x" * 5000, "é", "a\0"]
    held = [take_lease_file(tmp_path / "leases", Holder(name, 7, 1.0)) for name in names]
    assert {lease_file.path.parent for lease_file in held} == {tmp_path / "leases"}
    assert len({lease_file.path for lease_file in held}) == len(held)
    for lease_file in held:
        lease_file.release()
