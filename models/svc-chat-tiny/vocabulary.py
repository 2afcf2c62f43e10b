"""Real words of the training part: what is asked for, offered and stated is sometimes called by one of them, and stands among them,
so that a word that was never seen in its place is found like a made-up one."""
import re

import lexicon_de
import lexicon_en
import phrasings
import tool_phrasings
from recipe.words import TRAIN, capital, every_fifth, is_held_out, made_up_word


def _words_of(texts):
    found = {word for text in texts for word in re.findall(r"[^\W\d_]{3,}", re.sub(r"\{\w+\}", " ", text))}
    return sorted(word for word in found if not is_held_out(word))


def _texts(lexicon, language):
    yield from (noun.split(":")[0] for noun in " ".join(lexicon.ATTRIBUTES.values()).split())
    for words in (lexicon.ADJECTIVES, lexicon.VERBS, lexicon.FILLERS):
        yield from words
    yield from (kind.split(":")[0] for kind in lexicon.KINDS)
    for lists in (phrasings.STATEMENTS, phrasings.QUESTIONS, phrasings.EVENTS, phrasings.OPENINGS, phrasings.ENDINGS, phrasings.TOLD_OPENINGS, phrasings.TOLD,
                  phrasings.TOLD_ENDINGS, phrasings.BE, phrasings.HAVE, phrasings.ASKED_BEFORE, phrasings.ASKED_AFTER, tool_phrasings.DESCRIPTIONS,
                  tool_phrasings.DESCRIPTION_OPENINGS, tool_phrasings.REQUESTS, tool_phrasings.REQUEST_OPENINGS, tool_phrasings.REQUEST_ENDINGS,
                  tool_phrasings.LOOK_UP_OPENINGS):  # fmt: skip
        yield from every_fifth(lists[language], TRAIN)


REAL_WORDS = {language: _words_of(_texts(lexicon, language)) for language, lexicon in (("en", lexicon_en), ("de", lexicon_de))}
# Those that may name something: shorter ones stand everywhere.
SHORTEST_NAME = 5
NAMING_WORDS = {language: [word for word in words if len(word) >= SHORTEST_NAME] for language, words in REAL_WORDS.items()}


def listed_names():
    """The words of the lists of names, of both parts."""
    for lexicon in (lexicon_en, lexicon_de):
        for words in (" ".join(lexicon.ATTRIBUTES.values()).split(), lexicon.ADJECTIVES, lexicon.VERBS, lexicon.KINDS, lexicon.COLOURS, lexicon.MATERIALS):
            yield from (word.split(":")[0] for word in words)


def naming_word(rng, part, language):
    """What something is called that no list names: a made-up word; in training also a real one, or a blend of two."""
    chance = rng.random() if part == TRAIN else 0
    if chance < 0.4:
        return made_up_word(rng, part)
    words = NAMING_WORDS[language]
    return rng.choice(words) if chance < 0.65 else blend(rng, words)


def blend(rng, words):
    """A word of the training part, inflected too, that begins like one of `words` and ends like another: its letters come as in real
    words, which a tokenizer cuts into other pieces than made-up ones."""
    while True:
        first, last = rng.sample(words, 2)
        word = first[: rng.randint(1, len(first) - 1)] + last[rng.randint(1, len(last) - 1) :]
        if 4 <= len(word) <= 14 and not any(is_held_out(word + ending) for ending in ("", "e", "en", "er", "es")):
            return word


def garble(rng, part, language, template, chance):
    """In training the words of a template between its slots sometimes become others, made-up ones or real ones, and more come
    between them, so that a phrasing is recognised by what fills it and not by the words around."""
    if part != TRAIN or rng.random() >= chance:
        return template

    def other(match):
        # Beside a slot a made-up word would look like a part of what fills it.
        is_beside = template[: match.start()].rstrip().endswith("}") or template[match.end() :].lstrip().startswith("{")
        word = rng.choice(REAL_WORDS[language]).lower() if is_beside else _other_word(rng, language).lower()
        return capital(word) if match[0][0].isupper() else word

    changed = re.sub(r"(?<![{\w'])[A-ZÄÖÜa-zäöüß][a-zäöüß]+(?![}\w])", lambda m: m[0] if rng.random() < 0.5 else other(m), template)
    return re.sub(r"(?<=[a-zäöüß,]) (?=[a-zäöüß])", lambda _: f" {made_up_word(rng, TRAIN)} " if rng.random() < 0.1 else " ", changed)


def _other_word(rng, language):
    return rng.choice(REAL_WORDS[language]) if rng.random() < 0.5 else made_up_word(rng, TRAIN)


def other_words(rng, language):
    """One to five words that say nothing, for training: made-up ones and real ones."""
    return " ".join(_other_word(rng, language) for _ in range(rng.randint(1, 5)))


def other_ending(rng, language):
    """A sign and words that say nothing, for training: what may follow a question or a request."""
    return f"{rng.choice((',', ' -', '.', '?', ';'))} {other_words(rng, language)}{rng.choice(('?', '.', '', '!'))}"
