"""Commands of a person at a terminal: ask, look at a page, look at what was asked.

Questions come in; answers and trees go out as bot.terminal draws them."""
