"""Facts about made-up things: how a text states them and how a question asks for them, in English and German."""
import re
from dataclasses import dataclass, field

from recipe.words import TRAIN, choose_part, every_fifth, made_up_word
from values import LEXICON, value

_VALUE_KINDS = list(LEXICON["en"].ATTRIBUTES)
_ARTICLE = {"m": "der", "f": "die", "n": "das", "p": "die"}
_ARTICLE_ACC = {"m": "den", "f": "die", "n": "das", "p": "die"}
_WHICH_ACC = {"m": "welchen", "f": "welche", "n": "welches", "p": "welche"}
_STRONG = {"m": "er", "f": "e", "n": "es", "p": "e"}
_ITS = {"m": "sein", "f": "seine", "n": "sein", "p": "seine"}


@dataclass
class Fact:
    """`sentence` states that the attribute of a thing has a value; `answer` says so to each of `questions`, and ends with the value.
    Answers repeat what was asked: a small model finds the value more easily behind words that stand before it in the passage too."""

    thing: str
    attribute: str
    value: str
    sentence: str
    line: str
    answer: str
    questions: list = field(default_factory=list)


# Phrasings. Every fifth is kept for the evaluation. {a}: the attribute, {e}: the thing, {v}: the value.
# German: {d_a} with its article, {den_a} in the accusative, {welchen_a}, {sein_a}.
_STATEMENTS = {
    "en": [
        "The {a} of {e} is {v}.",
        "{e} has a {a} of {v}.",
        "The {a} of {e} was {v}.",
        "{v} is the {a} of {e}.",
        "For {e}, the {a} amounts to {v}.",
        "{e}'s {a} is {v}.",
        "At {e} the {a} is {v}.",
        "According to the records, the {a} of {e} is {v}.",
        "With {v} as its {a}, {e} is well known.",
        "As of today {e} reports {v} as {a}.",
        "The {a} at {e}: {v}.",
        "It is known that the {a} of {e} is {v}.",
        "When it comes to {e}, the {a} is {v}.",
        "{e} lists {v} as its {a}.",
        "People put the {a} of {e} at {v}.",
        "The {a} for {e} is now {v}.",
        "{e} ({a}: {v}) is mentioned often.",
        "In the case of {e}, {v} is the {a}.",
        "{e}: the {a} is {v}.",
        "Anyone who asks about the {a} of {e} is told: {v}.",
    ],
    "de": [
        "{D_a} von {e} ist {v}.",
        "{e} hat {v} als {a}.",
        "{D_a} von {e} beträgt {v}.",
        "{D_a} von {e} war {v}.",
        "Bei {e} liegt {d_a} bei {v}.",
        "{v} ist {d_a} von {e}.",
        "Laut Unterlagen ist {d_a} von {e} {v}.",
        "Für {e} gilt als {a}: {v}.",
        "{D_a} bei {e}: {v}.",
        "Wer nach {a} von {e} fragt, hört: {v}.",
        "Bekannt ist, dass {d_a} von {e} {v} ist.",
        "{e} nennt als {a} {v}.",
        "{D_a} für {e} ist jetzt {v}.",
        "Im Fall von {e} ist {v} {d_a}.",
        "Man gibt {den_a} von {e} mit {v} an.",
        "{e} ({a}: {v}) wird oft erwähnt.",
        "Als {a} von {e} wurde {v} angegeben.",
        "{e}: {d_a} ist {v}.",
        "Mit {v} als {a} ist {e} bekannt.",
        "Zu {e} heißt es, {d_a} sei {v}.",
    ],
}
_PRONOUN_STATEMENTS = {
    "en": ["Its {a} is {v}.", "The {a} is {v}.", "It has a {a} of {v}.", "The {a} was {v}.", "Here the {a} comes to {v}.", "{v} is its {a}.",
           "It lists {v} as its {a}.", "The {a} there is {v}.", "Today the {a} is {v}.", "It also reports {v} as {a}."],
    "de": ["{D_a} ist {v}.", "{D_a} beträgt {v}.", "{Sein_a} ist {v}.", "{D_a} war {v}.", "Hier liegt {d_a} bei {v}.", "{v} ist {d_a}.", "Als {a} gilt {v}.",
           "{D_a} dort ist {v}.", "Heute ist {d_a} {v}.", "Ferner wurde {v} als {a} angegeben."],
}  # fmt: skip
_QUESTIONS = {
    "en": [
        "What is the {a} of {e}?",
        "What is {e}'s {a}?",
        "Which {a} does {e} have?",
        "Tell me the {a} of {e}.",
        "Could you look up the {a} of {e}?",
        "What was the {a} of {e}?",
        "What {a} is given for {e}?",
        "{e}: {a}?",
        "I need the {a} of {e}.",
        "Regarding {e}, what would be the {a}?",
        "Do you know the {a} of {e}?",
        "what's the {a} of {e}",
        "The {a} of {e}?",
        "For {e}, what is the {a}?",
        "Find {e}'s {a}.",
        "I'd like to know the {a} of {e}, please.",
        "Can you tell me which {a} {e} has?",
        "{a} of {e}",
        "Give me the {a} for {e}.",
        "About {e}: how is the {a} described?",
    ],
    "de": [
        "Was ist {d_a} von {e}?",
        "Wie lautet {d_a} von {e}?",
        "{Welchen_a} hat {e}?",
        "Nenne mir {den_a} von {e}.",
        "Kannst du {den_a} von {e} nachsehen?",
        "Wie ist {d_a} von {e}?",
        "{e}: {a}?",
        "Ich brauche {den_a} von {e}.",
        "{D_a} von {e}?",
        "Was steht dort über {den_a} von {e}?",
        "Kennst du {den_a} von {e}?",
        "wie war {d_a} von {e}",
        "Sag mir bitte {den_a} von {e}.",
        "Was gilt bei {e} als {a}?",
        "Gib für {e} {den_a} an.",
        "Ich möchte {den_a} von {e} wissen.",
        "{a} von {e}",
        "Um was für {a} handelt es sich bei {e}?",
        "Weißt du, {welchen_a} {e} hat?",
        "Suche {den_a} zu {e} heraus.",
    ],
}
# Events: {p}: the participle, {y}, {w}, {l}: when, who and where.
_EVENTS = {
    "en": [
        "{e} was {p} by {w} in {y}.",
        "In {y}, {e} was {p} by {w} in {l}.",
        "{e} was {p} in {l} in {y}.",
        "It was {w} who {p} {e} in {y}.",
        "Records say that {e} got {p} by {w} at {l}.",
        "{w} {p} {e} in {y}.",
        "{w} {p} {e} in {l}.",
        "{e} was first {p} in {y} by {w}.",
        "{e}, {p} in {y} by {w}, is well known.",
        "By {y}, {w} had {p} {e}.",
    ],
    "de": [
        "{e} wurde {y} von {w} {p}.",
        "Im Jahr {y} wurde {e} von {w} in {l} {p}.",
        "{e} wurde {y} in {l} {p}.",
        "{w} hat {e} im Jahr {y} {p}.",
        "Es heißt, {e} sei in {l} von {w} {p} worden.",
        "{w} hat {e} in {l} {p}.",
        "Von {w} wurde {e} {y} {p}.",
        "{e}, {y} von {w} {p}, ist bekannt.",
        "In {l} hat {w} {e} {p}.",
        "{y} war {e} von {w} {p} worden.",
    ],
}
_EVENT_QUESTIONS = {
    "en": {
        "y": ["When was {e} {p}?", "In which year was {e} {p}?", "In what year was {e} {p}?", "{e} was {p} when?", "Which year was {e} {p} in?"],
        "w": ["Who {p} {e}?", "By whom was {e} {p}?", "Who was it that {p} {e}?", "Tell me who {p} {e}.", "Which person {p} {e}?"],
        "l": ["Where was {e} {p}?", "In which place was {e} {p}?", "Tell me where {e} was {p}.", "{e} was {p} where?", "At what place was {e} {p}?"],
    },
    "de": {
        "y": ["Wann wurde {e} {p}?", "In welchem Jahr wurde {e} {p}?", "Seit wann ist {e} {p}?", "Sag mir, wann {e} {p} wurde.", "{e} wurde wann {p}?"],
        "w": ["Wer hat {e} {p}?", "Von wem wurde {e} {p}?", "Sag mir, wer {e} {p} hat.", "Durch wen wurde {e} {p}?", "Welche Person hat {e} {p}?"],
        "l": ["Wo wurde {e} {p}?", "An welchem Ort wurde {e} {p}?", "Sag mir, wo {e} {p} wurde.", "{e} wurde wo {p}?", "In welcher Stadt wurde {e} {p}?"],
    },
}  # fmt: skip
_ANSWERS = {"en": "The {a} of {e} is {v}", "de": "{a} von {e}: {v}"}
_EVENT_ANSWERS = {
    "en": {"y": "{e} was {p} in {y}", "w": "{e} was {p} by {w}", "l": "{e} was {p} in {l}"},
    "de": {"y": "{P} wurde {e} {y}", "w": "{P} wurde {e} von {w}", "l": "{P} wurde {e} in {l}"},
}
_EVENT_KINDS = {"y": "year", "w": "person", "l": "place"}


