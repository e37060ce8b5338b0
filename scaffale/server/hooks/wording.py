"""The words of remembering in English and Italian: data for `intent`, which says what they are for.

Everything is written for folded text: lower case, no accents, straight apostrophes; quotations are \\x01. Patterns are
bounded. Compiling them is half the cost of a hook that has something to read: what can be a set of words is one, and no
pattern is compiled before its first use.
"""

from __future__ import annotations

import re

from scaffale.server.hooks.lazy import Lazy

# Dashes and bullets become `¬` and `·`: a set of characters beyond Latin-1 takes ten times as long to compile.
FOLD = str.maketrans("àáâèéêìíîòóôùúûçñ’‘ʼ´`“”„«»\t\xa0\r…—–•", "aaaeeeiiiooouuucn'''''\"\"\"\"\"   .¬¬·")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

# --- what is kept, and for when ------------------------------------------------------------------------------------------

# What people write down for later, and software does not keep for itself.
FACTS = _words("""
    rule rules convention conventions decision decisions agreement agreements lesson lessons workaround workarounds preference
    preferences deadline deadlines fact facts takeaway takeaways learning learnings gotcha gotchas caveat caveats cause causes
    constraint constraints guideline guidelines policy policies standard standards
    regola regole convenzione convenzioni decisione decisioni accordo accordi lezione lezioni preferenza preferenze scadenza
    scadenze fatto fatti vincolo vincoli guida causa cause scelta scelte abitudine abitudini
""")
NEWS = FACTS | _words("""
    information info detail details context config configuration configurations command commands url urls link links step steps
    instruction instructions procedure procedures approach format formats note notes fix fixes finding findings insight insights
    knowledge thing things point points requirement requirements naming solution solutions
    informazione informazioni dettaglio dettagli contesto configurazione configurazioni comando comandi procedura procedure
    istruzione istruzioni nota note cosa cose punto punti passo passi dato dati requisito requisiti impostazione impostazioni
    soluzione soluzioni
""")  # behind `this` it may be more
_LATER = (
    r"(?:for|in|during|at|to|into) (?:(?:all|any|every|our|your|my|the) )*(?:next|future|later|upcoming|following"
    r"|subsequent|coming)"
    r" (?:times?|sessions?|conversations?|chats?|tasks?|reference|interactions?|work|prs?|runs?)\b"
    r"|(?:for|throughout) the (?:rest of (?:the|this|our)|whole|entire) project\b"
    r"|(?:for|in) (?:the )?future\b|for (?:good|later)\b|next time (?:we|you|i)\b"
    r"|(?:from (?:now|here|this point) on|going forward|moving forward|henceforth)\b"
    r"|(?:per|ne)\s?(?:la|le|il|i|lla|lle) (?:prossim[aeio]|futur[aeio]|successiv[aeio]) "
    r"(?:volt[ae]|session[ei]|conversazion[ei]|chat|attivita|lavori|task)\b"
    r"|(?:per il|in) futuro\b|(?:d'|da )(?:ora|adesso|oggi|questo momento|qui) in (?:poi|avanti)\b"
)
LATER = Lazy(
    rf"\b(?:{_LATER})",
    needs=(
        "next", "later", "coming", "following", "subsequent", "entire", "whole", "rest of", "for good",
        "from ", "forward", "henceforth", "prossim", "futur", "successiv", "in poi", "in avanti",
    ),
)
_MEMORY = (
    r"(?:(?:your|our|the|my|its|this|project|project's|agent|agent's|team|shared|long[- ]term|persistent|permanent|mcp|"
    r"scaffale|tua|tuoi|nostra|mia|la|della) ){0,4}(?:memory|memories|memoria|knowledge base|appunti|notes)"
    r"(?: (?:del|di) progetto| a lungo termine| persistente| condivisa)?"
)
MEMORIES = ("memor", "knowledge base", "appunti", "notes")
OWN_MEMORY = _words(
    "your our my project project's agent agent's team long mcp scaffale tua tuoi nostra mia progetto lungo"
)

# --- heads ---------------------------------------------------------------------------------------------------------------

