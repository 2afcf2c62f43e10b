"""Named values: parameters of tools, fields of JSON. Each has a name, a JSON type, a value, and words that state it."""
import re
from dataclasses import dataclass

from recipe.words import TRAIN, choose_part, every_fifth, garble, made_up_word
from sources import source
from values import code, contact, date, name_word, person, place, thing, year

# name: kind of value, phrases that state it in English, in German; the last of each is kept for the evaluation.
_KNOWN = {
    "city": ("place", "in {v}|for {v}|at {v}|in the city of {v}", "in {v}|für {v}|bei {v}|in der Stadt {v}"),
    "date": ("date", "on {v}|for {v}|dated {v}|on the date {v}", "am {v}|für den {v}|vom {v}|zum Datum {v}"),
    "recipient": ("person", "to {v}|addressed to {v}|directed at {v}|to the recipient {v}", "an {v}|gerichtet an {v}|zu Händen {v}|an den Empfänger {v}"),
    "origin": ("place", "from {v}|starting in {v}|leaving {v}|out of {v}", "von {v}|ab {v}|aus {v}|von {v} aus"),
    "owner": ("person", "owned by {v}|belonging to {v}|of {v}|owned by a certain {v}", "im Besitz von {v}|von {v}|für {v}|gehört {v}"),
    "destination": ("place", "to {v}|towards {v}|going to {v}|headed to {v}", "nach {v}|bis {v}|Richtung {v}|hin nach {v}"),
    "time": ("time", "at {v}|by {v}|around {v}|at the time {v}", "um {v}|bis {v}|gegen {v}|zur Zeit {v}"),
    "title": ("name", "titled {v}|called {v}|with the title {v}|having the title {v}", "mit dem Titel {v}|namens {v}|betitelt {v}|unter dem Titel {v}"),
    "year": ("year", "in {v}|from the year {v}|of {v}|in the year {v}", "im Jahr {v}|aus dem Jahr {v}|von {v}|für das Jahr {v}"),
    "sender": ("person", "from {v}|sent by {v}|written by {v}|coming from {v}", "von {v}|gesendet von {v}|geschickt von {v}|kommt von {v}"),
    "email": ("contact", "with the address {v}|reachable at {v}|via {v}|with the email {v}", "mit der Adresse {v}|erreichbar unter {v}|über {v}|mit der Mail {v}"),
    "quantity": ("integer", "{v} times|{v} pieces|{v} of them|{v} units", "{v} Mal|{v} Stück|{v} davon|{v} Einheiten"),
    "name": ("person", "named {v}|for {v}|called {v}|by the name of {v}", "namens {v}|für {v}|mit Namen {v}|unter dem Namen {v}"),
    "id": ("code", "with the number {v}|no. {v}|{v}|numbered {v}", "mit der Nummer {v}|Nr. {v}|{v}|Nummer {v}"),
    "start": ("date", "from {v}|starting on {v}|beginning {v}|starting from {v}", "ab {v}|vom {v}|beginnend {v}|beginnend am {v}"),
    "color": ("colour", "in {v}|coloured {v}|painted {v}|of {v} colour", "in {v}|gefärbt {v}|gestrichen {v}|in der Farbe {v}"),
    "age": ("integer", "aged {v}|{v} years old|at age {v}|of age {v}", "{v} Jahre alt|im Alter {v}|mit {v} Jahren|im Alter von {v}"),
    "price": ("number", "for {v}|at a price of {v}|costing {v}|priced at {v}", "für {v}|zum Preis von {v}|kostet {v}|zum Preis {v}"),
    "end": ("date", "until {v}|ending on {v}|up to {v}|ending {v}", "bis {v}|endet {v}|bis zum {v}|endet am {v}"),
    "country": ("place", "in the country {v}|in {v}|within {v}|inside the country {v}", "im Land {v}|in {v}|aus {v}|im Staat {v}"),
}
_NOUNS = (
    "amount priority room floor gate seat label topic category tag status reason message note comment subject table branch budget "
    "limit volume brightness temperature distance weight height width length speed score rank size level page line column row "
    "section chapter station platform region street customer patient student driver guest author supplier product item model brand "
    "device sensor channel project task team department invoice account currency language format version port host path folder file "
    "duration interval deadline delay percent discount tax total balance rate"
).split()
_NOUN_KINDS = {
    "integer": "amount room floor gate seat limit volume brightness score rank level page line column row chapter platform percent discount port interval".split(),
    "number": "budget temperature distance weight height width length speed tax total balance rate".split(),
}
_GENERIC = {
    "en": ["{p} {v}", "with {p} {v}", "{v} as {p}", "{p}: {v}", "the {p} is {v}", "{p} = {v}", "with the {p} {v}", "and {v} as the {p}", "where {p} is {v}", "taking {v} for {p}",
           "{v} for the {p}", "the {p} should be {v}", "{p} being {v}", "using {v} as its {p}", "and its {p} is {v}"],
    "de": ["{p} {v}", "mit {p} {v}", "{v} als {p}", "{p}: {v}", "{p} ist {v}", "{p} = {v}", "mit der Angabe {p} {v}", "und {v} als {p}", "wobei {p} {v} ist", "als {p} {v}",
           "{v} für {p}", "{p} soll {v} sein", "{p} lautet {v}", "nimm {v} als {p}", "und für {p} nimm {v}"],
}  # fmt: skip
_CHOICES = "low high medium small large fast slow daily weekly monthly open closed public private draft final north south east west metric imperial hot cold left right".split()


