"""Named values: parameters of tools, fields of JSON. Each has a name, a JSON type, a value, and words that state it."""
import re
from dataclasses import dataclass, replace

from recipe.words import EVAL, TRAIN, articles, capital, choose_part, every_fifth, made_up_word, one_of
from sources import source
from values import acronym, code, date, email, name_word, person, place, thing, year
from vocabulary import REAL_WORDS, blend, garble, naming_word

# name: kind of value, phrases that state it in English, in German; the last of each is kept for the evaluation.
_KNOWN = {
    "city": ("place", "in {v}|for {v}|at {v}|within {v}|in the town of {v}|inside the city {v}|around {v}|over in {v}|lives in {v}|based in {v}|living in {v}|in the city of {v}",
        "in {v}|für {v}|bei {v}|innerhalb von {v}|in der Gemeinde {v}|dort in {v}|rund um die Stadt {v}|drüben in {v}|wohnt in {v}|lebt in {v}|sitzt in {v}|in der Stadt {v}"),
    "date": ("date", "on {v}|for {v}|dated {v}|set for {v}|dated to {v}|of the date {v}|due {v}|the day is {v}|it is on {v}|to be done on {v}|on the date {v}",
        "am {v}|für den {v}|vom {v}|datiert {v}|mit Datum {v}|zum {v}|fällig am {v}|der Tag ist {v}|es ist am {v}|zu tun am {v}|zum Datum {v}"),
    "recipient": ("person", "to {v}|addressed to {v}|directed at {v}|for the attention of {v}|with {v} as the one who gets it|the recipient is {v}|meant for {v}|the one to get it is {v}|goes to {v}|send it to {v}|to the recipient {v}",
        "an {v}|gerichtet an {v}|zu Händen {v}|für {v} bestimmt|Empfänger ist {v}|der Empfänger heißt {v}|gedacht für den Empfänger {v}|bekommen soll es {v}|geht an {v}|schick es an {v}|an den Empfänger {v}"),
    "from_city": ("place", "from {v}|starting in {v}|leaving {v}|coming out of {v}|departing {v}|beginning in {v}|setting out from {v}|with {v} as the first stop|leaves from {v}|out of {v}",
        "von {v}|ab {v}|aus {v}|kommend aus {v}|Start in {v}|beginnend in {v}|los geht es in {v}|ausgehend von {v}|fährt ab {v}|von {v} aus"),
    "holder": ("person", "held by {v}|belonging to {v}|of {v}|whose holder is {v}|the holder being {v}|in the hands of {v}|a certain {v} holds it|the property of {v}|owned by {v}|{v} owns it|held by a certain {v}",
        "in den Händen von {v}|von {v}|dessen Inhaber {v} ist|Inhaber: {v}|es gehört zu {v}|es gehört dem Inhaber {v}|Eigentum von {v}|der Inhaber heißt {v}|besessen von {v}|{v} besitzt es|gehört {v}"),
    "to_city": ("place", "to {v}|towards {v}|going to {v}|heading for {v}|bound for {v}|all the way to {v}|headed for {v}|with {v} as the last stop|goes to {v}|arriving in {v}|headed to {v}",
        "nach {v}|bis {v}|Richtung {v}|unterwegs nach {v}|bis nach {v}|hin zu {v}|auf dem Weg nach {v}|der letzte Halt ist {v}|fährt nach {v}|kommt an in {v}|hin nach {v}"),
    "time": ("time", "at {v}|by {v}|around {v}|when it is {v}|the time is {v}|at about {v}|not later than {v}|at a time of {v}|starting at {v}|it is {v}|at the time {v}",
        "um {v}|bis {v}|gegen {v}|wenn es {v} ist|zur Uhrzeit {v}|etwa um {v}|spätestens {v}|die Zeit ist {v}|Beginn um {v}|es ist {v}|zur Zeit {v}"),
    "title": ("name", "titled {v}|called {v}|with the title {v}|under the title {v}|whose title is {v}|bearing the title {v}|having {v} as the title|entitled {v}|the title {v}|it is titled {v}|having the title {v}",
        "mit dem Titel {v}|namens {v}|betitelt {v}|mit Titel {v}|dessen Titel {v} ist|der Titel heißt {v}|unter der Überschrift {v}|es trägt den Titel {v}|Titel {v}|es heißt {v}|unter dem Titel {v}"),
    "year": ("year", "in {v}|from the year {v}|of {v}|of the year {v}|the year is {v}|made in the year {v}|year {v}|back in {v}|built in {v}|it was {v}|in the year {v}",
        "im Jahr {v}|aus dem Jahr {v}|von {v}|Jahr {v}|das Jahr ist {v}|im Jahre {v}|für {v}|anno {v}|gebaut {v}|es war {v}|für das Jahr {v}"),
    "sender": ("person", "from {v}|sent by {v}|written by {v}|that came from {v}|the sender is {v}|coming in from {v}|with {v} as the sender|mailed by {v}|{v} wrote it|a letter from {v}|coming from {v}",
        "von {v}|gesendet von {v}|geschickt von {v}|das von {v} kommt|Absender {v}|der Absender ist {v}|verschickt durch {v}|es kommt von {v}|{v} schrieb es|ein Brief von {v}|kommt von {v}"),
    "email": ("email", "with the address {v}|reachable at {v}|via {v}|email {v}|the email is {v}|with email {v}|write to {v}|mail address {v}|mail to {v}|at {v}|contact {v}|with the email {v}",
        "mit der Adresse {v}|erreichbar unter {v}|über {v}|Mail {v}|die Mail ist {v}|mit E-Mail {v}|schreib an {v}|Mailadresse {v}|Mail an {v}|unter {v}|Kontakt {v}|mit der Mail {v}"),
    "quantity": ("integer", "{v} times|{v} pieces|{v} of them|a total of {v}|{v} in number|as many as {v}|{v} units in all|the quantity is {v}|{v} boxes|{v} copies of it|we take {v}|{v} units",
        "{v} Mal|{v} Stück|{v} davon|insgesamt {v}|{v} an der Zahl|so viele wie {v}|alles in allem {v} Einheiten|die Menge ist {v}|{v} Kisten|{v} Exemplare davon|wir nehmen {v}|{v} Einheiten"),
    "name": ("person", "named {v}|for {v}|called {v}|the name is {v}|with the name of {v}|known by the name {v}|who is called {v}|name: {v}|{v}|it is {v}|this is {v}|by the name of {v}",
        "namens {v}|für {v}|mit Namen {v}|der Name ist {v}|mit dem Namen {v}|bekannt unter dem Namen {v}|der {v} heißt|Name: {v}|{v}|es ist {v}|das ist {v}|unter dem Namen {v}"),
    "id": ("code", "with the number {v}|no. {v}|{v}|the number is {v}|number {v}|with id {v}|bearing the number {v}|id: {v}|with number {v}",
        "mit der Nummer {v}|Nr. {v}|{v}|die Nummer ist {v}|Nummer: {v}|mit der Kennung {v}|es trägt die Nummer {v}|Kennung: {v}|Nummer {v}"),
    "start": ("date", "from {v}|starting on {v}|beginning {v}|the start is {v}|as of {v}|it starts on {v}|with {v} as the start|not before {v}|starting from {v}",
        "ab {v}|vom {v}|beginnend {v}|der Beginn ist {v}|ab dem {v}|es beginnt am {v}|mit Beginn {v}|nicht vor dem {v}|beginnend am {v}"),
    "color": ("colour", "in {v}|coloured {v}|painted {v}|the colour is {v}|of the colour {v}|with {v} colour|{v} coloured|in {v} colour|it is {v}|a {v} one|of {v} colour",
        "in {v}|gefärbt {v}|gestrichen {v}|die Farbe ist {v}|Farbe {v}|von der Farbe {v}|mit {v} als Farbe|farblich {v}|es ist {v}|ganz {v}|in der Farbe {v}"),
    "age": ("integer", "aged {v}|{v} years old|at age {v}|whose age is {v}|with an age of {v}|who is {v} years of age|at the age of {v}|age {v}|is {v} years old|is {v}|turned {v}|of age {v}",
        "{v} Jahre alt|im Alter {v}|mit {v} Jahren|das Alter ist {v}|Alter {v}|mit einem Alter von {v}|der {v} Jahre zählt|im {v}. Jahr|ist {v} Jahre alt|ist {v}|wurde {v}|im Alter von {v}"),
    "price": ("number", "for {v}|at a price of {v}|sold for {v}|the price is {v}|price {v}|with {v} as the price|worth {v}|that is priced {v}|costs {v}|it costs {v}|pays {v}|priced at {v}",
        "für {v}|zum Preis von {v}|kostet {v}|der Preis ist {v}|Preis {v}|mit {v} als Preis|wert {v}|im Preis {v}|es kostet {v}|zahlt {v}|macht {v}|zum Preis {v}"),
    "end": ("date", "until {v}|ending on {v}|up to {v}|the end is {v}|it ends on {v}|no later than {v}|with {v} as the end|finishing {v}|it lasts until {v}|over by {v}|ending {v}",
        "bis {v}|endet {v}|bis zum {v}|das Ende ist {v}|es endet zum {v}|nicht nach dem {v}|mit Ende {v}|Schluss am {v}|es dauert bis {v}|vorbei am {v}|endet am {v}"),
    "country": ("place", "in the country {v}|in {v}|within {v}|the country is {v}|country {v}|somewhere in the country of {v}|from inside {v}|in a country called {v}|lives in the country {v}|a part of {v}|inside the country {v}",
        "im Land {v}|in {v}|aus {v}|das Land ist {v}|Land {v}|irgendwo im Staat {v}, dem Land|innerhalb des Landes {v}|in einem Land namens {v}|liegt im Land {v}|ein Teil von {v}|im Staat {v}"),
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
# Phrasings that state any value by its name. Written ones:
_GENERIC = {
    "en": ["set {p} to {v}", "make the {p} {v}", "give it the {p} {v}", "let the {p} be {v}", "assign {v} to the {p}", "the {p} of which is {v}", "with {v} for a {p}", "and {v} as the {p}", "({p} {v})", "putting {v} down as {p}",
           "taking {v} for {p}", "using {v} as its {p}", "that has {v} as {p}", "whose {p} is {v}", "and {v} is what the {p} is", "for {p} use {v}", "and for the {p} take {v}", "take {v} as {p}", "{p}? {v}", "enter {v} into {p}",
           "and the {p}, that would be {v}", "under {p} put {v}", "say {v} for the {p}", "as {p}, {v}", "given {v} as its {p}", "put {v} in {p}", "as for the {p}, it is {v}", "I want {v} as the {p}", "{p} has been changed to {v}", "insert {v} where {p} belongs"],
    "de": ["setze {p} auf {v}", "nimm {v} als {p}", "gib {p} den Wert {v}", "wobei {p} {v} ist", "und {v} kommt in {p}", "deren {p} {v} ist", "das {v} als {p} hat", "und für {p} nimm {v}", "({p} {v})", "wo {p} mit {v} angegeben ist",
           "und {v} als {p}", "als {p} {v}", "bei {p} steht {v}", "mit {v} als {p}", "und {v} ist dann {p}", "nimm für {p} {v}", "wobei für {p} {v} gilt", "und als {p} gilt {v}", "{p}? {v}", "trage {v} bei {p} ein",
           "für {p} gilt {v}", "als {p} bitte {v}", "mit einem Wert {p} von {v}", "schreib {v} unter {p}", "hierzu {v} als {p}", "was {p} angeht, {v}", "ich will {v} als {p}", "unter {p} findest du {v}", "sodass {p} {v} wird", "und zu {p} gehört {v}"],
}  # fmt: skip
# Others are put together of these: there are more of them than a model could learn by heart. What stands before a name:
_DETERMINERS = {
    "en": ["the", "its", "a", "my", "our", "this", "your", "the chosen", "the field", "the desired", "that", "his", "the new", "the given", "their"],
    "de": ["Feld", "Angabe", "Wert für", "Punkt", "Stichwort", "Eintrag", "Parameter", "Merkmal", "Zeile", "Rubrik", "Eigenschaft", "Option", "Größe", "Spalte", "Variable"],
}
# The name first, with a verb, and without one.
_CLAUSES = {
    "en": ["{p} is {v}", "{p} should be {v}", "{p} must be {v}", "{p} reads {v}", "{p} corresponds to {v}", "{p} will be {v}", "{p} was given as {v}", "{p} has the value {v}", "{p} was {v}", "{p} stands at {v}",
           "{p} says {v}", "{p} has to be {v}", "{p} is called {v}", "{p} shall be {v}", "{p} turns out to be {v}", "{p} comes to {v}", "{p} is set to {v}", "{p} would be {v}", "{p} is now {v}", "{p} ought to be {v}",
           "{p} can be {v}", "{p} is to be {v}", "{p} is known to be {v}", "{p} became {v}", "{p} is recorded as {v}", "{p} is written {v}", "{p} needs to be {v}", "{p} is fixed at {v}", "{p} equals {v}", "{p} got listed as {v}"],
    "de": ["{p} ist {v}", "{p} soll {v} sein", "{p} lautet {v}", "{p} muss {v} sein", "{p} entspricht {v}", "{p} heißt {v}", "{p} war {v}", "{p} hat den Wert {v}", "{p} wäre {v}", "{p} beträgt {v}",
           "{p} steht auf {v}", "{p} wird {v}", "{p} sei {v}", "{p} ist mit {v} angegeben", "{p} liegt bei {v}", "{p} wurde {v}", "{p} sagt {v}", "{p} ist nun {v}", "{p} ist als {v} notiert", "{p} beläuft sich auf {v}",
           "{p} darf {v} sein", "{p} kann nur {v} sein", "{p} bleibt {v}", "{p} hat {v}", "{p} läuft auf {v} hinaus", "{p} erhält {v}", "{p} bekommt {v}", "{p} meint {v}", "{p} ist gleich {v}", "{p} trägt den Eintrag {v}"],
}  # fmt: skip
_PHRASES = {
    "en": ["{p} {v}", "{p}: {v}", "{p} = {v}", "{p} being {v}", "{p} -> {v}", "{p} set to {v}", "{p} of {v}", "{p} at {v}", "{p} - {v}", "{p} equal to {v}", "{p} given as {v}", '{p} "{v}"', "{p} in the form {v}",
           "{p}, namely {v}", "{p} marked {v}", "{p} called {v}", "{p} put at {v}", "{p}, which is {v}", "{p} ({v})", "{p} taken as {v}", "{p} | {v}", "{p}, that is {v}", "{p} written as {v}", "{p} to be {v}", "{p} := {v}"],
    "de": ["{p} {v}", "{p}: {v}", "{p} = {v}", "{p} gleich {v}", "{p} -> {v}", "{p} mit {v}", "{p} von {v}", "{p} als {v}", "{p} - {v}", "{p} im Wert {v}", "{p} auf {v}", '{p} "{v}"', "{p}, nämlich {v}",
           "{p} in Form von {v}", "{p} gesetzt auf {v}", "{p}, also {v}", "{p} ({v})", "{p} lautend {v}", "{p} genannt {v}", "{p} festgelegt auf {v}", "{p}, und zwar {v}", "{p} | {v}", "{p}, das heißt {v}", "{p} notiert als {v}", "{p} := {v}"],
}  # fmt: skip
_VALUE_FIRST = {
    "en": ["{v} as {p}", "{v} for {p}", "{v} is {p}", "{v} being {p}", "{v} serves as {p}", "{v} would be {p}", "{v} will be {p}", "{v} belongs to {p}", "{v} goes under {p}", "{v} counts as {p}", "{v} makes {p}", "{v} ({p})", "{v} should be {p}",
           "{v} goes with {p}", "{v} stands for {p}", "{v} was {p}", "{v} goes into {p}", "{v} gives {p}", "{v} to fill {p}", "{v} acts as {p}", "{v} must be {p}", "{v} is meant as {p}", "{v} can be {p}", "{v} by way of {p}", "{v} passes for {p}"],
    "de": ["{v} als {p}", "{v} für {p}", "{v} ist {p}", "{v} wäre {p}", "{v} dient als {p}", "{v} wird {p}", "{v} soll {p} sein", "{v} gehört zu {p}", "{v} steht unter {p}", "{v} gilt als {p}", "{v} bei {p}", "{v} ({p})", "{v} unter {p}",
           "{v} kommt zu {p}", "{v} steht für {p}", "{v} war {p}", "{v} ist als {p} gemeint", "{v} passt zu {p}", "{v} zu {p}", "{v} zählt als {p}", "{v} muss {p} sein", "{v} gibt {p} an", "{v} nehmen wir als {p}", "{v} gehört in {p}", "{v} bildet {p}"],
}  # fmt: skip
# What stands before those that begin with the name.
_BEFORE_CLAUSES = {
    "en": ["where", "and", "so that", "I mean that", "provided", "such that", "I know that", "while", "because", "given that", "here", "it says that", "as", "remember that", "let us say", "they say", "of course", "you see,", "make sure that", "assume"],
    "de": ["und", "denn", "also:", "ich meine,", "es gilt:", "wie gesagt,", "wohlgemerkt:", "und zwar:", "kurz:", "merk dir:", "aber", "hier:", "gemeint ist:", "wir wissen:", "laut Zettel:", "bitte:", "zur Info:", "so steht es da:", "ich sage:", "angenommen,"],
}  # fmt: skip
_BEFORE_PHRASES = {
    "en": ["with", "using", "having", "take", "including", "and", "for", "I mean", "at", "considering", "by", "namely", "use", "plus", "featuring", "also", "based on", "choose", "in line with", "bearing"],
    "de": ["mit", "und", "sowie", "dazu", "inklusive", "nimm", "bei", "unter", "und zwar", "einschließlich", "ich meine", "nutze", "dabei", "außerdem", "nebst", "plus", "auch", "hier", "wähle", "berücksichtige"],
}  # fmt: skip
# What may stand for a sign between a name and its value, alone or two together; the evaluation's own signs never do.
_MARKS = "-=:~>|/*#+<^"
_HELD_OUT_SIGNS = {f"{a}{b}" for a in _MARKS for b in ("", *_MARKS) for phrases in _PHRASES.values() if f"{{p}} {a}{b} {{v}}" in every_fifth(phrases, EVAL)}
_ORDERS = (((), _CLAUSES), ((), _PHRASES), ((), _VALUE_FIRST), ((), _VALUE_FIRST), (_BEFORE_CLAUSES, _CLAUSES), (_BEFORE_PHRASES, _PHRASES))
# Kinds whose values look the same.
_LOOKALIKES = {"name": "person", "year": "number", "integer": "number"}
_CHOICES = "low high medium small large fast slow daily weekly monthly open closed public private draft final north south east west metric imperial hot cold left right".split()


def listed_names():
    """The words of the lists of names, of both parts."""
    return [*_NOUNS, *_CHOICES, *(word for name in _KNOWN for word in name.split("_"))]


@dataclass
class Slot:
    name: str
    schema: dict
    value: object
    phrase: str
    required: bool = True
    kind: str = ""
    template: str = ""

    @property
    def words(self):
        """Those that its name is made of, in snake case or in camel case."""
        return re.findall(r"[A-Z]?[^_A-Z]+", self.name)

    @property
    def word(self):
        """The last word of its name, as it stands in phrases."""
        return self.words[-1]

    @property
    def said(self):
        """What a text says for its value: a list's items one by one."""
        return self.value if isinstance(self.value, list) else [str(self.value)]

    @property
    def is_named(self):
        """Whether its phrase says its whole name, and not only its value."""
        return any(name.lower() in self.phrase.lower() for name in (self.name, " ".join(self.words)))

    @property
    def is_clear(self):
        """Whether its phrase says every value once, and its name at most once."""
        n_said = {len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", self.phrase)) for value in self.said}
        return n_said == {1} and self.phrase.lower().count(self.word.lower()) <= 1


def make_slots(rng, part, language, count):
    """Slots with different names whose values differ, each of which is told from the others by what states it."""
    slots = {}
    while len(slots) < count:
        slot = _known(rng, part, language) if rng.random() < 0.45 else _generic(rng, part, language)
        if _fits(slot, slots.values()):
            slots.setdefault(slot.name, slot)
    return list(slots.values())


def restated(rng, part, language, slots):
    """The same slots with other values, which other phrases state."""
    while True:
        made = [_restated(rng, part, language, slot) for slot in slots]
        if all(_fits(slot, made[:i]) for i, slot in enumerate(made)):
            return made


def _fits(slot, others):
    return slot.is_clear and not any(slot.value == other.value or _is_like(slot, other) for other in others)


def _is_like(one, other):
    """Whether a phrase that states one of them might as well state the other ("in Karvo": a city or a country)."""
    if _LOOKALIKES.get(one.kind, one.kind) != _LOOKALIKES.get(other.kind, other.kind):
        return False
    return one.template in _own_phrases(other.name) or other.template in _own_phrases(one.name)


def _own_phrases(name):
    return "|".join(_KNOWN[name][1:]).split("|") if name in _KNOWN else []


def _known(rng, part, language):
    name = rng.choice(list(_KNOWN))
    return _slot(rng, part, language, name, _KNOWN[name][0], _template(rng, part, language, name), name.replace("_", " "))


def _template(rng, part, language, name):
    """One of the phrases of its own that a common name has, mostly; else one that states any value by its name."""
    if name not in _KNOWN:
        return _phrasing(rng, part, language)
    own = _KNOWN[name][1 + (language == "de")].split("|")
    own = own[:-1] if part == TRAIN else own[-1:]
    return rng.choice(own) if rng.random() < 0.7 else _phrasing(rng, part, language)


def _restated(rng, part, language, slot):
    label = " ".join(slot.words).lower()
    again = _slot(rng, part, language, slot.name, slot.kind, _template(rng, part, language, slot.name), label, slot.schema.get("enum"))
    return replace(again, schema=slot.schema, required=slot.required)


def _generic(rng, part, language):
    nouns = choose_part(_NOUNS, part)
    unknown = lambda: naming_word(rng, part, language).lower()
    noun = rng.choice(nouns) if rng.random() < (0.4 if part == TRAIN else 0.6) else unknown()
    label = f"{rng.choice(nouns) if rng.random() < 0.5 else unknown()} {noun}" if rng.random() < 0.3 else noun
    kind = next((kind for kind, names in _NOUN_KINDS.items() if noun in names), None)
    kind = kind or rng.choice(("integer", "number", "place", "person", "name", "code", "date", "word", "thing", "choice", "list", "year"))
    words = label.split()
    name = "_".join(words) if rng.random() < 0.7 else words[0] + "".join(map(str.capitalize, words[1:]))
    return _slot(rng, part, language, name, kind, _phrasing(rng, part, language), label)


def _phrasing(rng, part, language):
    """A template that states a value by its name: a written one, or one put together. In the evaluation one of its parts is held out, and
    the others may be."""
    if rng.random() < 0.3:
        return one_of(rng, part, _GENERIC[language])
    lists = [_DETERMINERS if rng.random() < 0.6 else (), *rng.choice(_ORDERS)]
    held_out = rng.choice([i for i, each in enumerate(lists) if each])
    choose = lambda i, each: one_of(rng, part if part == TRAIN or i == held_out else rng.choice((TRAIN, EVAL)), each[language]) if each else ""
    determiner, before, core = (choose(i, each) for i, each in enumerate(lists))
    if part == TRAIN and determiner and rng.random() < 0.4:
        determiner = _other_determiner(rng, language)
    if part == TRAIN and core.startswith("{v}") and rng.random() < 0.4:
        before = _other_verb(rng, language)
    return f"{before} {core.replace('{p}', f'{determiner} {{p}}'.strip())}".strip()


def _other_determiner(rng, language):
    word = naming_word(rng, TRAIN, language).lower()
    return capital(word) if language == "de" else rng.choice(("the {}", "its {}", "{}")).format(word)


def _other_verb(rng, language):
    """What may stand before a value: a made-up word would look like a part of it."""
    words = REAL_WORDS[language]
    word = rng.choice(words) if rng.random() < 0.6 else blend(rng, words)
    return word.lower() if rng.random() < 0.8 else capital(word)


def _garbled(rng, part, language, template):
    """In training, other words and signs at times, or a made-up word between name and value, with a sign beside the value."""
    if part != TRAIN:
        return template
    if rng.random() < 0.5:
        template = re.sub(r" ?[-:=|]+(?= \{v\})", lambda _: f" {_sign(rng)}", template)
    between = re.search(r"\}[^{}]*\{", template)
    if not between or rng.random() >= 0.15:
        return garble(rng, part, language, template, 0.6)
    word, sign = made_up_word(rng, part), rng.choice((":", f" {_sign(rng)}", " is" if language == "en" else " ist"))
    before = template[: between.start() + 1].lstrip("(")
    return f"{before} {word}{sign} {{v}}" if before.endswith("{p}") else f"{before}{sign} {word} {{p}}"


def _choices(rng, part, language):
    listed = rng.sample(choose_part(_CHOICES, part), 3)
    if part == TRAIN and rng.random() < 0.5:
        return list(dict.fromkeys(naming_word(rng, part, language).lower() for _ in range(3)))
    return listed


def _sign(rng):
    sign = "".join(rng.choice(_MARKS) for _ in range(rng.randint(1, 2)))
    return _sign(rng) if sign in _HELD_OUT_SIGNS else sign


def _slot(rng, part, language, name, kind, template, label, options=None):
    value, schema = typed_value(rng, part, language, kind, options)
    conjunction = " and " if language == "en" else " und "
    spoken = conjunction.join((", ".join(value[:-1]), value[-1])) if isinstance(value, list) else str(value)
    if rng.random() < 0.6:
        schema = schema | {"description": rng.choice((f"The {label}", f"{label.capitalize()}", f"{label} to use", f"Which {label} it is"))}
    phrase = _garbled(rng, part, language, template).replace("{p}", label if rng.random() < 0.8 else name)
    # The value stays to the letter.
    phrase = articles(phrase, language).replace("{v}", spoken)
    return Slot(name, schema, value, phrase, rng.random() < 0.8, kind, template)


def value_sources(slots, text, name_source=lambda slot: None):
    """Where the values of the slots stand in the text that states them, and their names in what `name_source` says."""
    sources = []
    for slot in slots:
        sources += [name_source(slot), *(source(value, text, slot.phrase, name=slot.word) for value in slot.said)]
    return sources


def typed_value(rng, part, language, kind, options=None):
    """(value, JSON schema). `options`: those of a choice, where they are given."""
    if kind == "integer":
        return rng.randint(1, 10 ** rng.randint(1, 5)), {"type": "integer"}
    if kind == "number":
        whole = rng.randint(1, 10 ** rng.randint(1, 4))
        return (whole + rng.randint(1, 9) / 10 if rng.random() < 0.4 else whole), {"type": "number"}
    if kind == "year":
        return int(year(rng)), {"type": "integer"}
    if kind == "choice":
        options = options or _choices(rng, part, language)
        return rng.choice(options), {"type": "string", "enum": options}
    if kind == "list":
        return [name_word(rng, part) for _ in range(rng.randint(2, 3))], {"type": "array", "items": {"type": "string"}}
    makers = {
        "place": lambda: place(rng, part), "person": lambda: person(rng, part), "code": lambda: acronym(rng) if part == TRAIN and rng.random() < 0.15 else code(rng), "date": lambda: date(rng, language),
        "word": lambda: made_up_word(rng, part), "thing": lambda: thing(rng, part, language), "name": lambda: name_word(rng, part),
        "email": lambda: email(rng, part), "time": lambda: f"{rng.randint(0, 23)}:{rng.randint(0, 59):02}",
        "colour": lambda: rng.choice("red blue green yellow black white grey orange purple brown".split()),
    }  # fmt: skip
    return makers[kind](), {"type": "string"}
