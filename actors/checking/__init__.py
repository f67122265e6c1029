"""Histories of others and our own: what a provider would refuse in them, and what repair would do."""

from actors.checking.histories import Found, History, histories_of
from actors.checking.judge import judge
from actors.checking.model import Complaint, Place, Question, RepairLine, Report

__all__ = [
    "Complaint",
    "Found",
    "History",
    "Place",
    "Question",
    "RepairLine",
    "Report",
    "histories_of",
    "judge",
]
