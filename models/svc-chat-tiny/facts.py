"""Facts about made-up things: how a text states them and how a question asks for them, in English and German."""
import re
from dataclasses import dataclass, field

from phrasings import ANSWERS, ASKED, ENDINGS, EVENT_ANSWERS, EVENT_QUESTIONS, EVENTS, OPENINGS, PRONOUN_STATEMENTS, QUESTIONS, STATEMENTS
from recipe.words import TRAIN, choose_part, every_fifth, garble, made_up_word
from sources import source
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

    @property
    def sources(self):
        """The value's places: a passage has either of them."""
        return [source(self.value, self.sentence), source(self.value, self.line)]


_EVENT_KINDS = {"y": "year", "w": "person", "l": "place"}


def attribute_fact(rng, part, language, thing, subject_known):
    """A fact of the form attribute of thing. `subject_known`: the text named the thing before, so that a pronoun may do."""
    kind = rng.choice(_VALUE_KINDS)
    forms = _attribute(rng, part, language, kind)
    v = value(rng, kind, language, part)
    statements = PRONOUN_STATEMENTS if subject_known and rng.random() < 0.75 else STATEMENTS
    slots = {**forms, "e": thing, "v": v}
    sentence = fill(rng, part, rng.choice(every_fifth(statements[language], part)), slots)
    line = f"{_capital(forms['a'])}: {v}"
    questions = [fill(rng, part, _question(rng, part, language), slots) for _ in range(2)]
    return Fact(thing, forms["a"], v, sentence, line, _capital(ANSWERS[language].format(**slots)), questions)


def _question(rng, part, language):
    """The phrasing of a question: a written one, or one put together. In training its opening is sometimes made-up words."""
    if rng.random() < 0.5:
        return rng.choice(every_fifth(QUESTIONS[language], part))
    opening, asked, ending = (rng.choice(every_fifth(parts[language], part)) for parts in (OPENINGS, ASKED, ENDINGS))
    if part == TRAIN and rng.random() < 0.25:
        opening = " ".join(made_up_word(rng, part) for _ in range(rng.randint(1, 5)))
    return f"{opening} {asked}{ending}".strip()


def event_facts(rng, part, language, thing):
    """One sentence about an event, and the facts in it."""
    verbs = choose_part(LEXICON[language].VERBS, part)
    verb = rng.choice(verbs) if rng.random() < 0.65 else made_up_word(rng, part) + ("ed" if language == "en" else "iert")
    template = rng.choice(every_fifth(EVENTS[language], part))
    slots = {key: value(rng, kind, language, part) for key, kind in _EVENT_KINDS.items()} | {"e": thing, "p": verb}
    sentence = fill(rng, part, template, slots)
    facts = []
    for key in (key for key in _EVENT_KINDS if "{" + key + "}" in template):
        answer = EVENT_ANSWERS[language][key].format(**slots)
        question = fill(rng, part, rng.choice(every_fifth(EVENT_QUESTIONS[language][key], part)), slots, garbled=False)
        facts.append(Fact(thing, f"{verb} {key}", slots[key], sentence, sentence, answer, [question]))
    return facts


def fill(rng, part, template, slots, garbled=True):
    """A template with its slots filled."""
    if garbled:
        template = garble(rng, part, template, 0.3)
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
        "n": noun,
        "a": f"{adjective}{_STRONG[gender]} {noun}" if adjective else noun,
        "d_a": f"{_ARTICLE[gender]} {weak}{noun}",
        "den_a": f"{_ARTICLE_ACC[gender]} {accusative}{noun}",
        "welchen_a": f"{_WHICH_ACC[gender]} {accusative}{noun}",
        "sein_a": f"{_ITS[gender]} {adjective}{_STRONG[gender]} {noun}" if adjective else f"{_ITS[gender]} {noun}",
    }
    return forms | {key.capitalize(): _capital(text) for key, text in forms.items()}
