"""What stands in for a page (ingest/html/interstitial.py): the markup that products give, and pages that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.html.parse import parse

MAX_BYTES = 40_000
"""A larger page has more words than what stands in for one."""
URL = "https://docs.example.test/guide/pumps.html"
CHECK, NETWORK, SENT_ON = (
    "a check of the browser",
    "the page of a network that wants a sign-in",
    "a form that sends itself on to a sign-in",
)
SIGN_IN, LATER, LEADS = "a form to sign in", "a notice that it is not there now", "a page that loads another"


def stands_in(body: str, **headers: str) -> tuple[str, bool] | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    found = parse(body.encode(), URL, content_type="text/html; charset=utf-8", headers=named).interstitial
    return (found.what, found.sure) if found else None


SURE = {
    "cloudflare": (
        "<title>Just a moment...</title><meta name=robots content='noindex,nofollow'><meta http-equiv=refresh content=390>"
        "<body><h1>docs.example.test</h1><h2>Verifying you are human. This may take a few seconds.</h2><noscript>Enable"
        " JavaScript and cookies to continue</noscript><script>window._cf_chl_opt={cvId:'3',cType:'managed'};var a=1;</script>",
        CHECK,
    ),
    "cloudflare's old one": (
        "<title>Attention Required! | Cloudflare</title><h1>One more step</h1><p>Please complete the security check.</p>"
        "<form id=challenge-form class=managed-form action='/x?__cf_chl_f_tk=1'><div class=cf-browser-verification>wait</div></form>",
        CHECK,
    ),
    "imperva": (
        "<html style='height:100%'><head><META NAME=ROBOTS CONTENT='NOINDEX, NOFOLLOW'></head><body><iframe id=main-iframe"
        " src='/_Incapsula_Resource?CWUDNSAI=9&xinfo=1-1-0'>Request unsuccessful. Incapsula incident ID: 1-2</iframe>",
        CHECK,
    ),
    "akamai": (
        "<title>Challenge Validation</title><meta http-equiv=refresh content=\"5; URL='/guide/pumps.html?bm-verify=AAQ'\">"
        "<body><div id=sec-if-cpt-container></div><script src='/_sec/cp_challenge/ak-challenge-4-3.htm'></script>",
        CHECK,
    ),
    "aws": (
        "<title></title><script>window.awsWafCookieDomainList=[];window.gokuProps={key:'A',iv:'B'};</script><script src="
        "'https://1.2.eu-west-1.token.awswaf.com/1/2/challenge.js'></script><div id=challenge-container></div><noscript><h1>"
        "JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot.</noscript>",
        CHECK,
    ),
    "perimeterx": (
        "<title>Access to this page has been denied</title><meta name=description content=px-captcha><h1>Press & Hold to"
        " confirm you are a human</h1><div id=px-captcha></div><script src='//captcha.px-cdn.net/PX1/captcha.js'></script>",
        CHECK,
    ),
    "datadome": (
        "<title>docs.example.test</title><p id=cmsg>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c',"
        "'host':'geo.captcha-delivery.com'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>",
        CHECK,
    ),
    "anubis": (
        "<title>Making sure you're not a bot!</title><main><h1>Making sure you're not a bot!</h1><p>Loading...</p><details>"
        f"<summary>Why am I seeing this?</summary><p>{'The administrator has set up a check of work. ' * 15}</p></details></main>"
        "<script id=anubis_challenge type=application/json>{\"rules\":{}}</script>",
        CHECK,
    ),
    "sucuri": ("<title>You are being redirected...</title><script>var s={};sucuri_cloudproxy_js='';</script>", CHECK),
    "siteground": ("<meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2F&y=ipc:1'>", CHECK),
    "saml": (
        "<body onload='document.forms[0].submit()'><noscript><p>Your browser does not support JavaScript; press Continue."
        "</p></noscript><form action='https://id.example.test/sso' method=post><input type=hidden name=SAMLRequest value=PHNh>"
        "<input type=hidden name=RelayState value=x><noscript><input type=submit value=Continue></noscript></form>",
        SENT_ON,
    ),
    "saml by script": (
        "<title>SSO</title><form name=hiddenform method=POST action='https://id.example.test/'><input type=hidden name="
        "SAMLResponse value=PHNh><input type=submit value=Submit></form><script>window.setTimeout('document.forms[0].submit()',"
        "0)</script>",
        SENT_ON,
    ),
    "form_post": (
        "<title>Working...</title><form method=POST name=hiddenform action='https://docs.example.test/signin-oidc'><input "
        "type=hidden name=code value=0.AX><input type=hidden name=state value=C><noscript><p>Script is disabled. Click Submit"
        " to continue.</p><input type=submit></noscript></form><script>document.forms[0].submit();</script>",
        SENT_ON,
    ),
    "captive portal": (
        "<title>Welcome to Hotel</title><p>Enter your room number.</p><!-- <WISPAccessGatewayParam><Redirect><LoginURL>"
        "http://10.0.0.1/</LoginURL></Redirect></WISPAccessGatewayParam> -->",
        NETWORK,
    ),
}  # fmt: skip

MAYBE = {
    "password": ("<title>Plant intranet</title><form>Name <input name=u> Password <input type=password></form>", SIGN_IN),
    "one step at a time": ("<title>Sign in - Example</title><h1>Sign in</h1><input type=email name=loginfmt>Next", SIGN_IN),
    "anmelden": ("<title>Anmeldung</title><h1>Anmeldung</h1><p>Bitte Benutzername eingeben.</p>", SIGN_IN),
    "login page": ("<title>Login | Plant</title><p>Use your company account.</p><button>Go on</button>", SIGN_IN),
    "maintenance": ("<title>Site Maintenance</title><h1>We'll be back soon!</h1><p>We're performing some work.</p>", LATER),
    "scheduled": ("<title>Plant</title><p>This site is down for maintenance. Please check back later.</p>", LATER),
    "wartung": ("<title>Wartungsarbeiten</title><p>Wir sind gleich wieder da.</p>", LATER),
    "ja": ("<title>メンテナンス中</title><p>ただいまメンテナンス中です。</p>", LATER),
    "cdn": ("<title>502 Bad Gateway</title><center><h1>502 Bad Gateway</h1></center><hr><center>cloudflare</center>", LATER),
    "cloudfront": ("<title>ERROR: The request could not be satisfied</title><h1>504 ERROR</h1><h2>The request could not be"
                   " satisfied.</h2><p>Generated by cloudfront</p>", LATER),
    "cloudflare 521": ("<title>docs.example.test | 521: Web server is down</title><h1>Error code 521</h1><p>The host is not"
                       " working.</p>", LATER),
    "fastly": ("<title>Fastly error: unknown domain docs</title><p>Fastly error: unknown domain: docs.</p>", LATER),
    "waf": ("<title>Request Rejected</title>The requested URL was rejected. Your support ID is: 123", LATER),
    "blocked": ("<title>Blocked</title><h1>Sorry, you have been blocked</h1><p>Access is restricted for your region.</p>", LATER),
    "wait": ("<title>Queue</title><p>Please wait, you are in line.</p><meta http-equiv=refresh content=20>", LATER),
    "reloads": ("<title>Plant</title><p>Loading the plant.</p><meta http-equiv=refresh content=30>", LEADS),
    "script leads": ("<title>Redirecting</title><p>Redirecting.</p><script>window.location.href='/sso?r=1'</script>", LEADS),
}  # fmt: skip


@pytest.mark.parametrize(("body", "what"), SURE.values(), ids=SURE)
def test_a_check_or_a_hand_over_is_surely_no_page(body: str, what: str) -> None:
    assert stands_in(body) == (what, True)


@pytest.mark.parametrize(("body", "what"), MAYBE.values(), ids=MAYBE)
def test_a_notice_or_a_form_may_be_none(body: str, what: str) -> None:
    assert stands_in(body) == (what, False)


PUMPS = "<title>Pumps</title><h1>Pumps</h1><p>What pumps do, and how to choose among them.</p>"


@pytest.mark.parametrize(
    ("name", "value"),
    [("cf_mitigated", "challenge"), ("X_Amzn_Waf_Action", "captcha"), ("x_vercel_mitigated", "challenge")],
)
def test_a_header_by_which_a_product_says_so_is_believed(name: str, value: str) -> None:
    assert stands_in(PUMPS, **{name: value}) == (CHECK, True)


def test_a_page_that_asks_to_come_back_may_be_none() -> None:
    assert stands_in(PUMPS, retry_after="600") == (LATER, False)


LONG = "<p>" + "Who works at the pump writes a name into the book, and the time of day. " * 12 + "</p>"
PAGES = {
    "plain": PUMPS,
    "cloudflare's tag": PUMPS + "<script>a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'</script>",
    "imperva's tag": PUMPS + "<script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3'></script>",
    "datadome's tag": PUMPS + "<script src='https://js.datadome.co/tags.js'></script>",
    "perimeterx's tag": PUMPS + "<script>window._pxAppId='PX1'</script><script src='//client.px-cloud.net/PX1/main.min.js'></script>",
    "about checks": f"<title>Let a crawler in</title><h1>Let a crawler in</h1>{LONG}<pre>window._cf_chl_opt = {{}}; px-captcha</pre>",
    "about a form": "<title>Logging in</title><h1>Logging in</h1><p>Put this into your page:</p><form><input name=user><input"
    " type=password></form><pre>&lt;input type=password&gt;</pre>",
    "how to sign in": f"<title>Sign in to the console</title><h1>Sign in to the console</h1>{LONG}",
    "search": PUMPS + "<form method=post action=/search><input type=hidden name=lang value=en><input type=search name=q></form>"
    "<script>document.forms[0].submit()</script>",
    "errors": "<title>Error codes</title><h1>Error codes</h1><table><tr><th>502</th><td>Bad gateway</td></tr></table>",
    "moved": "<title>Moved</title><h1>Pumps</h1><p>This page is now at <a href=/new>the new guide</a>.</p>",
}  # fmt: skip


@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_a_page_that_only_looks_like_it_is_a_page(body: str) -> None:
    assert stands_in(body) is None


def test_no_real_page_is_taken_for_a_check(real: Path) -> None:
    pages = [path for path in sorted(real.rglob("*.html")) if path.stat().st_size < MAX_BYTES]
    found = {path.stem: parse(path.read_bytes(), URL).interstitial for path in pages}
    assert [name for name, notice in found.items() if notice and notice.sure] == []
