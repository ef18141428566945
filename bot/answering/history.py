"""What is remembered of a conversation: our own log of it, or, when first called into a thread, what people said there."""

from __future__ import annotations

from bot.model import Exchange, Question, cited_nodes
from bot.ports import BotStore, Delivery
from navigator.question.rewrite import Earlier


async def remembered(store: BotStore, delivery: Delivery, question: Question) -> tuple[Earlier, ...]:
    """What came before the question, oldest first. Raises StoreUnavailable."""
    if question.kind == "command":
        return ()
    log = [exchange for exchange in await store.conversation(question.conversation) if _is_before(exchange, question)]
    if log:
        return tuple(_earlier(exchange) for exchange in log)
    if question.thread in ("", question.ts):
        return ()
    said = await delivery.thread_before(question)
    return (Earlier(said[0], "\n\n".join(said[1:])),) if said else ()


def _is_before(exchange: Exchange, question: Question) -> bool:
    """Whether people were answered, and it is not the question itself nor an earlier attempt at it."""
    asked = exchange.question
    answered = exchange.answer is not None and exchange.answer.outcome in ("answered", "not_found")
    return answered and exchange.state != "failed" and asked.ts != question.ts and asked.asked_at <= question.asked_at


def _earlier(exchange: Exchange) -> Earlier:
    answer = exchange.answer
    return Earlier(exchange.asked, answer.text if answer else "", cited_nodes([exchange]))
