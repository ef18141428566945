"""[gaps]: who owns which part of the documentation, when they hear of its gaps, how often questions are asked again."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from deploy.settings.site import Regex, SettingsTable, Text

Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "never"]


class OwnerSettings(SettingsTable):
    """One [[gaps.owners]] table; the first whose pattern fits owns a gap."""

    pattern: Regex = Field(description="Found in the section's address, or in its path (Guide › Keys › Key expiry).")
    name: Text = Field(description="Who it is, as lists show it.")
    channel: str = Field(default="", description="Their Slack channel (C…), for the weekly digest.")
    team: str = Field(default="", description="The workspace (T…) of that channel, where several installed the app.")


class GapsSettings(SettingsTable):
    owners: Annotated[tuple[OwnerSettings, ...], "a list of tables, each under its own [[gaps.owners]]"] = Field(
        default=(),
        description="Who owns which part of the documentation: pattern (a regular expression found in a section's address or "
        "path), name, channel (C…, for the digest), team (T…, where several workspaces installed the app). The first that fits "
        "counts.",
    )
    digest: Day = Field(
        default="monday", description="When owners hear of their gaps: from 9:00 on that day, in stale.time_zone."
    )
    ask_again_per_day: int = Field(
        default=20,
        ge=0,
        description="Questions of gaps that are asked again in a day (UTC) because their sections changed; 0: none.",
    )

    @property
    def weekday(self) -> int | None:
        """0 is Monday; None: never."""
        return None if self.digest == "never" else get_args(Day).index(self.digest)