_HEADS = {
    # The verbs of remembering themselves.
    "recall": (
        r"remember|memori[sz]e|(?<=you mind )(?:remembering|memori[sz]ing)|remind yourself"
        r"|(?:don't|dont|do not|never|let's not|let us not)(?: you)?(?: ever)? forget"
        r"|ricord(?:i(?:amo(?:ci|lo|celo)?)?|assi|a(?:ti|te|tevi|re|rti|rci|rlo|rtelo|lo|telo)?)|rammenta(?:ti|re|rti|lo)?"
        r"|memorizz(?:a(?:re|ti|lo|la|te|telo|rlo|rti|ssi)?|i|iamo)"
        r"|non (?:(?:ti|vi|ce lo|te lo|dovete|devi) )?(?:mai )?(?:dimentic|scord)"
        r"(?:are|arti|arlo|artelo|arvi|ate|atevi|hiamo|hiamoci|hiamolo|iamo|iamoci|iamolo|atelo|arcelo)"
        r"|te(?:n|ni|nga|nessi|nete|nere|nerlo|nerti|niamo|niamolo)(?: (?:sempre|bene|ben|questo|cio))? a mente"
        r"|tieni(?:lo|ti|telo|la)?(?: (?:sempre|bene|ben|questo|cio))? a mente"
    ),
    # Writing down.
    "note": (
        r"(?:make|take|leave|keep|add)(?: yourself)?(?: an?)?(?: mental| quick| small| permanent| lasting)? note"
        r"|note (?:this |that |it )?down|note to (?:self|yourself)|note(?= for (?:all |the )*(?:future|next|later))"
        r"|(?:jot|write) (?:this |that |it |these )?down"
        r"|(?:prend(?:i|a|ere|iamo|ine|ete|erne)|tieni|tenere|tenga|tienine)(?: pure| per favore)? nota"
        r"|annot(?:a(?:re|ti|lo|telo|la|tela|rti|rlo|rtelo|te|tevi|ssi)?|iamo(?:ci|lo|celo)?|i)"
        r"|appunt(?:a(?:re|ti|lo|telo|rti|rlo)?|iamo(?:ci|lo)?)"
        r"|segn(?:a(?:ti|lo|telo|tela|rti|rlo|rtelo|re)?|iamo(?:ci|lo|celo)?)|scriviti(?:lo)?"
    ),
    # Said of the task at hand as often as not.
    "mind": (
        r"(?:keep|bear|have)(?: this| that| it| these)? (?:firmly )?in mind"
        r"|(?:tieni(?:lo|ne)?|tenere|tenerlo|tenga|teniamo|tenete)(?: sempre| ben)? (?:presente|conto)"
    ),
    # Words that mean anything. They need a purpose.
    "keep": (
        r"save|store|keep track of|keep|retain|record|log|persist|capture|put|add|commit|write|note|track|update|create"
        r"|document"
        r"|salva(?:re|lo|la|telo|ti|rlo|rti)?|conserva(?:re|lo|la|rlo)?|registra(?:re|lo|la|rlo)?|mantieni"
        r"|tieni(?:lo)?(?: traccia di)?|archivia(?:re|lo)?|aggiungi(?:lo|la)?|aggiungere|metti(?:lo|la)?|mettere"
        r"|inseri(?:sci|scilo|scila|re)|scrivi(?:lo)?|fissa(?:lo)?|imprimi|aggiorna"
    ),
    # A rule for all that is to come.
    "standing": (
        r"from (?:now|here|this point) on|going forward|moving forward|henceforth"
        r"|(?:d'|da )(?:ora|adesso|oggi|questo momento|qui) in (?:poi|avanti)"
    ),
}
# A piece of each head, to know what needs compiling. `answer` has all of them as bytes.
STEMS = {
    "recall": ("remember", "memori", "remind", "forget", "ricord", "rammen", "dimentic", "scord", "mente"),
    "note": ("note", "nota", "down", "annot", "appunt", "segn", "scriviti"),
    "mind": ("in mind", "present", "conto"),
    "keep": (
        "save", "store", "keep", "retain", "record", "log", "persist", "capture", "put", "add", "commit", "write", "note",
        "track", "update", "create", "document", "salva", "conserva", "registra", "mantieni", "tieni", "archivia",
        "aggiung", "mett",
        "inseri", "scrivi", "fissa", "imprimi", "aggiorna",
    ),
    "standing": ("from ", "forward", "henceforth", "in poi", "in avanti"),
}  # fmt: skip
_compiled: dict[tuple[str, ...], Lazy] = {}


