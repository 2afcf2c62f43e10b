"""Random values of every kind: what a question asks for, an argument holds, a JSON field takes."""
import string

import lexicon_de
import lexicon_en
from recipe.words import TRAIN, capital, choose_part, made_up_word
from vocabulary import NAMING_WORDS, blend, naming_word

LEXICON = {"en": lexicon_en, "de": lexicon_de}
_UNITS = {
    "length": "m km cm mm".split(),
    "weight": "kg g t".split(),
    "speed": ["km/h", "m/s"],
    "temperature": ["°C", "K"],
    "duration": {"en": "minutes hours days weeks months years".split(), "de": "Minuten Stunden Tage Wochen Monate Jahre".split()},
    "money": {"en": "euros dollars EUR USD crowns".split(), "de": "Euro Dollar EUR USD Kronen".split()},
}
_TITLES = ["", "", "", "", "Dr. ", "Prof. "]
_BEFORE_PLACES = ("San", "Bad", "New", "Port", "Upper", "Saint", "Groß", "Fort")


def listed_names():
    """The words that values are made of and that no list of names has."""
    return [*(title.strip(" .") for title in _TITLES), *_BEFORE_PLACES, *lexicon_en.MONTHS, *lexicon_de.MONTHS]


def number(rng, language, decimals=True):
    """A number as a writer of the language would put it."""
    digits = rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6))
    whole = rng.randint(10 ** (digits - 1), 10**digits - 1)
    comma, point = (",", ".") if language == "en" else (".", ",")
    if decimals and digits < 4 and rng.random() < 0.2:
        return f"{whole}{point}{rng.randint(1, 9)}"
    if digits > 3 and rng.random() < 0.4:
        return f"{whole:,}".replace(",", comma)
    return str(whole)


def year(rng):
    return str(rng.randint(1100, 2090))


def date(rng, language):
    day, month, when = rng.randint(1, 28), rng.randint(1, 12), year(rng)
    name = LEXICON[language].MONTHS[month - 1]
    if rng.random() < 0.3:
        return f"{when}-{month:02}-{day:02}"
    if language == "de":
        return rng.choice((f"{day}. {name} {when}", f"{day}. {name}", f"{day:02}.{month:02}.{when}"))
    return rng.choice((f"{day} {name} {when}", f"{name} {day}", f"{name} {day}, {when}", f"{day} {name}"))


def time(rng, language):
    minute = f"{rng.randint(0, 59):02}"
    if rng.random() < 0.7:
        return f"{rng.randint(0, 23)}:{minute}"
    return f"{rng.randint(0, 23)}:{minute} Uhr" if language == "de" else f"{rng.randint(1, 12)}:{minute} {rng.choice(('am', 'pm'))}"


def name_word(rng, part):
    """A name; in training some are made of real words, which names are, too."""
    if part == TRAIN and rng.random() < 0.12:
        return capital(blend(rng, NAMING_WORDS[rng.choice(("en", "de"))]))
    return made_up_word(rng, part).capitalize()


def person(rng, part):
    middle = f" {name_word(rng, part)[0]}." if rng.random() < 0.1 else ""
    return f"{rng.choice(_TITLES)}{name_word(rng, part)}{middle} {name_word(rng, part)}"


def place(rng, part):
    word = name_word(rng, part)
    style = rng.random()
    if style < 0.1:
        return f"{word}-{name_word(rng, part)}"
    if style < 0.2:
        return f"{rng.choice(_BEFORE_PLACES)} {word}"
    return f"{word} {rng.randint(1, 99)}" if style < 0.23 else word


def code(rng):
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    parts = ["".join(rng.choices(letters, k=rng.randint(1, 3))), str(rng.randint(1, 99999))]
    if rng.random() < 0.3:
        parts.append(rng.choice((rng.choice(letters), str(rng.randint(1, 99)))))
    return rng.choice(("-", "-", "", "/", " ")).join(parts)


def acronym(rng):
    return "".join(rng.choices(string.ascii_uppercase, k=rng.randint(2, 5)))


def email(rng, part):
    return f"{made_up_word(rng, part)}@{made_up_word(rng, part)}.{rng.choice(('com', 'org', 'de', 'net', 'example'))}"


def contact(rng, part):
    return email(rng, part) if rng.random() < 0.5 else f"0{rng.randint(30, 999)} {rng.randint(1000, 999999)}"


def value(rng, kind, language, part):
    """A value of a kind, as text."""
    words = LEXICON[language]
    if kind in _UNITS:
        units = _UNITS[kind]
        return f"{number(rng, language)} {rng.choice(units[language] if isinstance(units, dict) else units)}"
    if kind == "count":
        return number(rng, language, decimals=False)
    if kind == "percent":
        return f"{number(rng, language)}{' ' if language == 'de' else ''}%" if rng.random() < 0.7 else f"{rng.randint(1, 99)} percent"
    if kind == "time":
        return time(rng, language)
    if kind == "colour":
        return rng.choice(words.COLOURS)
    if kind == "material":
        return rng.choice(words.MATERIALS) if rng.random() < 0.6 else made_up_word(rng, part)
    if kind == "name":
        return " ".join(name_word(rng, part) for _ in range(rng.choice((1, 1, 1, 2))))
    simple = {"year": year, "code": code}
    if kind in simple:
        return simple[kind](rng)
    if kind == "date":
        return date(rng, language)
    return {"person": person, "place": place, "contact": contact}[kind](rng, part)


def kind_of_thing(rng, part, language):
    """[noun], or [noun, gender] in German; a made-up one where a part has none."""
    if part == TRAIN and rng.random() < 0.3:
        word = naming_word(rng, part, language)
        return [capital(word), rng.choice("mfn")] if language == "de" else [word]
    kinds = choose_part(LEXICON[language].KINDS, part) or [f"{name_word(rng, part)}:f"]
    return rng.choice(kinds).split(":")


def thing(rng, part, language):
    """A name of something: one or two made-up words, often with what it is (Karvo Bridge, Burg Tirun); in training that, too, as people
    say it (the old bridge of Karvo)."""
    if part == TRAIN and rng.random() < 0.12:
        return _description(rng, part, language)
    style = rng.random()
    if style < 0.45:
        return name_word(rng, part)
    if style < 0.6:
        return f"{name_word(rng, part)} {name_word(rng, part)}"
    if style < 0.7:
        return f"{name_word(rng, part)} {rng.choice((str(rng.randint(1, 99)), rng.choice('ABCDEXYZ'), code(rng)))}"
    if style < 0.78:
        return code(rng)
    kind = kind_of_thing(rng, part, language)[0]
    if language == "de":
        return f"{kind} {name_word(rng, part)}" if rng.random() < 0.5 else f"{name_word(rng, part)}-{kind}"
    return f"{name_word(rng, part)} {kind.capitalize()}" if rng.random() < 0.8 else f"{kind.capitalize()} {name_word(rng, part)}"


def _description(rng, part, language):
    kind, name = kind_of_thing(rng, part, language)[0], name_word(rng, part)
    if language == "de":
        return f"{kind} {rng.choice(('von', 'in', 'bei'))} {name}"
    adjective = f"{rng.choice(choose_part(lexicon_en.ADJECTIVES, part))} " if rng.random() < 0.3 else ""
    return f"the {adjective}{kind} {rng.choice(('of', 'in', 'at'))} {name}" if rng.random() < 0.6 else f"the {name} {kind}"
