"""Named values: parameters of tools, fields of JSON. Each has a name, a JSON type, a value, and words that state it."""
import re
from dataclasses import dataclass

from recipe.words import TRAIN, choose_part, garble, made_up_word, one_of
from sources import source
from values import code, date, email, name_word, person, place, thing, year
from vocabulary import REAL_WORDS, naming_word

# name: kind of value, phrases that state it in English, in German; the last of each is kept for the evaluation.
_KNOWN = {
    "city": ("place", "in {v}|for {v}|at {v}|within {v}|in the town of {v}|inside the city {v}|around {v}|over in {v}|in the city of {v}",
        "in {v}|für {v}|bei {v}|innerhalb von {v}|in der Gemeinde {v}|dort in {v}|rund um {v}|drüben in {v}|in der Stadt {v}"),
    "date": ("date", "on {v}|for {v}|dated {v}|set for {v}|dated to {v}|of the date {v}|due {v}|the day is {v}|on the date {v}",
        "am {v}|für den {v}|vom {v}|datiert {v}|mit Datum {v}|zum {v}|fällig am {v}|der Tag ist {v}|zum Datum {v}"),
    "recipient": ("person", "to {v}|addressed to {v}|directed at {v}|for the attention of {v}|with {v} as the one who gets it|the recipient is {v}|meant for {v}|the one to get it is {v}|to the recipient {v}",
        "an {v}|gerichtet an {v}|zu Händen {v}|für {v} bestimmt|Empfänger ist {v}|der Empfänger heißt {v}|gedacht für {v}|bekommen soll es {v}|an den Empfänger {v}"),
    "origin": ("place", "from {v}|starting in {v}|leaving {v}|the origin is {v}|coming out of {v}|departing {v}|beginning in {v}|with origin {v}|out of {v}",
        "von {v}|ab {v}|aus {v}|Herkunft {v}|kommend aus {v}|Start in {v}|beginnend in {v}|der Ursprung ist {v}|von {v} aus"),
    "owner": ("person", "owned by {v}|belonging to {v}|of {v}|whose owner is {v}|the owner being {v}|in the hands of {v}|a certain {v} owns it|the property of {v}|owned by a certain {v}",
        "im Besitz von {v}|von {v}|für {v}|dessen Besitzer {v} ist|Besitzer: {v}|es gehört zu {v}|in den Händen von {v}|Eigentum von {v}|gehört {v}"),
    "destination": ("place", "to {v}|towards {v}|going to {v}|heading for {v}|bound for {v}|with destination {v}|headed for {v}|the destination is {v}|headed to {v}",
        "nach {v}|bis {v}|Richtung {v}|Ziel {v}|unterwegs nach {v}|mit Ziel {v}|hin zu {v}|das Ziel ist {v}|hin nach {v}"),
    "time": ("time", "at {v}|by {v}|around {v}|when it is {v}|the time is {v}|at about {v}|not later than {v}|at a time of {v}|at the time {v}",
        "um {v}|bis {v}|gegen {v}|wenn es {v} ist|Uhrzeit {v}|etwa um {v}|spätestens {v}|die Zeit ist {v}|zur Zeit {v}"),
    "title": ("name", "titled {v}|called {v}|with the title {v}|under the title {v}|whose title is {v}|bearing the title {v}|it has the title {v}|entitled {v}|having the title {v}",
        "mit dem Titel {v}|namens {v}|betitelt {v}|mit Titel {v}|dessen Titel {v} ist|der Titel heißt {v}|überschrieben {v}|es trägt den Titel {v}|unter dem Titel {v}"),
    "year": ("year", "in {v}|from the year {v}|of {v}|of the year {v}|the year is {v}|made in the year {v}|year {v}|back in {v}|in the year {v}",
        "im Jahr {v}|aus dem Jahr {v}|von {v}|Jahr {v}|das Jahr ist {v}|im Jahre {v}|für {v}|anno {v}|für das Jahr {v}"),
    "sender": ("person", "from {v}|sent by {v}|written by {v}|that came from {v}|the sender is {v}|coming in from {v}|with {v} as the sender|mailed by {v}|coming from {v}",
        "von {v}|gesendet von {v}|geschickt von {v}|das von {v} kommt|Absender {v}|der Absender ist {v}|verschickt durch {v}|es kommt von {v}|kommt von {v}"),
    "email": ("email", "with the address {v}|reachable at {v}|via {v}|email {v}|the email is {v}|with email {v}|write to {v}|mail address {v}|with the email {v}",
        "mit der Adresse {v}|erreichbar unter {v}|über {v}|Mail {v}|die Mail ist {v}|mit E-Mail {v}|schreib an {v}|Mailadresse {v}|mit der Mail {v}"),
    "quantity": ("integer", "{v} times|{v} pieces|{v} of them|a total of {v}|{v} in number|as many as {v}|{v} units in all|the quantity is {v}|{v} units",
        "{v} Mal|{v} Stück|{v} davon|insgesamt {v}|{v} an der Zahl|so viele wie {v}|alles in allem {v} Einheiten|die Menge ist {v}|{v} Einheiten"),
    "name": ("person", "named {v}|for {v}|called {v}|the name is {v}|with the name {v}|known by the name {v}|who is called {v}|name: {v}|by the name of {v}",
        "namens {v}|für {v}|mit Namen {v}|der Name ist {v}|mit dem Namen {v}|bekannt unter dem Namen {v}|der {v} heißt|Name: {v}|unter dem Namen {v}"),
    "id": ("code", "with the number {v}|no. {v}|{v}|the number is {v}|number {v}|with id {v}|bearing the number {v}|id: {v}|numbered {v}",
        "mit der Nummer {v}|Nr. {v}|{v}|die Nummer ist {v}|Nummer: {v}|mit der Kennung {v}|es trägt die Nummer {v}|Kennung: {v}|Nummer {v}"),
    "start": ("date", "from {v}|starting on {v}|beginning {v}|the start is {v}|as of {v}|it starts on {v}|with {v} as the start|not before {v}|starting from {v}",
        "ab {v}|vom {v}|beginnend {v}|der Beginn ist {v}|ab dem {v}|es beginnt am {v}|mit Beginn {v}|nicht vor dem {v}|beginnend am {v}"),
    "color": ("colour", "in {v}|coloured {v}|painted {v}|the colour is {v}|of the colour {v}|with {v} colour|{v} coloured|in {v} colour|of {v} colour",
        "in {v}|gefärbt {v}|gestrichen {v}|die Farbe ist {v}|Farbe {v}|von der Farbe {v}|mit {v} als Farbe|farblich {v}|in der Farbe {v}"),
    "age": ("integer", "aged {v}|{v} years old|at age {v}|whose age is {v}|with an age of {v}|who is {v} years of age|at the age of {v}|age {v}|of age {v}",
        "{v} Jahre alt|im Alter {v}|mit {v} Jahren|das Alter ist {v}|Alter {v}|mit einem Alter von {v}|der {v} Jahre zählt|im {v}. Jahr|im Alter von {v}"),
    "price": ("number", "for {v}|at a price of {v}|costing {v}|the price is {v}|price {v}|with {v} as the price|worth {v}|that is priced {v}|priced at {v}",
        "für {v}|zum Preis von {v}|kostet {v}|der Preis ist {v}|Preis {v}|mit {v} als Preis|wert {v}|im Preis {v}|zum Preis {v}"),
    "end": ("date", "until {v}|ending on {v}|up to {v}|the end is {v}|it ends on {v}|no later than {v}|with {v} as the end|finishing {v}|ending {v}",
        "bis {v}|endet {v}|bis zum {v}|das Ende ist {v}|es endet zum {v}|nicht nach dem {v}|mit Ende {v}|Schluss am {v}|endet am {v}"),
    "country": ("place", "in the country {v}|in {v}|within {v}|the country is {v}|country {v}|somewhere in the country of {v}|from inside {v}|in a country called {v}|inside the country {v}",
        "im Land {v}|in {v}|aus {v}|das Land ist {v}|Land {v}|irgendwo im Staat {v}, dem Land|innerhalb des Landes {v}|in einem Land namens {v}|im Staat {v}"),
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
           "{v} for the {p}", "the {p} should be {v}", "{p} being {v}", "using {v} as its {p}", "and its {p} is {v}", "whose {p} is {v}", "that has {v} as {p}", "set {p} to {v}", "make the {p} {v}", "the {p} must be {v}",
           "{v} is the {p}", "its {p}: {v}", "with a {p} of {v}", "having {p} {v}", "and for the {p} take {v}", "the {p} of which is {v}", "{p} would be {v}", "({p} {v})", "give it the {p} {v}", "with {v} for a {p}",
           "and the {p} will be {v}", "under {p} {v}", "let the {p} be {v}", "and {p} equals {v}", "where the {p} reads {v}", "take {v} as {p}", "I mean {p} {v}", "and its {p} should be {v}", "by {p} {v}",
           "given {v} as its {p}", "for {p} use {v}", "the {p} has to be {v}", "and {p} will be {v}", "its {p} being {v}", "and {v} is what the {p} is"],
    "de": ["{p} {v}", "mit {p} {v}", "{v} als {p}", "{p}: {v}", "{p} ist {v}", "{p} = {v}", "mit der Angabe {p} {v}", "und {v} als {p}", "wobei {p} {v} ist", "als {p} {v}",
           "{v} für {p}", "{p} soll {v} sein", "{p} lautet {v}", "nimm {v} als {p}", "und für {p} nimm {v}", "deren {p} {v} ist", "das {v} als {p} hat", "setze {p} auf {v}", "dabei {p} {v}", "{p} muss {v} sein",
           "{v} ist {p}", "und zwar {p} {v}", "mit einem Wert {p} von {v}", "bei {p} steht {v}", "und unter {p} steht {v}", "{p} wäre {v}", "({p} {v})", "gib {p} den Wert {v}", "und {p} ist {v}", "wobei für {p} {v} gilt",
           "und bei {p} {v}", "unter {p} {v}", "sowie {p} {v}", "nimm für {p} {v}", "und {p} lautet dann {v}", "{v} steht für {p}", "ich meine {p} {v}", "und als {p} gilt {v}", "mit {p} gleich {v}", "dazu {v} als {p}",
           "für {p} gilt {v}", "als {p} bitte {v}", "{p} hat den Wert {v}", "und {v} für {p}", "wo {p} mit {v} angegeben ist"],
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
    return _slot(rng, part, language, name, kind_schema, value, rng.choice(own) if rng.random() < 0.7 else one_of(rng, part, _GENERIC[language]))


