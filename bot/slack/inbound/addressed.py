"""Whether words ask something, or only say thanks: for messages that nobody addressed to ritbot by name. Pure.

In a thread people talk to each other too. What is not plainly a question is theirs: silence costs less than a reply that
nobody wanted, and a mention always helps.
"""

from __future__ import annotations

import re
import unicodedata

MAX_OFFER_CHARACTERS = 60
"""Of an answer's end, in which its question ends: marks and emphasis may stand behind it."""
_NOISE = re.compile(r"<[^<>]*+>|https?://[^\s<>]++|:[a-z0-9_+-]++:|^>[^\n]*+", re.MULTILINE)
"""Links, mentions, emoji, quoted lines."""
_WORD = re.compile(r"[^\W_]++(?:['’][^\W_]++)*+")
_QUESTION_MARK = re.compile(r"[?？؟]|か[。]?$")
_LEADING = frozenset(
    "and but so ok okay then also now hi hey hello well great cool thanks thank you please ah oh und aber et y".split()
)
_WH = frozenset("how what why where when which who whose".split())
_STATED = frozenset({("when", "i"), ("when", "we"), ("what", "a"), ("which", "is"), ("who", "knows")})
"""How statements begin with the word of a question."""
_AUXILIARIES = frozenset("can could does do did is are was were should would will has have am may must".split())
_SUBJECTS = frozenset("i you we it this that the there they he she one my our a an any anyone someone these".split())
_OTHER_WH = frozenset(
    "wie was warum wieso wo wann welche welcher welches wer kann comment pourquoi quel quelle où cómo qué dónde cuál".split()
)
_ASKED_FOR = frozenset("tell show explain describe compare summarize summarise list".split())
_THANKS = frozenset(
    "thanks thank you thx ty cheers tysm much very so a lot many great perfect awesome nice cool super good excellent"
    " that that's it worked works did helped helps the trick answer one job ritbot lol haha ok okay yes yep got makes"
    " sense danke schön vielen dank merci beaucoup gracias muchas grazie arigato ありがとう ありがとうございます 谢谢".split()
)


_AGREED = frozenset(
    "yes yep yeah yup sure please ok okay do so go ahead exactly right of course ja bitte gerne oui volontiers sí si claro"
    " はい 是".split()
)
_END_OF_OFFER = re.compile(r"[?？؟][\s\])*_]*+(?:\[\d++\]\s*+)*+$")


def agrees(text: str) -> bool:
    """Whether it says yes, and nothing else."""
    words = _words(_NOISE.sub(" ", text))
    return bool(words) and _AGREED.issuperset(words)


def offers(answer: str) -> bool:
    """Whether an answer ends with a question of its own."""
    return _END_OF_OFFER.search(answer[-MAX_OFFER_CHARACTERS:]) is not None


def asks(text: str) -> bool:
    """Whether it is plainly a question, or a request for words."""
    bare = _NOISE.sub(" ", text)
    if _QUESTION_MARK.search(bare.strip()):
        return True
    words = _words(bare)
    while words and words[0] in _LEADING:
        del words[0]
    if len(words) < 2:
        return False
    first, second = words[0], words[1]
    if first in _WH:
        return len(words) > 2 and (first, second) not in _STATED
    if first in _AUXILIARIES:
        return len(words) > 2 and second in _SUBJECTS
    return first in _OTHER_WH or first in _ASKED_FOR


def thanks_only(text: str) -> bool:
    """Whether it says thanks, or that all is well, and nothing else: it needs no answer."""
    if _QUESTION_MARK.search(text):
        return False
    words = _words(_NOISE.sub(" ", text))
    if words:
        return _THANKS.issuperset(words)
    emoji = re.findall(r":[a-z0-9_+-]++:", text) or [sign for sign in text if unicodedata.category(sign) == "So"]
    return bool(emoji) and not {":wave:", "👋"}.intersection(emoji)


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]
