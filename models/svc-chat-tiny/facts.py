"""Facts about made-up things: how a text states them and how a question asks for them, in English and German."""
import re
from dataclasses import dataclass, replace

from phrasings import (ASKED, ASKED_AFTER, ASKED_BEFORE, BE, ENDINGS, EVENT_ADVERBIALS, EVENT_ASKED, EVENT_DID, EVENT_FRAMES, EVENT_LEADS, EVENT_NOUNS,
                       EVENT_QUESTIONS, EVENT_RELATIVES, EVENT_WAS, EVENTS, HAVE, LEADS, OPENINGS, PRONOUN_STATEMENTS, QUESTIONS, QUESTIONS_BY_KIND, STATEMENTS, TOLD, TOLD_ENDINGS, TOLD_OF_IT, TOLD_OPENINGS)  # fmt: skip
from recipe.words import EVAL, TRAIN, articles, capital, choose_part, is_held_out, made_up_word, one_of
from sources import source
from values import LEXICON, value
from vocabulary import blend, garble, naming_word, other_ending, other_words

_VALUE_KINDS = list(LEXICON["en"].ATTRIBUTES)
_ARTICLE = {"m": "der", "f": "die", "n": "das", "p": "die"}
_ARTICLE_ACC = {"m": "den", "f": "die", "n": "das", "p": "die"}
_PRONOUN = {"m": "er", "f": "sie", "n": "es", "p": "sie"}
_DATIVE = {"m": "dem", "f": "der", "n": "dem", "p": "denen"}
_WHICH_ACC = {"m": "welchen", "f": "welche", "n": "welches", "p": "welche"}
_STRONG = {"m": "er", "f": "e", "n": "es", "p": "e"}
_ITS = {"m": "sein", "f": "seine", "n": "sein", "p": "seine"}


@dataclass(frozen=True)
class Question:
    """Asks for an attribute of a thing, in any of `texts`. Every answer begins with the `lead`, which says what was asked for: a small model
    finds a value, or that there is none, more easily behind words that stand before it in the passage too."""

    thing: str
    attribute: str
    word: str  # of the attribute, as it stands in every phrasing
    texts: list
    lead: str

    def about(self, thing):
        """The same of another thing."""
        *texts, lead = (re.sub(rf"(?<!\w){re.escape(self.thing)}(?!\w)", lambda _: thing, text) for text in (*self.texts, self.lead))
        return replace(self, thing=thing, texts=texts, lead=lead)

    @property
    def echoes(self):
        """What an answer repeats of the question: the thing, then the word."""
        return [self.thing, self.word]


@dataclass(frozen=True)
class Fact:
    """`sentence` and `line` state the value that the question asks for."""

    question: Question
    value: str
    sentence: str
    line: str

    @property
    def asked(self):
        """What two facts may not both tell."""
        return self.question.thing, self.question.attribute

    @property
    def sources(self):
        """The value's places: a passage has either of them."""
        return [source(self.value, text, name=self.question.word, thing=self.question.thing) for text in (self.sentence, self.line)]


_EVENT_KINDS = {"y": "year", "w": "person", "l": "place"}


def attribute_fact(rng, part, language, thing, subject_known):
    """A fact of the form attribute of thing. `subject_known`: the text named the thing before, so that a pronoun may do."""
    kind = rng.choice(_VALUE_KINDS)
    forms = _attribute(rng, part, language, kind)
    v = value(rng, kind, language, part)
    slots = {**forms, "e": thing, "v": v}
    sentence = fill(rng, part, language, _statement(rng, part, language, subject_known and rng.random() < 0.75), slots)
    line = f"{capital(forms['a'])}: {v}"
    texts = [fill(rng, part, language, _question(rng, part, language, kind), slots) for _ in range(2)]
    # "The annual height" and "the height" count as the same: who answers one of them may repeat the noun alone.
    word = forms["a"].split()[-1]
    return Fact(Question(thing, word, word, texts, LEADS[language].format(**slots)), v, sentence, line)


def _statement(rng, part, language, of_it):
    """The phrasing of a statement: a written one, or one put together."""
    if rng.random() < 0.4:
        return one_of(rng, part, (PRONOUN_STATEMENTS if of_it else STATEMENTS)[language])
    core = one_of(rng, part, (TOLD_OF_IT if of_it else TOLD)[language])
    for slot, verbs in (("{is}", BE), ("{has}", HAVE)):
        verb = made_up_word(rng, part) if part == TRAIN and rng.random() < 0.3 else one_of(rng, part, verbs[language])
        core = core.replace(slot, verb)
    return _told(rng, part, language, core)


