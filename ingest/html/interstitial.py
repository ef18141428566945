"""Whether a page stands in for another one: a check of the browser, a form to sign in, a notice of maintenance. Pure.

Some are surely no page: a check that a named product makes, with its own header or markup (Cloudflare's cf-mitigated, AWS
WAF's x-amzn-waf-action, Vercel's x-vercel-mitigated), a form without a field that sends itself on (SAML 2.0 bindings 3.5.4,
OpenID Connect form_post), the message of a captive portal (WISPr). Scripts that such a product also puts into every
page it lets through are no sign (Cloudflare's jsd, Imperva's, DataDome's and PerimeterX's tags).

Others may be a page of their own, as documentation of a form to sign in is: of these it takes the page that was there
before to tell (ingest/watch/turned.py). They are short, and without code, tables and sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ingest.html.dom import Dom, Element
from ingest.model import Interstitial, Page

MAX_CHECK_WORDS = 300
"""A page with more text is none, whatever its markup: some checks explain themselves at length."""
MAX_NOTICE_WORDS = 120
"""A form to sign in has terms and help beside it."""
MAX_NOTICE_SECTIONS = 2
MAX_SCRIPT_CHARACTERS = 200_000
"""So far a page is looked through for scripts."""

_CHECK_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-vercel-mitigated": ("challenge", "deny"),
}
_CHECK = re.compile(
    r"_cf_chl_opt|/cdn-cgi/challenge-platform/h/|cf-browser-verification|/cdn-cgi/l/chk_|captcha-delivery\.com|px-captcha"
    r"|gokuProps|awsWafCookieDomainList|sec-if-cpt-container|bm-verify=|/_sec/cp_challenge|\.well-known/sgcaptcha"
    r"|\.well-known/vercel/security|anubis_challenge|\.within\.website/|sucuri_cloudproxy|ddg-captcha|_fs-ch-"
)
_CHECK_ATTRIBUTES = ("id", "src", "action", "href", "content", "class")
_SENDS = re.compile(r"\.submit\s*+\(|\.click\s*+\(\s*+\)")
_LEADS_ON = re.compile(
    r"\blocation(?:\.href)?+\s*+=(?!=)|\blocation\.(?:replace|assign|reload)\b|\bsetTimeout\b[^;]{0,80}\breload\b"
)
_SIGN_IN = re.compile(
    r"(?:please )?(?:sign|log)[ -]?(?:in|on)\b|login\b|authentication required|anmeld(?:en|ung)\b|einloggen|connexion\b"
    r"|se connecter|identifiez|iniciar sesi|inicio de sesi|acced[ei]|acesso|entrar\b|inloggen|logga in|zaloguj|войти|вход\b"
    r"|ログイン|サインイン|登录|登錄|登入|로그인"
)
_NOT_NOW = re.compile(
    r"\b(?:under|scheduled|planned|down for|for|in|undergoing) maintenance\b|\bmaintenance (?:mode|page|work|in progress|break)"
    r"|\b(?:be|come|check|right|try) (?:right )?(?:back|again)(?: soon| shortly| later| in\b| at\b)|\bback soon\b|^maintenance\b"
    r"|temporar(?:il)?y (?:un)?available|temporarily (?:down|offline|closed|out of)|(?:service|site|currently|page) (?:is )?"
    r"(?:currently |temporarily )?(?:unavailable|offline|down\b)|^coming soon|under construction|please wait|just a moment"
    r"|one moment|checking your browser|verif(?:y|ying) (?:that )?you|are you (?:a )?(?:human|robot)|not a (?:robot|bot)"
    r"|enable (?:java\s?script|cookies)|access (?:is |was |has been )?(?:denied|blocked|restricted)|request (?:was )?(?:blocked"
    r"|rejected|could not be satisfied)|unusual traffic|session (?:has )?(?:expired|timed out)|sign in to (?:continue|view|see"
    r"|read)|log in to (?:continue|view|see|read)|must (?:be logged in|log in|sign in)|not authori[sz]ed|something went wrong"
    r"|application error|unknown domain|bad gateway|gateway time-?out|internal server error|backend fetch failed"
    r"|too many requests|rate limit exceeded|database connection|nosuch(?:key|bucket)|deployment[ _]not[ _]found"
    r"|wartung(?:sarbeiten|smodus)?\b|gleich wieder da|bald wieder|derzeit nicht (?:verf|erreich)|maintenance en cours"
    r"|en maintenance|momentanément|de retour|mantenimiento|volveremos|manuten[cç]|manutenzione|onderhoud|technische"
    r"|технические работы|メンテナンス|しばらくお待ち|维护|維護|请稍候|請稍候|점검"
)
_STATUS = re.compile(r"(?:http )?(?:error )?(?:code )?[45]\d\d\b|error 1\d\d\d\b")
_FILLED_IN = frozenset(
    {"", "text", "email", "password", "tel", "search", "url", "number", "checkbox", "radio", "file", "date"}
)


def interstitial(tree: Dom, source: str, headers: Mapping[str, str], page: Page) -> Interstitial | None:
    """What the page stands in for another as, if it may. `source`: its HTML."""
    given = {name.lower(): value.strip().lower() for name, value in headers.items()}
    words = sum(len(node.text.split()) for node in page.nodes)
    if any(given.get(name) in values for name, values in _CHECK_HEADERS.items()):
        return Interstitial("a check of the browser", sure=True)
    if words > MAX_CHECK_WORDS:
        return None
    scripts = "\n".join(_scripts(source))
    if _CHECK.search(scripts) or any(map(_is_check, tree.elements)):
        return Interstitial("a check of the browser", sure=True)
    if "<WISPAccessGatewayParam" in source[:MAX_SCRIPT_CHARACTERS]:
        return Interstitial("the page of a network that wants a sign-in", sure=True)
    sends = _SENDS.search(scripts) or _SENDS.search(tree.body.get("onload"))
    if sends and words <= MAX_NOTICE_WORDS and any(_has_hidden_fields_only(tree, form) for form in tree.tagged("form")):
        return Interstitial("a form that sends itself on to a sign-in", sure=True)
    what = None if words > MAX_NOTICE_WORDS or _has_structure(page) else _notice(tree, scripts, given, page)
    return Interstitial(what, sure=False) if what else None


def _notice(tree: Dom, scripts: str, headers: Mapping[str, str], page: Page) -> str | None:
    names = [name.casefold() for name in dict.fromkeys((page.title, *(node.title for node in page.nodes[:2])))]
    text = "\n".join((*names, *(node.text for node in page.nodes))).casefold()
    if any(e.get("type").lower() == "password" for e in tree.tagged("input")) or any(map(_SIGN_IN.match, names)):
        return "a form to sign in"
    if "retry-after" in headers or _NOT_NOW.search(text) or any(map(_STATUS.match, names)):
        return "a notice that it is not there now"
    refreshed = any(e.get("http-equiv").strip().lower() == "refresh" for e in tree.tagged("meta"))
    return "a page that loads another" if refreshed or _LEADS_ON.search(scripts) else None


def _has_structure(page: Page) -> bool:
    kinds = {block.kind for node in page.nodes for block in node.blocks}
    return len(page.nodes) > MAX_NOTICE_SECTIONS + 1 or not kinds.isdisjoint(("code", "table"))


def _is_check(element: Element) -> bool:
    if element.tag == "iframe" and element.get("src").startswith("/_Incapsula_Resource"):
        return True
    return any(_CHECK.search(element.get(name)) for name in _CHECK_ATTRIBUTES if name in element.attrs)


def _has_hidden_fields_only(tree: Dom, form: Element) -> bool:
    fields = [e for e in tree.tagged("input", "select", "textarea") if form.contains(e)]
    asked = any(e.tag != "input" or e.get("type").lower() in _FILLED_IN for e in fields)
    return bool(fields) and not asked and form.get("method").lower() == "post"


def _scripts(source: str) -> Iterator[str]:
    """What stands in script elements."""
    source = source[:MAX_SCRIPT_CHARACTERS]
    low, at = source.lower(), 0
    while (start := low.find("<script", at)) >= 0:
        end = low.find("</script", start)
        at = end if end >= 0 else len(source)
        yield source[start:at]
