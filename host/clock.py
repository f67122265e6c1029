"""The time of the machine."""

import time
from datetime import datetime


class SystemClock:
    """Seconds since the epoch, and the local date."""

    def now_s(self) -> float:
        return time.time()

    def local_date(self) -> str:
        return datetime.now().astimezone().date().isoformat()
