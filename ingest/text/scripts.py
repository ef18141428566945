"""Scripts whose words are not kept apart by spaces, as the inside of a character class. Pure."""

SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai and Lao, Burmese, Khmer."""
HAN_AND_KANA = (
    "\u3005-\u3007\u3040-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
"""Has spaces, but between phrases: a noun and its particle are one run."""

UNSPACED = SOUTH_EAST_ASIAN + HAN_AND_KANA + HANGUL
