"""Tool calling: tools never seen before, messages that one of them fits or none, results, and what to say about them."""
import copy
import json
import re
from typing import NamedTuple

from recipe.words import EVAL, TRAIN, articles, capital, choose_part, made_up_word, one_of, put_together, up_to
from slots import make_slots, restated, value_sources
from small_talk import small_talk_turn
from sources import source
from tool_phrasings import (AFTER, BEFORE, DESCRIPTION_CORES, DESCRIPTION_ENDINGS, DESCRIPTION_OPENINGS, DESCRIPTIONS, LOOK_UP_CORES, LOOK_UP_ENDINGS,
                            LOOK_UP_OPENINGS, LOOK_UPS, REQUEST_CORES, REQUEST_ENDINGS, REQUEST_OPENINGS, REQUESTS)  # fmt: skip
from values import name_word
from vocabulary import garble, naming_word, other_ending, other_words

NO_TOOL = {"en": "I have no tool for that.", "de": "Dafür habe ich kein Werkzeug."}
RESULT = {"en": "Result: ", "de": "Ergebnis: "}

_VERBS = {
    "en": (
        "get find create delete update send book cancel list search compute convert schedule start stop open close lock unlock order "
        "translate play add remove check track reserve rename move copy archive print assign approve reject publish download upload "
        "measure fetch show read write build sort merge split count test scan pay refund ship pack rent sell buy draw paint clean repair "
        "register invite remind notify plan compare query view display inspect retrieve lookup see browse describe "
        "reset restart pause resume toggle validate export import sync backup restore"
    ).split(),
    "de": (
        "suche erstelle lösche sende buche storniere zeige berechne plane starte stoppe öffne schließe sperre bestelle übersetze spiele "
        "entferne prüfe verfolge reserviere verschiebe kopiere archiviere drucke genehmige lade messe lies schreibe sortiere zähle teste "
        "bezahle hole finde nenne betrachte verkaufe kaufe zeichne reinige repariere registriere erinnere vergleiche exportiere importiere"
    ).split(),
}
_NOUNS = {
    "en": (
        "weather ticket invoice meeting flight hotel room table order package parcel message email note task reminder calendar event alarm timer "
        "song playlist movie book article file folder image photo video map route traffic train bus taxi car bike ship door window light lamp heater "
        "thermostat camera printer sensor server database backup account user password contact customer product price stock currency payment refund loan "
        "budget report chart survey form contract license patient doctor recipe ingredient menu course student exam grade lesson plant tree garden river "
        "robot drone satellite engine battery pump valve tank warehouse shelf label barcode translation definition synonym poem joke news score match team"
    ).split(),
    "de": (
        "Wetter Ticket Rechnung Treffen Flug Hotel Zimmer Tisch Bestellung Paket Nachricht Notiz Aufgabe Erinnerung Kalender Wecker Lied Film Buch Artikel "
        "Datei Ordner Bild Karte Route Zug Bus Taxi Auto Fahrrad Schiff Tür Fenster Licht Heizung Kamera Drucker Sensor Server Datenbank Konto Passwort "
        "Kontakt Kunde Produkt Preis Bestand Währung Zahlung Kredit Bericht Umfrage Vertrag Patient Rezept Zutat Kurs Prüfung Pflanze Roboter Drohne "
        "Motor Batterie Pumpe Ventil Lager Regal Etikett Spiel"
    ).split(),
}
# What looks something up is also asked for without its verb, where no other tool is about the same.
_LOOK_UP_VERBS = (
    "get find search show fetch check read list query view display inspect retrieve lookup see browse describe suche zeige prüfe lies "
    "hole finde nenne betrachte"
).split()


class _Turns(NamedTuple):
    """How many turns a conversation has, the share of them that call a tool, of those that ask for one that is not there, and of calls
    whose result is told."""

    counts: tuple
    calls: float
    foreign: float
    results: float


# In training a list of tools serves many calls, and what is learned soon is less.
_TURNS = {TRAIN: _Turns((2, 3, 4, 5, 6), 0.74, 0.19, 0.45), EVAL: _Turns((1, 2, 2, 3), 0.62, 0.23, 0.75)}
_SYSTEMS = ["", "", "You are a helpful assistant.", "Use the tools when they help.", "Call a tool if one fits.", "You can call functions.", "Du bist ein hilfreicher Assistent."]


def listed_names():
    """The words of the lists of names, of both parts."""
    return [word for words in (*_VERBS.values(), *_NOUNS.values()) for word in words]


