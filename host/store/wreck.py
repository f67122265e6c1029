"""A store's file as far as it can still be read: row by row, by key, whatever is broken around it.

Nothing is written into the file, and nothing that SQLite says about one row
keeps the others from being read.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = str | bytes | int | float | None
Row: TypeAlias = dict[str, Value]

_MAX_PROBES = 20_000
"""How many places of one log or table are asked for one by one; a count that is damaged may claim more."""


@dataclass(slots=True)
class Wreck:
    """The tables of an open file. `has_lost_first_page`: that of a new store was put in its place."""

    connection: sqlite3.Connection
    has_lost_first_page: bool = False
    _columns: dict[str, str] = field(default_factory=dict)

    @property
    def version(self) -> int | None:
        """The version of the store's tables; None where it cannot be read."""
        rows, _ = self._rows("SELECT value FROM meta WHERE key = 'schema_version'")
        value = rows[0]["value"] if rows else None
        return int(value) if isinstance(value, str) and value.isdecimal() else None

    @property
    def has_hashes(self) -> bool:
        """Whether records carry hashes, which those of version 1 do not."""
        if "hash" not in self._columns_of("records"):
            return False
        if not self.has_lost_first_page:
            return True
        ends = (
            self._rows(f"SELECT hash FROM records ORDER BY agent_id {o} LIMIT 1") for o in ("ASC", "DESC")
        )
        return any(row["hash"] is not None for rows, _ in ends for row in rows)

    def complaints(self, limit: int = 100) -> tuple[str, ...]:
        """What SQLite's own check says; empty where it finds nothing."""
        rows, error = self._rows(f"PRAGMA integrity_check({limit})")
        lines = [line for row in rows for line in str(row["integrity_check"]).splitlines()]
        said = [" ".join(line.split()) for line in lines if line != "ok" and not line.startswith("*** in")]
        return tuple(dict.fromkeys([*said, error] if error else said))

    def meta(self) -> dict[str, str]:
        rows, _ = self._rows("SELECT key, value FROM meta")
        return {str(row["key"]): str(row["value"]) for row in rows}

    def epochs(self) -> dict[str, int]:
        """The highest epoch of each session's lease."""
        rows = self._both_ways("SELECT root_id, epoch FROM leases ORDER BY root_id")
        return {
            row["root_id"]: row["epoch"]
            for row in rows
            if isinstance(row["root_id"], str) and isinstance(row["epoch"], int)
        }

    # Agents

    def agent_rows(self) -> tuple[Row, ...]:
        """The rows of the listing in their order, each as it is."""
        rows = self._by_rowid("agents", "position")
        places = {row["position"] for row in rows}
        found, _ = self._rows("SELECT agent_id FROM agents ORDER BY agent_id")
        for name in found:  # through the index, where the way through the table is cut off
            more, _ = self._rows("SELECT * FROM agents WHERE agent_id = ?", name["agent_id"])
            rows.extend(row for row in more if row["position"] not in places)
        return tuple(sorted(rows, key=lambda row: row["position"] if isinstance(row["position"], int) else 0))

    def ids_in_index(self) -> set[str]:
        """The agents' ids as the index of the listing has them."""
        return _texts(self._both_ways("SELECT agent_id FROM agents ORDER BY agent_id"), "agent_id")

    def ids_of_records(self) -> set[str]:
        """The agents that have records, as far as they can be reached."""
        found: set[str] = set()
        for order, beyond in (("ASC", ">"), ("DESC", "<")):
            rows, _ = self._rows(f"SELECT agent_id FROM records ORDER BY agent_id {order} LIMIT 1")
            while rows and isinstance(last := rows[0]["agent_id"], str):
                if last in found and order == "ASC":
                    break  # a broken order would lead round in circles
                is_known = last in found
                found.add(last)
                if is_known and order == "DESC":
                    break
                rows, _ = self._rows(
                    f"SELECT agent_id FROM records WHERE agent_id {beyond} ?"
                    f" ORDER BY agent_id {order} LIMIT 1",
                    last,
                )
        return found

    # Records

    def records(self, agent_id: str, n_claimed: int | None) -> tuple[list[Row], dict[int, str]]:
        """The rows of one log, and where SQLite failed at a place: what it said.

        `n_claimed` is how many there should be, None where that is not known.
        Two different rows may have one place. Where a page is taken for another,
        SQLite gives rows of other agents as well; these are left out.
        """
        ask = f"SELECT {self._columns_of('records')} FROM records WHERE agent_id = ?"
        rows, error = self._rows(f"{ask} ORDER BY seq", agent_id)
        is_whole = len(rows) == n_claimed and all(
            (row["seq"], row.get("agent_id", agent_id)) == (seq, agent_id) for seq, row in enumerate(rows)
        )
        if is_whole and not error:
            return rows, {}
        rows = [row for row in rows if row.get("agent_id", agent_id) == agent_id]
        # From the other end: a row whose key is broken ends the way without an error.
        behind, error = self._rows(f"{ask} ORDER BY seq DESC", agent_id)
        rows = _merged(rows, behind)
        seen = {row["seq"] for row in rows if isinstance(row["seq"], int)}
        end = max(seen, default=-1) + 1
        if n_claimed is not None:
            end = max(end, n_claimed)
        elif error and not behind:
            end += _MAX_PROBES
        failures: dict[int, str] = {}
        for seq in range(min(end, len(seen) + _MAX_PROBES)):
            if seq not in seen:
                one, error = self._rows(f"{ask} AND seq = ?", agent_id, seq)
                rows.extend(one)
                if error:
                    failures[seq] = error
        return [row for row in rows if row.get("agent_id", agent_id) == agent_id], failures

    # Artifacts

    def artifacts(self) -> Iterator[tuple[str, bytes | str]]:
        """The id of each artifact with its bytes, or with what SQLite says instead of them."""
        places = self._both_ways("SELECT rowid AS place, artifact_id FROM artifacts ORDER BY artifact_id")
        names = {row["place"]: row["artifact_id"] for row in places}
        for row in self._by_rowid("artifacts", "rowid", "rowid AS rowid, artifact_id"):
            names.setdefault(row["rowid"], row["artifact_id"])
        for place, name in names.items():
            rows, error = self._rows("SELECT artifact_id, data FROM artifacts WHERE rowid = ?", place)
            data = rows[0]["data"] if rows else None
            if isinstance(data, bytes):
                yield str(rows[0]["artifact_id"]), data
            else:
                yield str(name), error or "it is not where the index has it"

    # Reading

    def _columns_of(self, table: str) -> str:
        if table not in self._columns:
            rows, _ = self._rows(f"PRAGMA table_info({table})")
            self._columns[table] = ", ".join(str(row["name"]) for row in rows) or "*"
        return self._columns[table]

    def _by_rowid(self, table: str, key: str, columns: str = "*") -> list[Row]:
        """The rows of a table from both ends, and what lies between one by one."""
        ask = f"SELECT {columns} FROM {table}"
        rows, error = self._rows(f"{ask} ORDER BY {key}")
        if not error:
            return rows
        behind, _ = self._rows(f"{ask} ORDER BY {key} DESC")
        rows = _merged(rows, behind)
        seen = {row[key] for row in rows}
        end = max((place for place in seen if isinstance(place, int)), default=0)
        for place in range(1, min(end if behind else end + _MAX_PROBES, len(seen) + _MAX_PROBES)):
            if place not in seen:
                rows.extend(self._rows(f"{ask} WHERE {key} = ?", place)[0])
        return rows

    def _both_ways(self, ask: str) -> list[Row]:
        rows, error = self._rows(ask)
        return _merged(rows, self._rows(f"{ask} DESC")[0]) if error else rows

    def _rows(self, ask: str, *values: Value) -> tuple[list[Row], str]:
        """The rows up to the first that SQLite cannot read, and what it says of that one."""
        rows: list[Row] = []
        try:
            cursor = self.connection.execute(ask, values)
            names = [column[0] for column in cursor.description or ()]
            # What came before an error stays in the list.
            rows.extend(_Columns(zip(names, row, strict=True)) for row in cursor)
        except (sqlite3.Error, OverflowError, MemoryError, UnicodeError) as error:
            return rows, str(error) or type(error).__name__
        return rows, ""


class _Columns(dict[str, Value]):
    """A row by its columns; one that a broken definition has lost is empty."""

    def __missing__(self, column: str) -> Value:
        return None


def _merged(rows: list[Row], more: list[Row]) -> list[Row]:
    """Both, each row once."""
    return list({tuple(row.items()): row for row in (*rows, *more)}.values())


def _texts(rows: Sequence[Row], column: str) -> set[str]:
    return {text for row in rows if isinstance(text := row[column], str)}
