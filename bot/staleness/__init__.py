"""Answers whose sections changed since: judged, and told in their threads.
May import bot.model, bot.ports and what is below; Slack is behind bot.ports.Delivery."""