class _Tool:
    def __init__(self, rng, part, language, verb, noun):
        self.verb, self.noun = verb, noun
        # A verb that was never seen may be one that looks something up, too.
        self.looks_up = verb in _LOOK_UP_VERBS or (verb not in _VERBS[language] and rng.random() < 0.4)
        self.slots = make_slots(rng, part, language, rng.choice((0, 1, 1, 2, 2, 3, 4)))
        v, n = verb.lower(), _ascii(noun.lower())
        v = _ascii(v)
        self.name = rng.choice((f"{v}_{n}", f"{v}_{n}", f"{v}{n.capitalize()}", f"{n}_{v}", f"{v}-{n}"))
        words = {"v": verb, "V": verb.capitalize(), "Vs": _third_person(verb), "n": noun}
        self.description = _filled(rng, part, language, _description(rng, part, language), words)

    def definition(self):
        function = {"name": self.name, "description": self.description}
        properties = {slot.name: slot.schema for slot in self.slots}
        required = [slot.name for slot in self.slots if slot.required]
        function["parameters"] = {"type": "object", "properties": properties, "required": required}
        return {"type": "function", "function": function}

    def restated(self, rng, part, language):
        """The same tool, to be called with other arguments."""
        again = copy.copy(self)
        again.slots = restated(rng, part, language, self.slots)
        return again

    def request(self, rng, part, language, others=()):
        """(message, arguments): optional parameters are sometimes left out of both. `others`: the tools beside it."""
        given = [slot for slot in self.slots if slot.required or rng.random() < 0.5]
        stated = given if rng.random() < 0.5 else rng.sample(given, len(given))
        joiner = rng.choice((" ", ", ", " and " if language == "en" else " und ", ", "))
        words = {"v": self.verb, "V": self.verb.capitalize(), "n": self.noun, "s": "{s}"}
        unique = self.looks_up and all(tool.noun != self.noun for tool in others if tool.name != self.name)
        text = _look_up(rng, part, language) if unique and rng.random() < 0.6 else _request(rng, part, language)
        text = _filled(rng, part, language, text, words).replace("{s}", joiner.join(slot.phrase for slot in stated))
        # Where nothing is stated.
        text = re.sub(r" {2,}", " ", re.sub(r"[\s,:]+(?=[.,!?]|$)", "", text))
        if rng.random() < 0.4:
            text = one_of(rng, part, BEFORE[language]) + text + one_of(rng, part, AFTER[language])
        if part == TRAIN and rng.random() < 0.12:
            text = f"{other_words(rng, language)} {text}"
        if part == TRAIN and rng.random() < 0.12:
            text += other_ending(rng, language)
        return text, {slot.name: slot.value for slot in given}


def _filled(rng, part, language, template, words):
    return articles(garble(rng, part, language, template, 0.3).format(**words), language)


def _description(rng, part, language):
    """The phrasing of a description: a written one, or one put together."""
    if rng.random() < 0.3:
        return one_of(rng, part, DESCRIPTIONS[language])
    opening, core, ending = _parts(rng, part, language, DESCRIPTION_OPENINGS, DESCRIPTION_CORES, DESCRIPTION_ENDINGS)
    if not opening and language == "en":
        core = core.replace("{v}", "{Vs}")
    return put_together(rng, opening, core, ending, _begun)


def _request(rng, part, language):
    """The phrasing of a request: a written one, or one put together."""
    if rng.random() < 0.3:
        return one_of(rng, part, REQUESTS[language])
    return put_together(rng, *_parts(rng, part, language, REQUEST_OPENINGS, REQUEST_CORES, REQUEST_ENDINGS), _begun)


def _look_up(rng, part, language):
    """The same for one that names no verb."""
    if rng.random() < 0.4:
        return one_of(rng, part, LOOK_UPS[language])
    return put_together(rng, *_parts(rng, part, language, LOOK_UP_OPENINGS, LOOK_UP_CORES, LOOK_UP_ENDINGS), _begun)


def _parts(rng, part, language, *lists):
    return [one_of(rng, part, each[language]) for each in lists]


def _begun(phrasing):
    """With a capital letter."""
    return phrasing.replace("{v}", "{V}", 1) if phrasing.startswith("{v}") else capital(phrasing)


