"""[gaps]: who owns which part of the documentation, how often questions are asked again."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from deploy.settings.site import Regex, SettingsTable, Text


class OwnerSettings(SettingsTable):
    """One [[gaps.owners]] table; the first whose pattern fits owns a gap."""

    pattern: Regex = Field(description="Found in the section's address, or in its path (Guide › Keys › Key expiry).")
    name: Text = Field(description="Who it is, as lists show it.")


class GapsSettings(SettingsTable):
    owners: Annotated[tuple[OwnerSettings, ...], "a list of tables, each under its own [[gaps.owners]]"] = Field(
        default=(),
        description="Who owns which part of the documentation: pattern (a regular expression found in a section's address or "
        "path) and name. The first that fits counts.",
    )
    ask_again_per_day: int = Field(
        default=20,
        ge=0,
        description="Questions of gaps that are asked again in a day (UTC) because their sections changed; 0: none.",
    )
