"""What Slack sends: events, commands, buttons, modals, installations, over a socket or HTTP.
Reads payloads and takes questions in; answers are given by outbound. Only deploy imports it."""
