"""What certain secrets look like: one rule for each kind, with a text that it must find and one that it must not.

A rule is tried only where one of its `hints` stands, so hints are literal and as telling as the format allows. Those
of `PREFIXED` stand in a long word with a long run of letters and digits, unless `TEXT_HINTS` names them; those of
`NAMED` are names in lower case, and the pattern starts at the name. Group 1, where there is one, is the secret itself; what stands around it is left
readable. The character before a match is never an ASCII letter or digit, but for an escape.

Patterns run in linear time: a part that can fail after a long run is bounded, or starts only at the edge of a word.
No secret is written out in this file: the examples are put together from noise.
"""

# ruff: noqa: E501  (a table reads by columns)

from __future__ import annotations

from typing import NamedTuple

DOTTED = "\0dotted"  # stands for a very long word with a dot in it, where a format has no literal of its own
TEXT_HINTS = ("://", "@tcp(", "@unix(", "SSWS ", "Q~")  # of secrets that need no long run


class Rule(NamedTuple):
    """One kind of secret. See the head of this file."""

    kind: str
    hints: tuple[str, ...]
    pattern: str
    example: str
    counter: str


_NOISE = "q7Zk2Vt9XbR4mWc8Ld1Hs6Jf3Np5GyTaUeKiBoQvMzCw0PxDrEhSjYnFlAgOuI"
_HEX = "9f3a7c1e5b8d0246e1c7a9b35d8f0e62"