def heads(text: str) -> Iterator[re.Match[str]]:
    """All heads in a folded text; the name of the group is the kind."""
    kinds = tuple(kind for kind, stems in STEMS.items() if any(stem in text for stem in stems))
    if not kinds:
        return iter(())
    if kinds not in _compiled:
        words = "|".join(f"(?P<{kind}>{_HEADS[kind]})" for kind in kinds)
        _compiled[kinds] = Lazy(rf"(?<![\w'@/.$#-])(?:{words})(?![\w'(=/]|[-.]\w)")
    found: Iterator[re.Match[str]] = _compiled[kinds].finditer(text)
    return found


STRONG = ("recall", "note")  # the kinds that say of themselves what they are for
WRITING = _words(  # these keep something only in a memory
    "put add commit write create metti mettilo mettila mettere aggiungi aggiungilo aggiungila aggiungere inserisci inseriscilo "
    "inseriscila inserire scrivi scrivilo fissa fissalo imprimi"
)
HOLDS_OBJECT = Lazy(r"(?:lo|tela)\b|\b(?:this|that|it|these|questo|cio)\b")  # a head that names its object itself

# --- objects -------------------------------------------------------------------------------------------------------------

FILLER = Lazy(r"\s*(?:(?:also|always|ever|please|well|anche|sempre|mai|bene|pure|per favore|quindi|dunque|,)\s*){0,4}")
_THIS = (
    r"(?:all (?:of )?)?(?:this|that|these|those|it|them|the following|what follows|the below)|tutto questo|tutto cio|questo|"
    r"questa cosa|questa|questi|queste|cio|quanto segue|quel(?:lo)? che segue|(?:il|la|i|le) seguent[ei]"
)
OBJECT = Lazy(
    r"(?P<clause>(?:that|che)(?=\s)|(?:,\s*)?(?=(?:we|we're|we've|there's|there are|there is|our|my)\b|i(?:'m|'ve|'d"
    r"| (?:am|was|have|"
    r"had|prefer|like|love|hate|use|work|live|never|always|usually|don't|do|want|need|can|can't|only|own))\b))"
    r"|(?P<colon>:)"
    r"|(?P<habit>(?:to (?:always|never|only)|(?:always|never) to|not to ever|di (?:non )?(?:[\w']+ ){0,2}(?:sempre|mai))\b)"
    r"|(?P<mine>(?:my|our|il mio|la mia|i miei|le mie|il nostro|la nostra|i nostri|le nostre)\b)"
)
IN_MEMORY = Lazy(rf"(?:in|into|to|a|nella|alla|tra gli) (?:{_MEMORY})\s+(?=(?:that|che)\b)", needs=MEMORIES)
THIS = Lazy(rf"(?:(?:of|di|down) )?(?:{_THIS})\b")
NAMED = Lazy(
    r"(?:(?:of|di|down) )?(?P<which>the following|this|these|that|those|the|an?|quest[aoei] |quest'|(?:il|la|i|le) seguent[ei]|"
    r"il|la|lo|i|gli|le|l'|una?|un')\s?(?P<noun>[\w'-]+(?: [\w'-]+){0,2})"
)
THIS_ONE = _words("this these quest' questa questo questi queste")  # and `the following`
END = Lazy(  # nothing more is said of the object
    r"\s*(?:[.!;,:)\]*_¬-]|$|(?:please|too|as well|for later|anche|pure|bene|per favore|per dopo|grazie|thanks|ok|as|come)\b)"
)
SAID = Lazy(r"\s*(?::|(?:the fact that|il fatto che|that|che)\b)")
THAT_THING = Lazy(  # `that` is no conjunction here: remember that bug
    r"\s+(?!(?:we|i|you|it|he|she|they|this|there|in|on|for|all|no|every|the|an?|our|my"
    r"|your)\b)[\w'-]+(?:\s+[\w'-]+)?\s*(?:[.!;,)]|$)"
)
LABEL = Lazy(  # something is named, and told behind a colon
    r"\s+(?:what|how|where|why|which|who|when|come|cosa|dove|perche|quando|chi)\s[^:?.!\n]{1,80}:\s+\S"
    r"|\s+(?!(?:me|to|di)\b)(?:of |di )?(?:(?:the|these|one|two|il|la|i|le|una?) )?(?:[\w'-]+\s+){0,4}[\w'-]+\s*:\s+\S"
)
THING = Lazy(r"\s+(?!(?:to|di|me)\b)\w")
ALONE = Lazy(r"\s*(?:that|this|it)?\s*(?:[.!]|$)")
STATED = Lazy(r"\s*:\s*\w+\s\w")
OURS = Lazy(r"\s*(?:we|i|our|my)\b")
AND_DO = Lazy(r",\s*(?:and|so|then|e|poi|quindi)\s")