def _generic(rng, part, language):
    nouns = choose_part(_NOUNS, part)
    unknown = lambda: naming_word(rng, part, language).lower()
    noun = rng.choice(nouns) if rng.random() < (0.4 if part == TRAIN else 0.6) else unknown()
    label = f"{rng.choice(nouns) if rng.random() < 0.5 else unknown()} {noun}" if rng.random() < 0.3 else noun
    kind = next((kind for kind, names in _NOUN_KINDS.items() if noun in names), None)
    kind = kind or rng.choice(("integer", "number", "place", "person", "name", "code", "date", "word", "thing", "choice", "list", "year"))
    value, schema = typed_value(rng, part, language, kind)
    words = label.split()
    name = "_".join(words) if rng.random() < 0.7 else words[0] + "".join(map(str.capitalize, words[1:]))
    return _slot(rng, part, language, name, schema, value, one_of(rng, part, _GENERIC[language]), label)


def _slot(rng, part, language, name, schema, value, template, label=None):
    label = label or name
    spoken = " and ".join((", ".join(value[:-1]), value[-1])) if isinstance(value, list) else str(value)
    if rng.random() < 0.6:
        schema = schema | {"description": rng.choice((f"The {label}", f"{label.capitalize()}", f"{label} to use", f"Which {label} it is"))}
    return Slot(name, schema, value, garble(rng, part, template, 0.3, REAL_WORDS[language]).format(p=label if rng.random() < 0.8 else name, v=spoken), rng.random() < 0.8)


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
        if part == TRAIN and rng.random() < 0.5:
            options = list(dict.fromkeys(naming_word(rng, part, language).lower() for _ in range(3)))
        return rng.choice(options), {"type": "string", "enum": options}
    if kind == "list":
        return [name_word(rng, part) for _ in range(rng.randint(2, 3))], {"type": "array", "items": {"type": "string"}}
    makers = {
        "place": lambda: place(rng, part), "person": lambda: person(rng, part), "code": lambda: code(rng), "date": lambda: date(rng, language),
        "word": lambda: made_up_word(rng, part), "thing": lambda: thing(rng, part, language), "name": lambda: name_word(rng, part),
        "email": lambda: email(rng, part), "time": lambda: f"{rng.randint(0, 23)}:{rng.randint(0, 59):02}",
        "colour": lambda: rng.choice("red blue green yellow black white grey orange purple brown".split()),
    }  # fmt: skip
    return makers[kind](), {"type": "string"}
