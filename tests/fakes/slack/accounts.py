"""Who is who: auth.test, users, bots, groups, and the exchange of an OAuth code for a token."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.state import Installation, Json, State


def auth_test(call: Call) -> Json:
    team = call.state.teams[call.by.team]
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": call.state.users[call.by.bot_user].handle,
        "team_id": team.id,
        "user_id": call.by.bot_user,
        "bot_id": call.by.bot_id,
        "is_enterprise_install": call.by.organisation,
        **({"enterprise_id": team.enterprise} if team.enterprise else {}),
    }


def user_info(call: Call) -> Json:
    """`is_stranger`: of another workspace, and in no channel that the app sees (docs.slack.dev, "User object")."""
    user = call.state.users.get(call["user"])
    if user is None:
        raise Refused("user_not_found")
    seen = any({user.id, call.by.bot_user} <= channel.members for channel in call.state.channels.values())
    return {
        "user": {
            "id": user.id,
            "team_id": user.team,
            "name": user.handle,
            "real_name": user.name,
            "is_bot": bool(user.bot_id),
            "is_admin": user.admin,
            "is_owner": user.admin,
            "is_restricted": bool(user.guest),
            "is_ultra_restricted": user.guest == "single",
            "is_stranger": user.team != call.by.team and not seen,
            "profile": {"real_name": user.name, "display_name": user.name, "team": user.team},
        }
    }


def bot_info(call: Call) -> Json:
    bot = next((user for user in call.state.users.values() if user.bot_id == call["bot"]), None)
    if bot is None:
        raise Refused("bot_not_found")
    return {"bot": {"id": bot.bot_id, "user_id": bot.id, "name": bot.name, "deleted": False}}


def groups(call: Call) -> Json:
    return {"usergroups": [{"id": name, **group} for name, group in call.state.groups.items()]}


def exchange(state: State, app_id: str, code: str) -> Json:
    """oauth.v2.access. From then on the token is good."""
    installation: Installation | None = state.codes.pop(code, None)
    if installation is None:
        return {"ok": False, "error": "invalid_code"}
    installation.revoked = False
    state.installations[installation.team] = installation
    team = state.teams[installation.team]
    return {
        "ok": True,
        "access_token": installation.token,
        "token_type": "bot",
        "scope": ",".join(sorted(installation.scopes)),
        "bot_user_id": installation.bot_user,
        "app_id": app_id,
        "team": None if installation.organisation else {"id": team.id, "name": team.name},
        "enterprise": {"id": team.enterprise, "name": "The organisation"} if team.enterprise else None,
        "is_enterprise_install": installation.organisation,
        "authed_user": {"id": "U0INSTALLER"},
    }


METHODS: Mapping[str, Method] = {
    "auth.test": Method(auth_test),
    "users.info": Method(user_info, ("users:read",)),
    "bots.info": Method(bot_info, ("users:read",)),
    "usergroups.list": Method(groups, ("usergroups:read",)),
}