# --- purposes of weak heads ----------------------------------------------------------------------------------------------

LESSON = Lazy(
    r"[^.!?\n:]{0,80}?\b(?:as|come)\s+(?:(?:an?|our|my|the|project|team|una?|nostra|mia|personal|general|new)\s+){0,3}"
    r"(?P<noun>[\w'-]+)(?:\s+(?:learned|learnt|for|per|of|di|del|imparata|appresa)\b|\s*[:.!,]|\s*$)"
)
INTO_MEMORY = Lazy(
    rf"(?P<what>\s*(?:[\w'-]+\s+){{0,8}}?)(?:to|in|into|a|ad|alla|alle|nella|nelle|nei|ai|all'|at)\s+(?P<where>{_MEMORY})\b"
    r"(?=\s*(?:[.!?;,:)\]¬-]|$|(?:that|che|the fact|il fatto|for|per|so|please|as|and|e|bank|mcp|how|what|why|come|"
    r"this|the|our|the following|questo|questa|quanto segue|la|il|le|i)\b))",
    needs=MEMORIES,
)
UPDATE_MEMORY = Lazy(rf"\s*(?:{_MEMORY})\s*(?:[:,.!]|$|(?:with|con|that|che|to say|so that|accordingly|di conseguenza)\b)")
A_MEMORY = Lazy(
    r"\s*(?:an?|new|this as a|una?|another)\s+(?:new |project |persistent |long-term |permanent )?(?:memory|memoria"
    r"|voce di memoria)"
    r"(?:\s+(?:entry|note|record|item|voce|nota))?\s*(?::|(?:that|saying|noting|stating|about|su|che)\b)"
)
RULE_BEFORE = Lazy(
    r"(?:^|[.!?\n]\s*)(?:please |per favore )?(?:(?:always|never|don't ever|do not ever|sempre|mai)\b"
    r"|non\b[^.!?\n]{1,120}\bmai\b)"
    r"[^.!?\n]{3,200}[.!]\s*\Z"
)
NOT_OURS = _words("""
    the a an this that these those it its each every any no he she they there all new only user users is are was were will would
    could can should must may might shall has have had needs means and or of in at on for with il lo la i gli le l un una
    uno ogni tutto tutta tutti tutte questo questa questi
    queste nessun nessuna nessuno chi si e sara saranno
""")  # begins what software or others will do from now on
COURTEOUS = _words("please per favore also anche and e ok")
DIRECTIVE = _words("""
    always never don't do stop use avoid prefer only answer reply respond call run write speak ask sempre mai non usa evita
    preferisci rispondi rispondimi chiama scrivi parla chiedi fai esegui lancia
""")

# --- what speaks against -------------------------------------------------------------------------------------------------