def _told(rng, part, language, core):
    opening, ending = one_of(rng, part, TOLD_OPENINGS[language]), one_of(rng, part, TOLD_ENDINGS[language])
    if part == TRAIN and rng.random() < 0.15:
        opening = other_words(rng, language)
    if part == TRAIN and rng.random() < 0.25:
        ending = f"{rng.choice((',', ',', ' -'))} {other_words(rng, language)}"
    return f"{opening} {core}{'' if ending.startswith((',', ' ')) else ' '}{ending}".strip() + "."


def _question(rng, part, language, kind):
    """The phrasing of a question for a value of a kind: a written one, or one put together."""
    if part == TRAIN and kind in QUESTIONS_BY_KIND and rng.random() < 0.2:
        return _asked(rng, part, language, rng.choice(QUESTIONS_BY_KIND[kind][language]))
    if rng.random() < 0.5:
        return _asked(rng, part, language, one_of(rng, part, QUESTIONS[language]))
    return _asked_for(rng, part, language, one_of(rng, part, ASKED[language]))


def _asked_for(rng, part, language, asked):
    """What is asked for between an opening and an ending. In training either is sometimes words that say nothing."""
    opening, ending = one_of(rng, part, OPENINGS[language]), one_of(rng, part, ENDINGS[language])
    if part == TRAIN and rng.random() < 0.25:
        opening = other_words(rng, language)
    if part == TRAIN and rng.random() < 0.35:
        ending = other_ending(rng, language)
    return f"{opening} {asked}{ending}".strip()


def _asked(rng, part, language, question):
    """The question, at times with something before and after it."""
    if rng.random() < 0.2:
        before = other_words(rng, language) if part == TRAIN and rng.random() < 0.3 else one_of(rng, part, ASKED_BEFORE[language])
        question = f"{before} {question}"
    if part == TRAIN and rng.random() < 0.1:
        question += other_ending(rng, language)
    return f"{question} {one_of(rng, part, ASKED_AFTER[language])}" if rng.random() < 0.1 else question


def event_facts(rng, part, language, thing):
    """One sentence about an event, and the facts in it."""
    verb = _participle(rng, part, language)
    template = one_of(rng, part, EVENTS[language]) if rng.random() < 0.4 else _event(rng, part, language)
    if rng.random() < 0.4:
        template = _told(rng, part, language, template[:1].lower() + template[1:-1])
    slots = {key: value(rng, kind, language, part) for key, kind in _EVENT_KINDS.items()} | {"e": thing, "p": verb}
    sentence = fill(rng, part, language, template, slots)
    told = [key for key in _EVENT_KINDS if "{" + key + "}" in template]
    return [Fact(_event_asked(rng, part, language, thing, verb, key), slots[key], sentence, sentence) for key in told]


def _event_asked(rng, part, language, thing, verb, key):
    """The question when, by whom or where something was done."""
    slots = {"e": thing, "p": verb}
    text = fill(rng, part, language, _event_question(rng, part, language, key), slots, garbled=0)
    return Question(thing, f"{verb} {key}", verb, [text], EVENT_LEADS[language][key].format(**slots))


def _participle(rng, part, language):
    verbs = choose_part(LEXICON[language].VERBS, part)
    if rng.random() < 0.65:
        return blend(rng, verbs) if part == TRAIN and rng.random() < 0.4 else rng.choice(verbs)
    while True:
        participle = naming_word(rng, part, language).lower() + ("ed" if language == "en" else "iert")
        if part == EVAL or not is_held_out(participle):
            return participle


def _event(rng, part, language):
    """The phrasing of an event, put together: who, when and where come in any order, and not all of them."""
    frame = one_of(rng, part, EVENT_FRAMES[language])
    told = [key for key in _EVENT_KINDS if "{" + key + "}" not in frame]
    told = rng.sample(told, rng.randint(1, len(told)))
    adverbials = [one_of(rng, part, EVENT_ADVERBIALS[language][key]) for key in told]
    front = adverbials.pop() if "{front}" in frame else ""
    rest = "".join(f" {adverbial}" for adverbial in adverbials)
    for slot, verbs in (("{was}", EVENT_WAS), ("{did}", EVENT_DID)):
        frame = frame.replace(slot, one_of(rng, part, verbs[language]))
    return frame.replace("{front}", front).replace("{rest}", rest).replace("  ", " ").strip() + "."


