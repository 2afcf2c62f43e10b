"""Named values: parameters of tools, fields of JSON. Each has a name, a JSON type, a value, and words that state it."""
from dataclasses import dataclass

from recipe.words import choose_part, every_fifth, made_up_word
from values import code, contact, date, name_word, person, place, thing, year

# name: (kind of value, phrases that state it in English, in German). Every fifth name is kept for the evaluation.
_KNOWN = {
    "city": ("place", "in {v}|for {v}|in the city of {v}", "in {v}|für {v}|in der Stadt {v}"),
    "date": ("date", "on {v}|for {v}|dated {v}", "am {v}|für den {v}|zum {v}"),
    "recipient": ("person", "to {v}|addressed to {v}", "an {v}|für {v}"),
    "origin": ("place", "from {v}|starting in {v}", "von {v}|ab {v}"),
    "owner": ("person", "owned by {v}|belonging to {v}", "im Besitz von {v}"),
    "destination": ("place", "to {v}|towards {v}", "nach {v}"),
    "time": ("time", "at {v}", "um {v}"),
    "title": ("name", "titled {v}|called {v}|with the title {v}", "mit dem Titel {v}|namens {v}"),
    "year": ("year", "in {v}|from the year {v}", "im Jahr {v}|aus dem Jahr {v}"),
    "sender": ("person", "from {v}|sent by {v}", "von {v}"),
    "email": ("contact", "with the address {v}|reachable at {v}", "mit der Adresse {v}|erreichbar unter {v}"),
    "quantity": ("integer", "{v} times|{v} pieces", "{v} Mal|{v} Stück"),
    "name": ("person", "named {v}|for {v}|called {v}", "namens {v}|für {v}"),
    "id": ("code", "with the number {v}|no. {v}|{v}", "mit der Nummer {v}|Nr. {v}"),
    "start": ("date", "from {v}|starting on {v}", "ab {v}|vom {v}"),
    "color": ("colour", "in {v}|coloured {v}", "in {v}"),
    "age": ("integer", "aged {v}|{v} years old", "{v} Jahre alt"),
    "price": ("number", "for {v}|at a price of {v}|costing {v}", "für {v}|zum Preis von {v}"),
    "end": ("date", "until {v}|ending on {v}", "bis {v}"),
    "country": ("place", "in the country {v}|in {v}", "im Land {v}"),
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
    "en": ["{p} {v}", "with {p} {v}", "{p}: {v}", "the {p} is {v}", "and {v} as the {p}", "{p} = {v}", "with the {p} {v}", "where {p} is {v}", "the {p} should be {v}", "taking {v} for {p}"],
    "de": ["{p} {v}", "mit {p} {v}", "{p}: {v}", "{p} ist {v}", "und {v} als {p}", "{p} = {v}", "wobei {p} {v} ist", "{p} soll {v} sein", "als {p} {v}", "für {p} nimm {v}"],
}  # fmt: skip
_CHOICES = "low high medium small large fast slow daily weekly monthly open closed public private draft final north south east west metric imperial hot cold left right".split()


@dataclass
class Slot:
    name: str
    schema: dict
    value: object
    phrase: str
    required: bool = True


def make_slots(rng, part, language, count):
    """Slots with different names whose values differ."""
    slots = {}
    while len(slots) < count:
        slot = _known(rng, part, language) if rng.random() < 0.45 else _generic(rng, part, language)
        if slot.value not in [other.value for other in slots.values()]:
            slots.setdefault(slot.name, slot)
    return list(slots.values())


def _known(rng, part, language):
    name = rng.choice(every_fifth(list(_KNOWN), part))
    kind, *phrases = _KNOWN[name]
    value, kind_schema = typed_value(rng, part, language, kind)
    phrases = phrases[language == "de"].split("|") if rng.random() < 0.7 else every_fifth(_GENERIC[language], part)
    return _slot(rng, name, kind_schema, value, rng.choice(phrases))


def _generic(rng, part, language):
    nouns = choose_part(_NOUNS, part)
    noun = rng.choice(nouns) if rng.random() < 0.6 else made_up_word(rng, part)
    label = f"{rng.choice(nouns) if rng.random() < 0.5 else made_up_word(rng, part)} {noun}" if rng.random() < 0.3 else noun
    kind = next((kind for kind, names in _NOUN_KINDS.items() if noun in names), None)
    kind = kind or rng.choice(("integer", "number", "place", "person", "name", "code", "date", "word", "thing", "choice", "list", "year"))
    value, schema = typed_value(rng, part, language, kind)
    words = label.split()
    name = "_".join(words) if rng.random() < 0.7 else words[0] + "".join(map(str.capitalize, words[1:]))
    return _slot(rng, name, schema, value, rng.choice(every_fifth(_GENERIC[language], part)), label)


def _slot(rng, name, schema, value, template, label=None):
    label = label or name
    spoken = " and ".join((", ".join(value[:-1]), value[-1])) if isinstance(value, list) else str(value)
    if rng.random() < 0.6:
        schema = schema | {"description": rng.choice((f"The {label}", f"{label.capitalize()}", f"{label} to use", f"Which {label} it is"))}
    return Slot(name, schema, value, template.format(p=label if rng.random() < 0.8 else name, v=spoken), rng.random() < 0.8)


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