def tool_conversation(rng, part, language, difficulty=1.0):
    """(messages, tools). Turns call a tool, or answer in words where none fits."""
    tools = _tools(rng, part, language, up_to(rng, (1, 2, 3, 3, 4, 5), difficulty))
    system = rng.choice(_SYSTEMS)
    messages = [{"role": "system", "content": system}] if system else []
    unused = rng.sample(tools, len(tools))
    turns = _TURNS[part]
    for _ in range(rng.choice(turns.counts)):
        chance = rng.random()
        if chance < turns.calls and (unused or part == TRAIN):
            tool = unused.pop() if unused else rng.choice(tools).restated(rng, part, language)
            messages += _call_turn(rng, part, language, tool, tools)
        elif chance < turns.calls + turns.foreign:
            text, _ = _foreign_tool(rng, part, language, tools).request(rng, part, language)
            messages += [{"role": "user", "content": text}, {"role": "assistant", "kind": "no_call", "content": NO_TOOL[language]}]
        else:
            # Beside tools, a request that none fits is answered as above, whatever it asks for.
            said, answer = small_talk_turn(rng, part, language, other_requests=0)
            messages += [{"role": "user", "content": said}, {"role": "assistant", "kind": "talk", "content": answer}]
    return messages, [tool.definition() for tool in tools]


def _tools(rng, part, language, count):
    """Tools of which no two do the same; some share their verb or their noun."""
    tools, done = [], set()
    while len(tools) < count:
        verb, noun = _verb(rng, part, language), _noun(rng, part, language)
        if tools and rng.random() < 0.4:
            verb, noun = (verb, tools[-1].noun) if rng.random() < 0.5 else (tools[-1].verb, noun)
        if (verb, noun) not in done:
            done.add((verb, noun))
            tools.append(_Tool(rng, part, language, verb, noun))
    return rng.sample(tools, count)


def _foreign_tool(rng, part, language, tools):
    """A tool that is not offered: its noun is another one, and often its verb too."""
    while True:
        noun = _noun(rng, part, language)
        if noun not in [tool.noun for tool in tools]:
            verb = rng.choice(tools).verb if rng.random() < 0.4 else _verb(rng, part, language)
            return _Tool(rng, part, language, verb, noun)


def _call_turn(rng, part, language, tool, tools):
    text, arguments = tool.request(rng, part, language, tools)
    heading, given = f"## {tool.name}: ", [slot for slot in tool.slots if slot.name in arguments]
    called = source(tool.name, heading, f'\n= "{tool.name}"', name=tool.verb, thing=tool.noun, reach=400)
    sources = [called, *value_sources(given, text, lambda slot: source(slot.name, heading, f'\n- "{slot.name}" ('))]
    call = {"type": "function", "function": {"name": tool.name, "arguments": arguments}}
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "kind": "call", "content": "", "tool_calls": [call], "sources": sources},
    ]
    if rng.random() < _TURNS[part].results:
        content, answer = _result(rng, part, language)
        messages += [{"role": "tool", "content": content}, {"role": "assistant", "kind": "result", "content": answer}]
    return messages


def _result(rng, part, language):
    if rng.random() < 0.25:
        text = " ".join(name_word(rng, part) if rng.random() < 0.3 else made_up_word(rng, part) for _ in range(rng.randint(1, 5)))
        return text, f"{RESULT[language]}{text}."
    values = {slot.name: slot.value for slot in make_slots(rng, part, language, rng.randint(1, 3)) if not isinstance(slot.value, list)}
    values = values or {"ok": "yes"}
    told = ", ".join(f"{name} {value}" for name, value in values.items())
    return json.dumps(values, ensure_ascii=False), f"{RESULT[language]}{told}."


def _verb(rng, part, language):
    if rng.random() < (0.45 if part == TRAIN else 0.2):
        return naming_word(rng, part, language).lower()
    look_up = rng.random() < 0.4
    verbs = choose_part(_VERBS[language], part)
    return rng.choice([verb for verb in verbs if not look_up or verb in _LOOK_UP_VERBS] or verbs)


def _noun(rng, part, language):
    if rng.random() < (0.45 if part == TRAIN else 0.65):
        return rng.choice(choose_part(_NOUNS[language], part))
    word = naming_word(rng, part, language)
    return capital(word) if language == "de" else word


def _third_person(verb):
    ending = "es" if verb.endswith(("ch", "sh", "s", "x")) else "ies" if verb.endswith("y") and verb[-2] not in "aeou" else "s"
    return (verb[:-1] + ending if ending == "ies" else verb + ending).capitalize()


def _ascii(word):
    return word.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss")
