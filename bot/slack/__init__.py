"""Slack: what comes in (inbound), how it looks (render), what goes out (outbound), where it is installed.
slack_bolt and slack_sdk enter here and nowhere else; render is pure."""