def _a(length: int) -> str:
    return (_NOISE * (length // len(_NOISE) + 1))[:length]


def _h(length: int) -> str:
    return (_HEX * (length // len(_HEX) + 1))[:length]


def _u(length: int) -> str:
    return _a(length).upper()


def _l(length: int) -> str:
    return _a(length).lower()


_UUID = f"{_h(8)}-{_h(4)}-4{_h(3)}-a{_h(3)}-{_h(12)}"
_UUID_PATTERN = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_W = "[A-Za-z0-9_-]"
_END = "(?![A-Za-z0-9])"

PREFIXED: tuple[Rule, ...] = (
    # --- keys and tokens of any origin ---
    Rule(
        "jwt",
        ("eyJ",),
        rf"eyJ(?:(?<!{_W}eyJ)|(?<=\\[nrt]eyJ)|(?<=%[0-9A-F]{{2}}eyJ)){_W}{{8,}}+\.(?:eyJ{_W}{{6,}}+\.{_W}{{8,}}|{_W}*+\.{_W}{{8,}}+\.{_W}{{8,}}+\.{_W}{{8,}})",
        f"eyJ{_a(20)}.eyJ{_a(30)}.{_a(43)}",
        f"eyJ{_a(20)}.{_a(30)}.{_a(43)}",
    ),
    Rule(
        "url-password",
        ("://",),
        r"""://[^\s/@:"'`<>()]{0,64}:([^\s/"'`<>()\[\]]{3,200})@[A-Za-z0-9_\[]""",
        f"postgres://admin:{_a(12)}@db.example.org/prod",
        "https://example.org:8080/@scope/name",
    ),
    Rule("dsn-password", ("@tcp(", "@unix("), r":([^\s:@/\"'`]{3,80})@(?:tcp|unix)\(", f"root:{_a(10)}@tcp(db:3306)/x", "@tcp(db)"),
    Rule(
        "age-key", ("AGE-SECRET-KEY-", "AGE-PLUGIN-"), "AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{1,20})-1[0-9A-Z]{40,}",
        f"AGE-SECRET-KEY-1{_u(58)}", "AGE-SECRET-KEY-1...",
    ),
    # --- clouds ---
    Rule(
        "aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), f"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_END}",
        f"AKIA{_u(16)}", f"AKIA{_u(15)}",
    ),
    Rule("aws-bedrock-key", ("ABSK", "bedrock-api-key-"), "(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,}", f"ABSK{_a(110)}", f"ABSK{_a(20)}"),
    Rule("aws-session-token", ("IQoJb3JpZ2lu", "FwoGZXIvYXdz"), "(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=]{60,}", f"IQoJb3JpZ2lu{_a(200)}", "IQoJb3JpZ2lu"),
    Rule("google-api-key", ("AIza",), f"AIza{_W}{{35}}", f"AIza{_a(35)}", f"AIza{_a(30)}"),
    Rule("google-oauth-secret", ("GOCSPX-",), f"GOCSPX-{_W}{{24,}}", f"GOCSPX-{_a(28)}", f"GOCSPX-{_a(8)}"),
    Rule("google-oauth-token", ("ya29.", "1//0"), rf"(?:ya29\.{_W}{{20,}}|1//0{_W}{{40,}})", f"ya29.{_a(60)}", "1//0.5"),
    Rule(
        "azure-storage-key", ("AccountKey=", "accountkey="), "[Aa]ccount[Kk]ey=([A-Za-z0-9+/]{40,}={0,2})",
        f"AccountName=x;AccountKey={_a(86)}==;", "AccountKey=<key>",
    ),
    Rule("azure-shared-key", ("SharedAccessKey=",), "SharedAccessKey=([A-Za-z0-9+/]{20,}={0,2})", f"SharedAccessKey={_a(43)}=", "SharedAccessKey={key}"),
    Rule("azure-sas", ("sig=",), r"(?<=[?&;])sig=([A-Za-z0-9%+/]{40,}={0,2})", f"?sv=2024-11-04&sig={_a(43)}%3D", "?sig=none"),
    Rule("azure-client-secret", ("Q~",), r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", f"{_a(3)}8Q~{_a(34)}", "8Q~short"),
    Rule("azure-devops-token", ("AZDO",), f"[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{_END}", f"{_a(76)}AZDO{_a(4)}", f"{_a(20)}AZDO{_a(4)}"),
    Rule("alibaba-access-key", ("LTAI",), f"LTAI[A-Za-z0-9]{{12,30}}{_END}", f"LTAI{_a(20)}", "LTAI short"),
    Rule("tencent-secret-id", ("AKID",), f"AKID[A-Za-z0-9]{{32}}{_END}", f"AKID{_a(32)}", f"AKID{_a(12)}"),
    Rule("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), "do[opr]_v1_[0-9a-f]{64}", f"dop_v1_{_h(64)}", f"dop_v1_{_h(32)}"),
    Rule("heroku-key", ("HRKU-",), rf"HRKU-(?:{_UUID_PATTERN}|{_W}{{40,}})", f"HRKU-{_UUID}", "HRKU-key"),
    Rule("flyio-token", ("fo1_", "fm1a_", "fm1r_", "fm2_"), "(?:fo1_[A-Za-z0-9_-]{40,}|fm[12][ar]?_[A-Za-z0-9+/=,_-]{40,})", f"fo1_{_a(43)}", "fo1_x"),
    Rule("render-key", ("rnd_",), "rnd_[A-Za-z0-9]{28,}", f"rnd_{_a(32)}", "rnd_generator"),
    Rule("netlify-token", ("nfp_", "nfc_", "nfo_"), "nf[pco]_[A-Za-z0-9]{36,}", f"nfp_{_a(40)}", "nfp_x"),
    Rule("vercel-token", ("vercel_blob_rw_", "vcp_", "vci_", "vca_", "vcr_", "vck_"), "(?:vercel_blob_rw_|vc[piark]_)[A-Za-z0-9_]{24,}", f"vcp_{_a(56)}", "vcp_short"),
    Rule("cloudflare-token", ("cfut_", "cfat_", "cfk_"), f"cf(?:ut|at|k)_{_W}{{36,}}", f"cfut_{_a(40)}", "cfat_x"),
    Rule("cloudflare-ca-key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}", f"v1.0-{_h(24)}-{_h(146)}", "v1.0-rc1"),
    Rule("supabase-key", ("sbp_", "sb_secret_"), f"(?:sbp_(?:v0_)?[0-9a-f]{{40}}|sb_secret_{_W}{{20,}})", f"sbp_{_h(40)}", "sbp_x"),
    Rule("planetscale-token", ("pscale_",), r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9._=-]{32,}", f"pscale_tkn_{_a(43)}", "pscale_org"),
    Rule("neon-key", ("napi_",), "napi_[a-z0-9]{40,}", f"napi_{_l(64)}", "napi_create_function"),
    # --- code hosting, packages, builds ---
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "gh[pousr]_[A-Za-z0-9]{36,255}", f"ghp_{_a(36)}", f"ghp_{_a(20)}"),
    Rule("github-fine-grained-token", ("github_pat_",), "github_pat_[A-Za-z0-9_]{40,255}", f"github_pat_{_a(22)}_{_a(59)}", "github_pat_name"),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-", "glwt-"),
        r"gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}",
        f"glpat-{_a(20)}", "glpat-name",
    ),
    Rule("gitlab-runner-token", ("GR1348941",), f"GR1348941{_W}{{20,}}", f"GR1348941{_a(20)}", "GR1348941"),
    Rule("atlassian-token", ("ATATT3", "ATCTT3", "ATSTT3", "ATBB"), r"(?:AT(?:AT|CT|ST)T3[A-Za-z0-9_=+/.-]{40,}|ATBB[A-Za-z0-9]{32}(?![a-z]))", f"ATATT3x{_a(180)}", "ATBBs"),
    Rule("npm-token", ("npm_",), "npm_[A-Za-z0-9]{36}", f"npm_{_a(36)}", "npm_config_registry"),
    Rule("npmrc-token", ("_authToken=", "_auth=", "_password="), r"_(?:authToken|auth|password)=\"?([A-Za-z0-9+/=_.-]{16,})", f"//r/:_authToken={_a(36)}", "_authToken=${NPM_TOKEN}"),
    Rule("pypi-token", ("pypi-AgE",), f"pypi-AgE{_W}{{30,}}", f"pypi-AgEIcHlwaS5vcmc{_a(150)}", "pypi-AgE"),
    Rule("rubygems-key", ("rubygems_",), "rubygems_[0-9a-f]{48}", f"rubygems_{_h(48)}", "rubygems_version"),
    Rule("crates-token", ("cio",), f"cio[A-Za-z0-9]{{32}}{_END}", f"cio{_a(32)}", "ciographic"),
    Rule("nuget-key", ("oy2",), f"oy2[a-z0-9]{{43}}{_END}", f"oy2{_l(43)}", "oy2x"),
    Rule("clojars-token", ("CLOJARS_",), "CLOJARS_[a-z0-9]{60}", f"CLOJARS_{_l(60)}", "CLOJARS_TOKEN"),
    Rule("artifactory-key", ("AKCp",), "AKCp[A-Za-z0-9]{60,}", f"AKCp{_a(69)}", "AKCp"),
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), f"dckr_[po]at_{_W}{{24,}}", f"dckr_pat_{_a(27)}", "dckr_pat_x"),
    Rule("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}", f"{_a(14)}.atlasv1.{_a(67)}", "x.atlasv1.y"),
    Rule("pulumi-token", ("pul-",), f"pul-[0-9a-f]{{40}}{_END}", f"pul-{_h(40)}", "pul-request"),
    Rule("vault-token", ("hvs.", "hvb.", "hvr."), rf"hv[sbr]\.{_W}{{24,}}", f"hvs.{_a(95)}", "hvs.token"),
    Rule("doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."), r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}", f"dp.pt.{_a(43)}", "dp.st.dev"),
    Rule("sonar-token", ("squ_", "sqp_", "sqa_"), "sq[upa]_[0-9a-f]{40}", f"squ_{_h(40)}", "sqp_x"),
    Rule("circleci-token", ("CCIPAT_", "CCIPRJ_"), "CCI(?:PAT|PRJ)_[A-Za-z0-9]{16,24}_[0-9a-f]{40}", f"CCIPAT_{_a(22)}_{_h(40)}", "CCIPAT_x"),
    Rule("buildkite-token", ("bkua_", "bkaj_", "bkct_"), "bk(?:ua|aj|ct)_[0-9a-zA-Z]{40,}", f"bkua_{_h(40)}", "bkua_x"),
    Rule("sourcegraph-token", ("sgp_", "slk_"), "(?:sgp_(?:[0-9a-f]{16}_|local_)?|slk_)[0-9a-f]{40,64}", f"sgp_{_h(40)}", "sgp_x"),
    Rule("prefect-key", ("pnu_", "pnb_"), "pn[ub]_[A-Za-z0-9]{36}", f"pnu_{_a(36)}", "pnu_x"),
    Rule("openshift-token", ("sha256~",), f"sha256~{_W}{{43}}", f"sha256~{_a(43)}", "sha256~x"),
    # --- models ---
    Rule("anthropic-key", ("sk-ant-",), f"sk-ant-(?:[a-z]{{2,8}}[0-9]{{2}}-)?{_W}{{20,}}", f"sk-ant-api03-{_a(93)}AA", "sk-ant-key"),
    Rule("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "T3BlbkFJ"), f"sk-(?:(?:proj|svcacct|admin|None)-{_W}{{20,}}|[A-Za-z0-9]{{16,24}}T3BlbkFJ[A-Za-z0-9]{{16,24}})", f"sk-proj-{_a(74)}T3BlbkFJ{_a(74)}", "sk-proj-name"),
    Rule("openrouter-key", ("sk-or-",), f"sk-or-(?:v1-)?{_W}{{24,}}", f"sk-or-v1-{_h(64)}", "sk-or-x"),
    Rule("langfuse-key", ("sk-lf-",), f"sk-lf-{_UUID_PATTERN}", f"sk-lf-{_UUID}", "sk-lf-x"),
    Rule("api-secret-key", ("sk-",), f"sk-[A-Za-z0-9]{{32,}}{_END}", f"sk-{_a(48)}", "sk-learn"),
    Rule("huggingface-token", ("hf_", "api_org_"), "(?:hf_|api_org_)[A-Za-z0-9]{34,}", f"hf_{_a(34)}", "hf_hub_download"),
    Rule("groq-key", ("gsk_",), "gsk_[A-Za-z0-9]{40,}", f"gsk_{_a(52)}", "gsk_renderer"),
    Rule("xai-key", ("xai-",), "xai-[A-Za-z0-9]{60,}", f"xai-{_a(80)}", "xai-sdk"),
    Rule("perplexity-key", ("pplx-",), "pplx-[A-Za-z0-9]{32,}", f"pplx-{_a(48)}", "pplx-api"),
    Rule("replicate-token", ("r8_",), "r8_[A-Za-z0-9]{37}", f"r8_{_a(37)}", "r8_unorm"),
    Rule("nvidia-key", ("nvapi-",), f"nvapi-{_W}{{40,}}", f"nvapi-{_a(64)}", "nvapi-key"),
    Rule("langsmith-key", ("lsv2_", "ls__"), "(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32})", f"lsv2_pt_{_h(32)}_{_h(10)}", "lsv2_x"),
    Rule("pinecone-key", ("pcsk_",), "pcsk_[A-Za-z0-9_]{40,}", f"pcsk_{_a(70)}", "pcsk_x"),
    Rule("elevenlabs-key", ("sk_",), "sk_[0-9a-f]{48}(?![0-9a-zA-Z])", f"sk_{_h(48)}", "sk_buff"),
    Rule("tavily-key", ("tvly-",), "tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,}", f"tvly-{_a(32)}", "tvly-x"),
    Rule("jina-key", ("jina_",), f"jina_{_W}{{48,}}", f"jina_{_a(60)}", "jina_reader"),
    Rule("cerebras-key", ("csk-",), "csk-[a-z0-9]{40,}", f"csk-{_l(48)}", "csk-x"),
    # --- talk ---
    Rule("slack-token", ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-"), r"xox[a-eoprs][-.](?:xox[bp]-)?(?=[A-Za-z%+/-]{0,40}[0-9])[A-Za-z0-9%+/-]{10,}", f"xoxb-123456789012-1234567890123-{_a(24)}", "xoxb-the-token-of-a-bot"),
    Rule("slack-app-token", ("xapp-",), "xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[A-Za-z0-9]{20,}", f"xapp-1-A{_u(10)}-1234567890123-{_h(64)}", "xapp-1-x"),
    Rule("slack-webhook", ("hooks.slack.com/", "hooks.slack-gov.com/"), r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})", f"https://hooks.slack.com/services/T{_u(8)}/B{_u(8)}/{_a(24)}", "https://hooks.slack.com/services/"),
    Rule("discord-webhook", ("/api/webhooks/",), rf"/api/webhooks/[0-9]{{15,20}}/({_W}{{40,}})", f"https://discord.com/api/webhooks/123456789012345678/{_a(68)}", "/api/webhooks/1/x"),
    Rule("discord-token", (DOTTED,), rf"[MNO][A-Za-z0-9_-]{{22,27}}\.{_W}{{6,7}}\.{_W}{{27,45}}(?!{_W})", f"M{_a(25)}.{_a(6)}.{_a(38)}", f"M{_a(12)}.{_a(6)}.{_a(38)}"),
    Rule("teams-webhook", (".webhook.office.com/",), r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{80,})", f"https://x.webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{_h(32)}/{_UUID}", "x.webhook.office.com/webhookb2/"),
    Rule("telegram-token", (":A",), rf"(?<![0-9:])[0-9]{{6,12}}:A{_W}{{34}}(?!{_W})", f"123456789:AA{_a(33)}", "12:ABCDEF"),
    Rule("twilio-key", ("SK",), f"SK[0-9a-f]{{32}}{_END}", f"SK{_h(32)}", "SKELETON"),
    Rule("sendgrid-key", ("SG.",), rf"SG\.{_W}{{16,32}}\.{_W}{{32,64}}", f"SG.{_a(22)}.{_a(43)}", "SG.x.y"),
    Rule("mailgun-key", ("key-",), f"key-[0-9a-f]{{32}}{_END}", f"key-{_h(32)}", "key-value"),
    Rule("mailchimp-key", ("-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"), f"[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}", f"{_h(32)}-us12", "en-us"),
    Rule("brevo-key", ("xkeysib-", "xsmtpsib-"), "x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}", f"xkeysib-{_h(64)}-{_a(16)}", "xkeysib-x"),
    # --- money and shops ---
    Rule("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"), "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}", f"sk_live_{_a(24)}", "sk_live_x"),
    Rule("stripe-webhook-secret", ("whsec_",), "whsec_[A-Za-z0-9+/=]{24,}", f"whsec_{_a(32)}", "whsec_x"),
    Rule("square-token", ("sq0", "EAAA"), f"(?:sq0[a-z]{{3}}-{_W}{{22,}}|EAAA{_W}{{56,}})", f"sq0atp-{_a(22)}", "sq0"),
    Rule("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"), "shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}", f"shpat_{_h(32)}", "shpat_x"),
    Rule("paypal-braintree-token", ("access_token$",), r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", f"access_token$production${_l(16)}${_h(32)}", "access_token$"),
    Rule("flutterwave-key", ("FLWSECK",), "FLWSECK(?:_TEST)?-[A-Za-z0-9]{32}-X", f"FLWSECK-{_a(32)}-X", "FLWSECK-x"),
    Rule("easypost-key", ("EZAK", "EZTK"), "EZ[AT]K[A-Za-z0-9]{54}", f"EZAK{_a(54)}", "EZAK"),
    Rule("shippo-token", ("shippo_",), "shippo_(?:live|test)_[0-9a-f]{40}", f"shippo_live_{_h(40)}", "shippo_x"),
    Rule("facebook-token", ("EAA",), "EAA[A-Za-z0-9]{80,}", f"EAAB{_a(120)}", "EAAB"),
    Rule("twitter-bearer", ("AAAAAAAAAAAAAAAAAAAAA",), "AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{40,}", f"AAAAAAAAAAAAAAAAAAAAA{_a(90)}", "A" * 40),
    # --- data and tools ---
    Rule("databricks-token", ("dapi",), f"dapi[0-9a-f]{{32}}(?:-[0-9])?{_END}", f"dapi{_h(32)}", "dapi_client"),
    Rule("linear-key", ("lin_api_", "lin_oauth_"), "lin_(?:api|oauth)_[A-Za-z0-9]{32,}", f"lin_api_{_a(40)}", "lin_api_x"),
    Rule("notion-token", ("secret_", "ntn_"), f"(?:secret_[A-Za-z0-9]{{43}}|ntn_[A-Za-z0-9]{{40,}}){_END}", f"secret_{_a(43)}", "secret_key"),
    Rule("mapbox-token", ("sk.eyJ",), rf"sk\.eyJ{_W}{{20,}}+\.{_W}{{20,}}", f"sk.eyJ{_a(60)}.{_a(22)}", "sk.eyJ"),
    Rule("airtable-token", (DOTTED,), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", f"pat{_a(14)}.{_h(64)}", "pattern"),
    Rule("figma-token", ("figd_", "figo_", "figu_", "figor_", "figur_"), f"fig(?:d|or?|ur?)_{_W}{{36,}}", f"figd_{_a(40)}", "figd_x"),
    Rule("postman-key", ("PMAK-",), "PMAK-[A-Za-z0-9]{24}-[A-Za-z0-9]{34}", f"PMAK-{_h(24)}-{_h(34)}", "PMAK-x"),
    Rule("sentry-token", ("sntrys_", "sntryu_", "sntrya_", "sntryi_"), "sntry(?:s_[A-Za-z0-9+/=_]{40,}|[uai]_[0-9a-f]{40,})", f"sntryu_{_h(64)}", "sntryu_x"),
    Rule("grafana-token", ("glc_", "glsa_", "eyJrIjoi"), "(?:glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|eyJrIjoi[A-Za-z0-9+/=_-]{40,})", f"glsa_{_a(32)}_{_h(8)}", "glc_x"),
    Rule("newrelic-key", ("NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRSP-", "NRBR-"), f"NR(?:AK|II|IQ|RA|SP|BR)-{_W}{{20,}}", f"NRAK-{_u(27)}", "NRAK-x"),
    Rule("newrelic-license", ("NRAL",), f"[0-9a-f]{{36}}NRAL{_END}", f"{_h(36)}NRAL", "NRAL"),
    Rule("dynatrace-token", ("dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."), r"dt0[cs][01][0-9]\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}", f"dt0c01.{_u(24)}.{_u(64)}", "dt0c01.x"),
    Rule("okta-token", ("SSWS ",), f"SSWS (00{_W}{{38,42}})", f"Authorization: SSWS 00{_a(40)}", "SSWS token"),
    Rule("hubspot-token", ("pat-",), f"pat-[a-z]{{2}}[0-9]-{_UUID_PATTERN}", f"pat-eu1-{_UUID}", "pat-x"),
    Rule("contentful-token", ("CFPAT-",), f"CFPAT-{_W}{{40,}}", f"CFPAT-{_a(43)}", "CFPAT-x"),
    Rule("typeform-token", ("tfp_",), r"tfp_[A-Za-z0-9_.=-]{40,}", f"tfp_{_a(59)}", "tfp_x"),
    Rule("dropbox-token", ("sl.",), rf"sl\.(?:u\.|B)?{_W}{{100,}}", f"sl.B{_a(135)}", "sl.no"),
    Rule("onepassword-token", ("ops_eyJ",), "ops_eyJ[A-Za-z0-9+/=_-]{60,}", f"ops_eyJ{_a(250)}", "ops_eyJ"),
    Rule("onepassword-secret-key", ("A3-",), "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", f"A3-{_u(6)}-{_u(6)}-{_u(5)}-{_u(5)}-{_u(5)}-{_u(5)}", "A3-size"),
    Rule("duffel-token", ("duffel_",), f"duffel_(?:test|live)_{_W}{{40,}}", f"duffel_live_{_a(43)}", "duffel_x"),
    Rule("readme-key", ("rdme_",), "rdme_[a-z0-9]{60,}", f"rdme_{_l(70)}", "rdme_x"),
    Rule("adobe-secret", ("p8e-", "p8e_"), f"p8e[-_]{_W}{{32}}", f"p8e-{_a(32)}", "p8e-x"),
    Rule("infracost-key", ("ico-",), f"ico-[A-Za-z0-9]{{32}}{_END}", f"ico-{_a(32)}", "ico-mono"),
    Rule("frameio-token", ("fio-u-",), f"fio-u-{_W}{{64}}", f"fio-u-{_a(64)}", "fio-u-x"),
    Rule("asana-token", ("/12", "/11"), "[012]/1[0-9]{15,16}(?:/[0-9]{15,17})?:[0-9a-f]{32}", f"1/1200123456789012:{_h(32)}", "1/12"),
    Rule("intercom-token", ("dG9rO",), "dG9rO[A-Za-z0-9+/=]{54,}", f"dG9rO{_a(55)}=", "dG9rO"),
    Rule("yandex-token", ("t1.9eu", "AQVN", "y0_"), r"(?:t1\.9eu[A-Za-z0-9_-]{20,}[A-Za-z0-9_.=-]{40,}|AQVN[A-Za-z0-9_-]{35,38}|y0_[A-Za-z0-9_-]{50,})", f"AQVN{_a(36)}", "y0_x"),
)  # fmt: skip

_NEAR = r"""[^\n]{0,40}?[=:"'`\s>]"""  # what may stand between the name of a service and a value of its format
_QUOTE = r"""["'`]?"""


def _near(service: str, value: str) -> str:
    return f"{service}{_NEAR}({value})(?![A-Za-z0-9_-])"


NAMED: tuple[Rule, ...] = (
    Rule(
        "aws-secret-key",
        ("secret_access_key", "secretaccesskey", "secret access key", "secret-access-key", "aws_secret", "aws secret"),
        rf"(?:aws[_ ]secret(?:[_ ](?:access[_ ])?key)?|secret[_ -]?access[_ -]?key){_QUOTE}(?:\s{{0,4}}(?:=>|[:=]|is)|\s)\s{{0,4}}{_QUOTE}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
        f"aws_secret_access_key = {_a(40)}",
        f"aws_secret_access_key = {_a(30)}",
    ),
    Rule("cloudflare-key", ("cloudflare", "cf_api"), _near("(?:cloudflare|cf_api)", f"(?![0-9a-f]{{40}}){_W}{{40}}|[0-9a-f]{{37}}"), f"CLOUDFLARE_API_TOKEN={_a(40)}", f"cloudflare commit {_h(40)}"),
    Rule("heroku-key", ("heroku",), _near("heroku", _UUID_PATTERN), f"HEROKU_API_KEY={_UUID}", "heroku logs"),
    Rule("datadog-key", ("datadog", "dd_api_key", "dd_app_key", "dd-api-key", "dd-application-key"), _near("(?:datadog|dd[_-]ap(?:i|p|plication)[_-]key)", "[0-9a-f]{32}|[0-9a-f]{40}"), f"DD_API_KEY={_h(32)}", "datadog agent"),
    Rule("okta-token", ("okta",), _near("okta", f"00{_W}{{40}}"), f"OKTA_API_TOKEN=00{_a(40)}", "okta domain"),
    Rule("twilio-token", ("twilio",), _near("twilio", "[0-9a-f]{32}"), f"TWILIO_AUTH_TOKEN={_h(32)}", "twilio sms"),
    Rule("mailgun-signing-key", ("mailgun",), _near("mailgun", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"), f"MAILGUN_API_KEY={_h(32)}-{_h(8)}-{_h(8)}", "mailgun domain"),
    Rule("azure-key", ("azure", "ocp-apim-subscription-key"), _near("(?:azure[^\n]{0,30}?key|ocp-apim-subscription-key)", "[0-9a-f]{32}|[A-Za-z0-9]{84}"), f"AZURE_OPENAI_API_KEY={_h(32)}", "azure key vault"),
    Rule("algolia-key", ("algolia",), _near("algolia[^\n]{0,30}?key", "[0-9a-f]{32}"), f"ALGOLIA_ADMIN_KEY={_h(32)}", "algolia index"),
    Rule("fastly-token", ("fastly",), _near("fastly[^\n]{0,30}?(?:key|token)", f"{_W}{{32}}"), f"FASTLY_API_TOKEN={_a(32)}", "fastly service"),
    Rule("snyk-token", ("snyk",), _near("snyk[^\n]{0,30}?(?:key|token)", _UUID_PATTERN), f"SNYK_TOKEN={_UUID}", "snyk test"),
    Rule("discord-secret", ("discord",), _near("discord[^\n]{0,30}?secret", f"{_W}{{32}}"), f"DISCORD_CLIENT_SECRET={_a(32)}", "discord secret"),
    Rule("model-service-key", ("mistral", "cohere", "together", "fireworks", "deepgram", "stability"), _near("(?:mistral|cohere|together|fireworks|deepgram|stability)[^\n]{0,20}?key", "[A-Za-z0-9]{32,64}"), f"MISTRAL_API_KEY={_a(32)}", "cohere key"),
    Rule("wandb-key", ("wandb",), _near("wandb[^\n]{0,20}?key", "[0-9a-f]{40}"), f"WANDB_API_KEY={_h(40)}", "wandb key"),
)  # fmt: skip