def _event_question(rng, part, language, key):
    """The phrasing of a question for who, when or where: a written one, or one put together."""
    if rng.random() < 0.4:
        return _asked(rng, part, language, one_of(rng, part, EVENT_QUESTIONS[language][key]))
    asked = one_of(rng, part, EVENT_ASKED[language][key])
    if rng.random() < 0.5:
        noun, relative = rng.choice(EVENT_NOUNS[language][key]), one_of(rng, part, EVENT_RELATIVES[language][key])
        asked = f"{noun} {relative}" if language == "en" else german_relative(noun, relative)
    return _asked_for(rng, part, language, asked)


def german_relative(noun, relative):
    """"Jahr:n" before a clause that begins with {der}, {den} or {dem}: its article and the clause's pronoun as the gender wants them."""
    word, gender = noun.split(":")
    forms = {"{der}": _ARTICLE[gender], "{den}": _ARTICLE_ACC[gender], "{dem}": _DATIVE[gender]}
    return f"{_ARTICLE_ACC[gender]} {word}, " + re.sub(r"\{de[rnm]\}", lambda m: forms[m[0]], relative)


def absent_event_questions(rng, part, language, facts):
    """Questions about events that the facts tell of, for what they do not tell: when, who or where."""
    told = {fact.asked for fact in facts}
    events = {(thing, verb) for thing, attribute in told for verb, _, key in [attribute.rpartition(" ")] if key in _EVENT_KINDS}
    return [_event_asked(rng, part, language, thing, verb, key) for thing, verb in sorted(events) for key in _EVENT_KINDS if (thing, f"{verb} {key}") not in told]


def fill(rng, part, language, template, slots, garbled=0.5):
    """A template with its slots filled, in training `garbled` at times."""
    template = garble(rng, part, language, template, garbled)
    text = articles(re.sub(r"\{(\w+)\}", lambda m: slots[m[1]], template), language)
    keep = template.startswith("{v}") or rng.random() < 0.07  # an answer is copied to the letter
    return text if keep else capital(text)


def _attribute(rng, part, language, kind):
    adjective = _adjective(rng, part, language) if rng.random() < 0.25 else ""
    nouns = choose_part(LEXICON[language].ATTRIBUTES[kind].split(), part)
    known = 0.4 if part == TRAIN else 0.6  # of a known noun it may be learned what kind of value it has, instead of how to find it
    if language == "en":
        noun = rng.choice(nouns).replace("-", " ") if nouns and rng.random() < known else naming_word(rng, part, language)
        return {"a": f"{adjective} {noun}".strip()}
    if nouns and rng.random() < known:
        noun, gender = rng.choice(nouns).split(":")
    else:
        noun, gender = capital(naming_word(rng, part, language)), rng.choice("mfn")
    return german_forms(noun, gender, adjective)


def _adjective(rng, part, language):
    if part == TRAIN and rng.random() < 0.3:
        return naming_word(rng, part, language).lower()
    return rng.choice(choose_part(LEXICON[language].ADJECTIVES, part))


def german_forms(noun, gender, adjective=""):
    weak = f"{adjective}e " if adjective else ""
    accusative = f"{adjective}en " if adjective and gender == "m" else weak
    forms = {
        "n": noun,
        "der": _ARTICLE[gender],
        "den": _ARTICLE_ACC[gender],
        "er": _PRONOUN[gender],
        "a": f"{adjective}{_STRONG[gender]} {noun}" if adjective else noun,
        "d_a": f"{_ARTICLE[gender]} {weak}{noun}",
        "den_a": f"{_ARTICLE_ACC[gender]} {accusative}{noun}",
        "welchen_a": f"{_WHICH_ACC[gender]} {accusative}{noun}",
        "sein_a": f"{_ITS[gender]} {adjective}{_STRONG[gender]} {noun}" if adjective else f"{_ITS[gender]} {noun}",
    }
    return forms | {key.capitalize(): capital(text) for key, text in forms.items()}
