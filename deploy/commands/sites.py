"""`ritbot sites`: what is indexed of each site, and how fresh it is."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.terminal import ago
from deploy.compose import open_trees
from deploy.known_sites import known_sites
from deploy.settings import Settings
from ingest.ports import PageState


async def list_sites(settings: Settings, console: Console) -> int:
    """A row a site; 1 where there is none."""
    known = known_sites(settings, settings.index.folder)
    if not known.sites:
        console.print("There is no site yet. Name one: ritbot index FOLDER or URL.")
        return 1
    states: defaultdict[str, list[PageState]] = defaultdict(list)
    if settings.index.folder.exists():
        async with open_trees(settings) as trees:
            async for state in trees.scan():
                states[state.site].append(state)
    table = Table("site", "start", "pages", "sections", "left out", "checked")
    for name, site in sorted(known.sites.items()):
        live = [state for state in states[name] if state.state == "live"]
        checked = ago(min(state.checked_at for state in live), datetime.now(UTC)) if live else "never"
        numbers = (str(len(live)), str(sum(s.nodes for s in live)), str(len(states[name]) - len(live)))
        table.add_row(Text(name), Text(site.start), *numbers, checked)
    console.print(table)
    return 0
