"""What people ask and the documentation does not answer: grouped by need, pinned to where the answer should stand, asked
again when that place changes. May import bot.model, bot.ports and what is below."""
