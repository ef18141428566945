"""`ritbot watch` at a pace that a test can wait for: python -m tests.chaos.quick_watch CONFIG"""

from __future__ import annotations

import sys
from pathlib import Path

from deploy.commands.command_line import console, named_sites, run, settings_of
from deploy.commands.roles.watch import watch
from ingest.watch.schedule import Pace

PACE = Pace(first=1, soonest=1, slowest=1, full=1, misses=2, missing_for=0.5, listing_share=1.0)

if __name__ == "__main__":
    settings = settings_of(Path(sys.argv[1]), server=True)
    run(watch(settings, named_sites(settings, None), console, PACE))
