"""The demonstration: three short acts on the pages of this repository, which check what they claim."""

from host.demo.events import DemoEnded, DemoEvent, demo_event_to_json
from host.demo.pages import demo_root
from host.demo.play import play_demo, run_demo
from host.demo.view import TreeView

__all__ = [
    "DemoEnded",
    "DemoEvent",
    "TreeView",
    "demo_event_to_json",
    "demo_root",
    "play_demo",
    "run_demo",
]