INTO = _words(
    "in into to on inside within as via with using nel nella nello nell nei nelle su sul sulla dentro con come"
)
PLACES = _words("""
    file files database db table tabella cache cookie cookies localstorage sessionstorage redis disk disco variable variables
    variabile variabili registry registro log logs column colonna field campo json csv yaml yml toml changelog readme adr
    doc docs
    documentation documento documentazione storage bucket keychain keyring state stato store context array list lista map dict
    dictionary queue coda env stack heap buffer ram annotation annotations annotazione annotazioni decorator decorators screen
    schermo schema struct url
""")  # of the software, not of the assistant
OTHERS = _words("""
    user users user's users' client clients customer customers visitor visitors player players
    browser utente utenti cliente clienti
    visitatore visitatori giocatore giocatori password checkbox device scroll cursor they them their he she his her
    dell'utente dall'utente all'utente l'utente
""")
NEGATIONS = _words(
    "not never no nobody without avoid stop cannot non mai evita evitare senza nessun nessuno nessuna smetti inutile neppure "
    "nemmeno dont doesnt didnt"
)
CONDITIONS = _words("""
    if when whenever once after before while unless until soon every se quando appena dopo mentre finche ogni should must will
    would can could may might needs has have deve devono dovrebbe dovrebbero puo possono potra where which who whose to
""")  # before a joint: what is joined to it is of the software, or a report
TO_YOU = Lazy(  # a condition of the conversation, not of the software
    r"\s*(?:(?:ok|and|also|then|now),? )?(?:(?:before|when|once|after) (?:you|you're|we|we're|i|i'm)\b|prima di\b"
    r"|(?:quando|appena) (?:hai|avrai|abbiamo)\b)"
)
ABOUT_WORDS = _words("""
    test tests testa testare testing tested testo text texts example examples esempio esempi fixture fixtures snippet snippets
    prompt prompts hook hooks phrase phrases frase frasi sentence sentences string strings stringa stringhe word words parola
    parole keyword keywords trigger triggers message messages messaggio messaggi translate translation traduci tradurre
    traduzione
    label labels etichetta etichette button pulsante bottone title titolo quote quotes quoted cita citazione say says said
    saying
    dice dicono scritto scritta copy output log logs error errors errore comment comments commento docstring email mail tweet
    paragraph paragrafo poem poesia story stories storia song canzone slogan placeholder tooltip banner regex pattern classifier
    detector rephrase rewrite riscrivi riformula correggi grammar grammatica spelling summarize summarise riassumi explain
    spiega
    user human assistant utente system customer input inputs transcript trascrizione dialogue dialogo conversation meaning
    significa means print stampa display show mostra respond rispondi criteria criteri spec specs specification specifica
    feature
    write scrivi scrivere insert inserisci put metti replace sostituisci rename rinomina footer header
    features funzionalita behavior behaviors behaviour behaviours comportamento comportamenti
""")  # talk about words, or about what software shall do: what it introduces is no wish
CITED = _words("""
    translate translation traduci say says saying dice dicono phrase frase sentence string stringa word parola text testo
    trigger
    prompt prompts button label example esempio
""")
IS_EXAMPLE = Lazy(
    r"\b(?:is|was|are|e|era|sono|sarebbe)\s+(?:(?:just|only|merely|solo|soltanto|an?|the|una?|uno|lo|la|il|our|one"
    r"|another)\s+){0,3}"
    r"(?:test|example|fixture|snippet|prompt|phrase|sentence|string|esempio|frase|stringa|citazione|quote|quotation"
    r"|placeholder)"
    r"(?:\s+(?:phrase|sentence|prompt|string|case|input|di (?:test|prova|esempio)))?\s*(?:[.!,;)]|$)",
    needs=(
        "test", "example", "fixture", "snippet", "prompt", "phrase", "sentence", "string", "esempio", "frase", "citazione",
        "quot", "placeholder",
    ),
)
QUOTED = Lazy(
    r'"""(?:.|\n){1,20000}?"""|(?<![\w"])"(?=[^\s"])(?:[^"\n]|\n(?![ ]*\n)){1,2000}"(?!\w)'
    r"|(?<![\w'])'(?=[^\s'])[^'\n]{1,200}(?<=\S)'(?!\w)"
)

# --- the way to a head ---------------------------------------------------------------------------------------------------