def attribute_fact(rng, part, language, thing, subject_known):
    """A fact of the form attribute of thing. `subject_known`: the text named the thing before, so that a pronoun may do."""
    kind = rng.choice(_VALUE_KINDS)
    forms = _attribute(rng, part, language, kind)
    v = value(rng, kind, language, part)
    statements = _PRONOUN_STATEMENTS if subject_known and rng.random() < 0.75 else _STATEMENTS
    slots = {**forms, "e": thing, "v": v}
    sentence = fill(rng, part, rng.choice(every_fifth(statements[language], part)), slots)
    line = f"{_capital(forms['a'])}: {v}"
    questions = [fill(rng, part, q, slots) for q in rng.sample(every_fifth(_QUESTIONS[language], part), 2)]
    return Fact(thing, forms["a"], v, sentence, line, _capital(_ANSWERS[language].format(**slots)), questions)


def event_facts(rng, part, language, thing):
    """One sentence about an event, and the facts in it."""
    verbs = choose_part(LEXICON[language].VERBS, part)
    verb = rng.choice(verbs) if rng.random() < 0.65 else made_up_word(rng, part) + ("ed" if language == "en" else "iert")
    template = rng.choice(every_fifth(_EVENTS[language], part))
    slots = {key: value(rng, kind, language, part) for key, kind in _EVENT_KINDS.items()} | {"e": thing, "p": verb, "P": _capital(verb)}
    sentence = fill(rng, part, template, slots)
    facts = []
    for key in (key for key in _EVENT_KINDS if "{" + key + "}" in template):
        answer = _EVENT_ANSWERS[language][key].format(**slots)
        question = fill(rng, part, rng.choice(every_fifth(_EVENT_QUESTIONS[language][key], part)), slots, garble=False)
        facts.append(Fact(thing, f"{verb} {key}", slots[key], sentence, sentence, answer, [question]))
    return facts


