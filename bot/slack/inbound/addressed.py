"""Whether words ask something, or only say thanks: for messages that nobody addressed to ritbot by name. Pure.

In a thread people talk to each other too. What is not plainly a question is theirs: silence costs less than a reply that
nobody wanted, and a mention always helps.
"""

from __future__ import annotations

import re
import unicodedata

MAX_OFFER_CHARACTERS = 60
"""Of an answer's end, in which its question ends: marks and emphasis may stand behind it."""
_NOISE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]++`|<[^<>]*+>|https?://[^\s<>]++|:[a-z0-9_+-]++:|^>[^\n]*+", re.MULTILINE | re.DOTALL
)
"""Code, links, mentions, emoji, quoted lines."""
_WORD = re.compile(r"[^\W_]++(?:['’][^\W_]++)*+")
_QUESTION_MARK = re.compile(r"[?？؟](?![\w=])|(?:か|かな|かしら|吗|嗎|呢|나요|까요|까|인가요|은가요)[。.!！]*+$")
_ASKED_WITHIN = re.compile(
    r"怎么|怎麼|如何|为什么|為什麼|什么是|哪里|哪個|哪个|どうやって|どうすれば|なぜ|어떻게|왜 |무엇"
)
"""Where words are not apart."""
_LEADING = frozenset(
    "and but so ok okay then also now hi hey hello well great cool thanks thank you please ah oh und aber et y e mais pero"
    " ma ok hallo salut hola ciao oi merci danke gracias а и но".split()
)
_WH = frozenset("how what why where when which who whose".split())
_STATED = frozenset(
    {
        *((wh, who) for wh in _WH for who in ("i", "we", "he", "she", "they", "you", "it", "a", "an", "nice", "cool")),
        *(("which", "is"), ("who", "knows"), ("who", "cares"), ("how", "funny"), ("how", "sad"), ("how", "weird")),
        *(("wer", "weiß"), ("wer", "weiss"), ("wie", "schön"), ("wie", "gut"), ("wie", "cool"), ("wie", "immer")),
        *(("wie", "gesagt"), ("wie", "ich"), ("was", "soll's"), ("was", "ich"), ("was", "für"), ("wo", "ich")),
        *(("quel", "dommage"), ("quelle", "chance"), ("comme", "toujours"), ("qué", "bueno"), ("qué", "bien")),
        *(("como", "siempre"), ("como", "sempre"), ("come", "sempre"), ("как", "всегда"), ("jak", "zawsze")),
    }
)
"""How statements begin with the word of a question."""
_AUXILIARIES = frozenset("can could does do did is are was were should would will has have am may must".split())
_SUBJECTS = frozenset("i you we it this that the there they he she one my our a an any anyone someone these".split())
_OTHER_WH = frozenset(
    "wie was warum wieso weshalb wo wann welche welcher welches wer kann comment pourquoi quel quelle quels où combien"
    " cómo qué dónde cuál cuándo quién como onde quando qual quais perché dove cosa quale come hoe wat waarom waar hur varför"
    " jak dlaczego gdzie nasıl neden как почему где когда какой какая какие сколько зачем".split()
)
_ASKED_FOR = frozenset("tell show explain describe compare summarize summarise list".split())
_IDLE = frozenset(
    "really seriously huh right no wait what eh oder ne echt wirklich vraiment sérieux verdad lol wtf".split()
)
"""Words that ask nothing even with a question mark behind them."""
_THANKS = frozenset(
    "thanks thank you thx ty cheers tysm much very so a lot many great perfect awesome nice cool super good excellent"
    " that that's it worked works did helped helps the trick answer one job ritbot lol haha ok okay yes yep got makes"
    " sense danke dankeschön schön sehr vielen dank klasse prima perfekt merci beaucoup bien parfait génial gracias muchas"
    " mil perfecto genial grazie mille ottimo obrigado obrigada muito valeu bedankt dank je wel tack tak takk kiitos dzięki"
    " dziękuję děkuji teşekkürler спасибо большое благодарю отлично arigato 감사합니다 고마워요 고맙습니다 谢谢 谢谢你 多谢 谢啦 謝謝"
    " 感谢 ありがとう ありがとうございます ありがとうございました 助かりました".split()
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
    bare = _NOISE.sub(" ", text).strip()
    words = _words(bare)
    if not words or _IDLE.issuperset(words):
        return False
    if _QUESTION_MARK.search(bare) or _ASKED_WITHIN.search(bare):
        return True
    while words and words[0] in _LEADING:
        del words[0]
    if len(words) < 2:
        return False
    first, second = words[0], words[1]
    if (first, second) in _STATED:
        return False
    if first in _WH or first in _OTHER_WH:
        return len(words) > 2
    if first in _AUXILIARIES:
        return len(words) > 2 and second in _SUBJECTS
    return first in _ASKED_FOR


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
