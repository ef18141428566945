"""What Slack is sent: calls of its Web API, their rates, the message of an answer.
Implements bot.ports.Delivery; may import render, never inbound."""