@dataclass
class Slot:
    name: str
    schema: dict
    value: object
    phrase: str
    required: bool = True

    @property
    def word(self):
        """The last word of its name, as it stands in phrases."""
        return re.findall(r"[A-Z]?[^_A-Z]+", self.name)[-1]


def make_slots(rng, part, language, count):
    """Slots with different names whose values differ."""
    slots = {}
    while len(slots) < count:
        slot = _known(rng, part, language) if rng.random() < 0.45 else _generic(rng, part, language)
        if slot.value not in [other.value for other in slots.values()]:
            slots.setdefault(slot.name, slot)
    return list(slots.values())


def _known(rng, part, language):
    name = rng.choice(list(_KNOWN))
    kind, *phrases = _KNOWN[name]
    value, kind_schema = typed_value(rng, part, language, kind)
    own = phrases[language == "de"].split("|")
    own = own[:-1] if part == TRAIN else own[-1:]
    return _slot(rng, part, name, kind_schema, value, rng.choice(own if rng.random() < 0.7 else every_fifth(_GENERIC[language], part)))


def _generic(rng, part, language):
    nouns = choose_part(_NOUNS, part)
    noun = rng.choice(nouns) if rng.random() < 0.6 else made_up_word(rng, part)
    label = f"{rng.choice(nouns) if rng.random() < 0.5 else made_up_word(rng, part)} {noun}" if rng.random() < 0.3 else noun
    kind = next((kind for kind, names in _NOUN_KINDS.items() if noun in names), None)
    kind = kind or rng.choice(("integer", "number", "place", "person", "name", "code", "date", "word", "thing", "choice", "list", "year"))
    value, schema = typed_value(rng, part, language, kind)
    words = label.split()
    name = "_".join(words) if rng.random() < 0.7 else words[0] + "".join(map(str.capitalize, words[1:]))
    return _slot(rng, part, name, schema, value, rng.choice(every_fifth(_GENERIC[language], part)), label)


def _slot(rng, part, name, schema, value, template, label=None):
    label = label or name
    spoken = " and ".join((", ".join(value[:-1]), value[-1])) if isinstance(value, list) else str(value)
    if rng.random() < 0.6:
        schema = schema | {"description": rng.choice((f"The {label}", f"{label.capitalize()}", f"{label} to use", f"Which {label} it is"))}
    return Slot(name, schema, value, garble(rng, part, template, 0.3).format(p=label if rng.random() < 0.8 else name, v=spoken), rng.random() < 0.8)


def value_sources(slots, text, name_source=lambda slot: None):
    """Where the values of the slots stand in the text that states them, and their names in what `name_source` says."""
    sources = []
    for slot in slots:
        said = slot.value if isinstance(slot.value, list) else [str(slot.value)]
        sources += [name_source(slot), *(source(value, text, slot.phrase, name=slot.word) for value in said)]
    return sources


def typed_value(rng, part, language, kind):
    """(value, JSON schema)"""
    if kind == "integer":
        return rng.randint(1, 10 ** rng.randint(1, 5)), {"type": "integer"}
    if kind == "number":
        whole = rng.randint(1, 10 ** rng.randint(1, 4))
        return (whole + rng.randint(1, 9) / 10 if rng.random() < 0.4 else whole), {"type": "number"}
    if kind == "year":
        return (int(year(rng)), {"type": "integer"}) if rng.random() < 0.6 else (year(rng), {"type": "string"})
    if kind == "choice":
        options = rng.sample(choose_part(_CHOICES, part), 3)
        return rng.choice(options), {"type": "string", "enum": options}
    if kind == "list":
        return [name_word(rng, part) for _ in range(rng.randint(2, 3))], {"type": "array", "items": {"type": "string"}}
    makers = {
        "place": lambda: place(rng, part), "person": lambda: person(rng, part), "code": lambda: code(rng), "date": lambda: date(rng, language),
        "word": lambda: made_up_word(rng, part), "thing": lambda: thing(rng, part, language), "name": lambda: name_word(rng, part),
        "contact": lambda: contact(rng, part), "time": lambda: f"{rng.randint(0, 23)}:{rng.randint(0, 59):02}",
        "colour": lambda: rng.choice("red blue green yellow black white grey orange purple brown".split()),
    }  # fmt: skip
    return makers[kind](), {"type": "string"}