COURTESIES = frozenset(
    """
    please|pls|plz|kindly|quick|ok|okay|hey|hi|hello|oh|ah|also|and|then|so|but|now|btw|by the way|fyi|first|second|finally|
    lastly|just|important|one more thing|one last thing|one other thing|reminder|great|good|perfect|thanks|
    thank you|yes|yeah|no|right|actually|claude|codex|gemini|cursor|copilot|assistant|agent|team|again|always|instead|
    additionally|furthermore|therefore|hence|
    per favore|perfavore|per piacere|per cortesia|cortesemente|ti
    prego|ehi|ciao|allora|poi|e|ma|anche|inoltre|quindi|dunque|ora|
    adesso|mi raccomando|importante|una cosa|un'ultima cosa|ultima cosa|infine|prima|bene|perfetto|grazie|si|anzi|comunque|pero|
    sempre|nota|nb|ps|for later|per dopo
    """.replace("\n", "").replace("    ", "").split("|")
)
LONGEST_COURTESY = 3  # words
REQUEST = Lazy(
    r"(?:would you mind|(?:can|could|would|will|won't|can't) you(?: please| kindly| also| just)?(?: make sure (?:to|you))?|"
    r"(?:i want|i need|i'd like|i would like|i'll need|i'd love for|i expect|i ask) (?:for )?you to(?: also| please| always)?|"
    r"you(?: also| always)? (?:should|must|need to|have to|ought to|will|can)(?: also| always)?|let's|let us|"
    r"make sure (?:to|you|that you)(?: always)?|be sure (?:to|you)|try to|do|help me|"
    r"i'd appreciate it if you(?: could| would)?|(?:it's|it is) important (?:that you|to)|"
    r"(?:puoi|potresti|riesci a|sapresti|vorresti|devi|dovresti|dobbiamo|dovete|bisogna|occorre|conviene|ti chiedo"
    r"|ti chiederei|"
    r"ti prego|ti va|ti dispiace|cerca|assicurati|vedi|fai in modo|ricordati|e importante|e meglio|si prega|vi prego|"
    r"(?:voglio|vorrei|desidero|chiedo|gradirei|mi piacerebbe|mi servirebbe|e importante|e bene|serve|occorre|bisogna"
    r"|ho bisogno) che)"
    r"(?: (?:di|ti|tu|te lo|lo|ve|per favore|anche|te)){0,3})\s+",
    needs=(
        "you", "let", "sure", "try", "do", "help me", "it's", "it is", "puoi", "potresti", "riesci", "sapresti", "vorresti",
        "dev", "bisogna", "occorre", "conviene", "ti ", "cerca", "assicurati", "vedi", "fai", "ricordati", "importante",
        "meglio", "prego", "prega", " che",
    ),
)
ANNOUNCING = _words("""
    important importante note nota nb n.b ps p.s fyi thing cosa also reminder promemoria attenzione attention btw claude
    codex gemini cursor copilot agent ok okay memo favor favour favore request richiesta todo update up later dopo
""")  # the last word before a colon that announces the writer's own wish
BOUNDARY = Lazy(r"[.!?;:(¬|·]+[)\"'*_\x01]*\s+|\n+|\s-+\s|[(\[]")
BULLET = Lazy(r"\s*(?:(?:[-*·]|\d{1,3}[.)])\s+)?(?:\[[ x]\]\s+)?[*_~]*")
JOINT = Lazy(r",\s*(?:(?:and|but|so|then|e|ma|poi|quindi|anzi)\s+)?|\s(?:and|but|so|then|e|ma|poi|quindi)\s+(?:then\s+|poi\s+)?")
ANOTHER = Lazy(r"\n[ ]*\n[ ]*\S")  # paragraph follows
SENTENCE_END = Lazy(r"[.!?](?=[\s\x01)\"'*_]|$)|\n\s*(?:\n|[-*·]\s|\d+[.)]\s)")
SENTENCE_START = Lazy(r"[.!?\n;]\s")
GOES_ON = _words("should must will would can could may to and that which who che di a e deve puo the il la not non")
ASKS = _words("can could would will puoi potresti riesci va dispiace")