def fill(rng, part, template, slots, garble=True):
    """A template with its slots filled. In training its other words sometimes become made-up ones, so that a phrasing is recognised
    by its names and attributes and not by the words between them."""
    if garble and part == TRAIN and rng.random() < 0.12:
        template = re.sub(r"(?<![{\w'])[a-zäöüß]{2,}(?![}\w])", lambda m: m[0] if rng.random() < 0.5 else made_up_word(rng, TRAIN), template)
    text = re.sub(r"\{(\w+)\}", lambda m: slots[m[1]], template)
    keep = template.startswith("{v}") or rng.random() < 0.07  # an answer is copied to the letter
    return text if keep else _capital(text)


def _capital(text):
    return text[:1].upper() + text[1:]


def _attribute(rng, part, language, kind):
    adjective = rng.choice(choose_part(LEXICON[language].ADJECTIVES, part)) if rng.random() < 0.25 else ""
    nouns = choose_part(LEXICON[language].ATTRIBUTES[kind].split(), part)
    if language == "en":
        noun = rng.choice(nouns).replace("-", " ") if nouns and rng.random() < 0.6 else made_up_word(rng, part)
        return {"a": f"{adjective} {noun}".strip()}
    if nouns and rng.random() < 0.6:
        noun, gender = rng.choice(nouns).split(":")
    else:
        noun, gender = made_up_word(rng, part).capitalize(), rng.choice("mfn")
    return german_forms(noun, gender, adjective)


def german_forms(noun, gender, adjective=""):
    weak = f"{adjective}e " if adjective else ""
    accusative = f"{adjective}en " if adjective and gender == "m" else weak
    forms = {
        "a": f"{adjective}{_STRONG[gender]} {noun}" if adjective else noun,
        "d_a": f"{_ARTICLE[gender]} {weak}{noun}",
        "den_a": f"{_ARTICLE_ACC[gender]} {accusative}{noun}",
        "welchen_a": f"{_WHICH_ACC[gender]} {accusative}{noun}",
        "sein_a": f"{_ITS[gender]} {noun}",
    }
    return forms | {key.capitalize(): _capital(text) for key, text in forms.items()}
