"""`ritbot slack init`: how to set the app up in Slack, and whether what has been set so far is right."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from deploy.commands.findings import show
from deploy.commands.slack_check import slack_findings
from deploy.settings.root import Settings
from deploy.settings.slack import CALLED

MANIFEST = Path(__file__).resolve().parents[2] / "slack" / "manifest.yaml"

CREATE = "Open https://api.slack.com/apps, press Create New App, then From a manifest, and choose your workspace."
PASTE = f"Paste what {MANIFEST if MANIFEST.is_file() else 'deploy/slack/manifest.yaml'} holds, and press Create."
TOKEN = (
    "Press Install App, Install to Workspace, and agree.",
    "Under OAuth & Permissions copy the Bot User OAuth Token (xoxb-…) to RITBOT_SLACK__BOT_TOKEN.",
)
SOCKET = (
    "Under Basic Information, App-Level Tokens, press Generate Token and Scopes, add connections:write, and copy the token "
    "(xapp-…) to RITBOT_SLACK__APP_TOKEN."
)
HTTP = (
    "In what you paste, take away each “#http ”, put your own address, and set socket_mode_enabled to false. At that "
    f"address {CALLED} must reach ritbot."
)
SECRET = "Under Basic Information copy the Signing Secret to RITBOT_SLACK__SIGNING_SECRET."
SEVERAL = (
    "Under Basic Information copy the Client ID to slack.client_id and the Client Secret to RITBOT_SLACK__CLIENT_SECRET.",
    "Make a key for tokens: openssl rand -base64 32 | tr '+/' '-_', and set it as RITBOT_BOT__KEYS.",
)
LAST = (
    "Run ritbot slack init again: it says whether all is well. Then run ritbot serve, and write @ritbot in a channel."
)


def steps(settings: Settings) -> list[str]:
    """What is to be done, in order."""
    if settings.slack.mode == "socket":
        return [CREATE, PASTE, *TOKEN, SOCKET, LAST]
    several = settings.slack.client_id is not None
    return [CREATE, PASTE, HTTP, SECRET, *(SEVERAL if several else TOKEN), LAST]


async def init(settings: Settings, console: Console) -> int:
    """Print the steps, then try what is set; 0 if there is no fault."""
    console.print(Text("Set ritbot up in Slack", style="bold"))
    for number, step in enumerate(steps(settings), 1):
        console.print(Text(f"{number:>3}. {step}"), soft_wrap=True)
    console.print()
    if not settings.slack.wanted:
        console.print("Nothing of it is set yet.")
        return 0
    return 1 if await show(slack_findings(settings), console) else 0
