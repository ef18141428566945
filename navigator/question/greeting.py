"""Questions that need no reading: nothing asked, or only a greeting. Pure."""

from __future__ import annotations

import re

_GREETINGS = frozenset(
    """hello hi hey hiya howdy yo greetings hallo hei hej moin servus salut bonjour bonsoir hola buenas ciao salve ola olá
    oi привет здравствуйте здравствуй こんにちは 你好 您好 안녕하세요 안녕 สวัสดี नमस्ते مرحبا سلام שלום merhaba selam ahoj cześć
    thanks thank thx danke merci gracias grazie obrigado спасибо ありがとう 谢谢 감사합니다 cheers bye goodbye tschüss""".split()
)
_FILLERS = frozenset(
    """good morning afternoon evening day night guten morgen tag abend buenos dias días tardes noches there all everyone
    team bot ritbot you so much very nice to meet how are doing today again dear friend folks vielen dank buen día""".split()
)
_OPENERS = frozenset({"good", "guten", "buenos", "buen", "vielen"})


def needs_no_reading(question: str) -> bool:
    """True for an empty question, punctuation only, or a greeting with nothing after it."""
    words = re.findall(r"[^\W_]+", question.casefold())
    if not words:
        return True
    greets = words[0] in _GREETINGS or (words[0] in _OPENERS and len(words) > 1)
    return greets and all(word in _GREETINGS or word in _FILLERS for word in words)
