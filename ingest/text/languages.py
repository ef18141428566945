"""Which language a text is in, by its small words: articles, prepositions, pronouns, what questions begin with. Pure.

A site may mix languages, and what a page says of its own (`lang`) is often what its generator always says. So the words
decide where they are clear, and what was claimed counts where they are not.
"""

from __future__ import annotations

import re
from collections import Counter

from ingest.model import Page

_LISTED = {
    "bg": "без бъде в вече във всички да до е за и или как какво какъв като когато който която което които къде ли може мога му на не него ни но от по под при с са се си след със така това тази този тези ще че",
    "ca": "a al als amb aquest aquesta això com d de del dels des el els en és es està fer ha hi i la les li més no o on per però puc pot qual quan què que quin quina s se sense ser si són sobre també un una uns",
    "cs": "a aby ale ani až být by byl byla bylo co či do ho i já jak jaká jaké jaký jako je jeho jej jejich jen jestli jsem jsou k kam kde kdo kdy když ke která které který lze má mezi mi mohu může my na nad nebo není než o od on podle pokud pro proč při s se si své ta tak také tam ten tento to toto tu ty u v ve však z za ze že",
    "da": "af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en end er et for fra få får gør ha han hans har have havde her hun hvad hvilke hvilken hvilket hvem hvis hvor hvordan hvorfor hvornår i ikke ind ingen jeg kan kunne man med men mig min mine mit mod må nogle noget nogen nu når og også om op os over på sig sin sine skal skulle som så til ud under ved vi vil ville være været",
    "de": "aber alle allem allen aller alles als also am an auch auf aus bedeutet bei beim bin bis brauche da dabei damit dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es für gegen geht gibt hab habe haben hat hatte heißt hier ich ihm ihn ihnen ihr ihre im in ins ist ja jede jedem jeden jeder jedes kann kannst kein keine keinen können könnte mache machen macht man mein meine meinem meinen meiner mich mir mit muss müssen nach nicht noch nun nur ob oder ohne sein seine sich sie sind so soll sollen sollte sowie tue tun über um und uns unser unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wie wieso wir wird wo wofür woher wohin womit wozu wurde würde zu zum zur zwischen",
    "el": "αν από αυτό για γιατί δεν είναι ένα ένας η ή θα και με μια μου μπορώ να ο οι όταν ποια ποιο ποιος πού που πως πώς σας σε στα στη στην στις στο στον τα τη την της τι τις το τον του τους των ως",
    "en": "a about above after again against all am an and any are as at be because been before being below between both but by can cannot could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just me more most my myself no nor not of off on once only or other our ours out over own please same she should so some such than that the their theirs them then there these they this those through to too under until up us very want was way we were what when where which while who whom why will with would you your yours aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn",
    "es": "a al algo alguna algún ante aquí así aunque cada como cómo con cual cuál cuáles cuando cuándo cuánto de del desde donde dónde el él ella ellos en entre era es esa ese eso esta está están este esto estos fue ha hace hacer han hasta hay la las le les lo los más me mi mis muy ni no nos o para pero por porque puede puedo que qué quién se sea ser si sí sin sobre son su sus también te tiene todo todos tu tus un una unas uno unos y ya yo",
    "fi": "ei eli en et että hän he ja jonka jos joka jotka kanssa koska kuin kuinka kuka kun me mihin mikä miksi milloin millä minkä minä missä mistä miten mitä mutta myös ne niin nyt ole olen oli olla on ovat se sekä sen siinä siitä sinä sitä tai te tämä tämän tässä tästä tätä vai vain voi voidaan voin voit",
    "fr": "à ai au aucun aussi autre aux avec avez avoir ça car ce cela celle celui ces cet cette comme comment dans de des dont du elle elles en entre est et était être faire faut il ils je la le les leur leurs lors lorsque lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas peut peux plus pour pourquoi puis quand que quel quelle quelles quels qui quoi sa sans se sera ses si son sont sous sur ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y",
    "hu": "a ahhoz akkor ami az azt csak de egy ennek és ez ezek ezt ha hogy hogyan hol hova is kell ki lehet lesz meg melyik mely még mi miért mikor milyen mint mit már nem nincs vagy van volt",
    "id": "adalah akan anda apa atau bagaimana bisa dalam dan dapat dari dengan di ini itu jika juga kami kapan ke kita mana mengapa oleh pada saya sebagai sudah tidak untuk yang",
    "it": "a ad agli ai al alla alle allo anche che chi ci come con cosa così cui da dai dal dalla dalle degli dei del della delle dello di dopo dove e è ed essere fa fare fra gli ha hanno ho i il in io la le lei li lo loro lui ma mi mia mio ne negli nei nel nella nelle no noi non o ogni per perché più poi posso può puoi qual quale quali quando quanto quella quello questa questo quindi se senza si sia sono su sua sul sulla suo ti tra tutti tutto un una uno vi",
    "nb": "alle at av bare ble bli blir da de den denne der dere deres det dette din disse du eller en er et etter for fra få får gjør ha hadde han har hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke inn ingen jeg kan kunne man med meg men mer min mot må noe noen nå når og også om opp oss over på seg sin skal som så til ut uten ved vi vil være vært",
    "nl": "aan al als bij dan dat de deze die dit doe doet door een en er geen had heb hebben heeft hem het hij hoe hun ik in is je jij jullie kan kun kunnen maar me met mij mijn moet moeten na naar niet nog nu of om omdat onder ons ook op over te tot uit van voor waar waarom wanneer wat we wel welk welke werd wie wij wil worden wordt zal ze zich zij zijn zo zonder zou",
    "pl": "a aby ale bez być by był była było bo ci co czy dla do gdzie go i ich ile im ja jak jaka jaki jakie jako jego jej jest jeśli jeżeli już każdy kiedy kto która które który lub ma mam mi mnie może można mój mu na nad nie nich o od on ona oraz po przed przez przy się są ta tak także tam te tego tej ten to tu ty tylko tym u w we więc z za ze że",
    "pt": "a ao aos as às até com como da das de dela dele deve do dos e é ela elas ele eles em entre era essa esse esta está estão este eu faz fazer foi há isso isto já lhe mais mas me mesmo meu minha muito na nas não nem no nos num numa o onde os ou para pela pelas pelo pelos pode podem por porque posso qual quais quando quanto que quem são se seja sem ser seu seus só sua suas também te tem têm ter um uma você vocês",
    "ro": "a acest această ai al ale am ar are au ca când care ce cel cu cum cât de deci despre din dintre după ea ei el este eu fi fie fost îi îl îmi în la le lui mai mi nu o pe pentru poate pot prin sa să sau se și sunt un una unde unei unui va",
    "ru": "а без бы был была были было быть в вам вас во вот все всех вы где да для до его ее её если есть еще ещё же за и из или им их к как какая какие какой когда кто ли меня мне могу можно мы на надо не него нет ни но о об он она они от по под почему после при с свой себя со так также там то того тоже только ты у уже чем что чтобы эта эти это этого этот я",
    "sr": "али без би бити где да до за и из или их када како као која које који кроз ли ми могу може на не није ни њих о од он она они по под при с са само се си су та тако то у уз шта што je kako koji koja koje gde šta ali nije može sa su od kao",
    "sv": "alla allt att av bara bli blir de dem den denna deras det detta dig din ditt du där då efter ej eller en ett från får för gör ha hade han hans har hon hur här i in inte inga ingen jag kan kunde man med men mig min mina mitt mot måste ni nu när någon något några och om oss på samma sedan sig sin sina sitt ska skall som så till under upp ut utan vad varför varje vem vi vid vilka vilken vilket vill är över",
    "tr": "ama ben bir biz bu da daha de en gibi hangi her için ile ise kim mi mu mı mü nasıl ne neden nerede o olan olarak sen siz ve veya yok çok şu",
    "uk": "або але без був було в вас від він вона вони де для до є з за та і й із його коли які який яка як якщо мені може можна ми на не ні о про по при під та такий те ти тільки то у це цей ці чи чому що щоб я",
}  # fmt: skip
SMALL_WORDS = {language: frozenset(words.split()) for language, words in _LISTED.items()}
"""By language code. A question's own say nothing of what it is about: they are also its stop words."""
MAX_CHARACTERS_READ = 20_000
"""Of a page so many are enough to tell."""
MIN_SMALL_WORDS = 2
"""So many hits of another language are no chance."""
MIN_FOREIGN_RATIO = 2
"""So many times the hits of the language that was claimed: languages share small words."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")


def code_of(tag: str | None) -> str:
    """The language of a tag such as "pt-BR": "pt"; "" of none."""
    return re.split("[-_]", (tag or "").strip().lower())[0]


def small_word_hits(text: str) -> Counter[str]:
    """How many of the text's words are small ones of each language; languages without any are left out."""
    words = Counter(_WORD.findall(text[:MAX_CHARACTERS_READ].casefold()))
    hits = {code: sum(words[word] for word in small if word in words) for code, small in SMALL_WORDS.items()}
    return Counter({code: count for code, count in hits.items() if count})


def spoken(text: str) -> str:
    """The language whose small words are the most in a short text; "" where none, or several, are."""
    (best, most), (_, second) = [*small_word_hits(text).most_common(2), ("", 0), ("", 0)][:2]
    return best if most > second else ""


def page_language(page: Page, site: str) -> str:
    """The code of the language of a page: what the page claims, then what its `site` claims, unless its words clearly
    speak another one. Listings do not count."""
    prose = (
        part
        for node in page.nodes
        for part in (node.title, *(block.text for block in node.blocks if block.kind not in ("code", "math")))
    )
    hits = small_word_hits("\n".join(prose))
    claims = [code for code in map(code_of, (page.language, site)) if code]
    most = max(hits.values(), default=0)
    for claim in claims:
        if most < MIN_SMALL_WORDS or most < MIN_FOREIGN_RATIO * hits[claim]:
            return claim
    return max(hits, key=lambda code: hits[code])
