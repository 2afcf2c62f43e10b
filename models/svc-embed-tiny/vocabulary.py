"""
The tokens, made from the word lists and from made-up words: no text is read.

A text is cut greedily from the left into the longest tokens (WordPiece). Tokens that begin a word carry the mark U+2581, as in llama.cpp.
Words of the lists are tokens of their own, so that "governments" is government + s; any other word begins with three or four of its letters
and goes on in threes and twos. Every character can be written: where none of the tokens fits, the bytes do.
"""
import random
import string
from collections import Counter
from dataclasses import dataclass

from lexicon import read_concepts, read_function_words
from spelling import Spelling

MARK = '▁'
SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
PAD, UNK, CLS, SEP, MASK = range(5)

ENDINGS = '''s es ed ing er ers est ly al ally ion ions ation ity ness ment ments able ful less ous ive ism ist ists
e en em ern es n st t te ten ter tes tem ung ungen lich liche lichen licher liches ig ige igen iger isch ische ischen ischer isches
keit keiten heit heiten schaft schaften in innen bar'''.split()

WEIGHTS = {'special': 0, 'function': 0.05, 'generic': 0.6, 'word': 1, 'inside': 0.8, 'number': 1, 'start': 1.1, 'piece': 0.5, 'ending': 0.12, 'mark': 0.04}


@dataclass(frozen=True)
class Token:
    text: bytes
    kind: str  # a key of WEIGHTS
    stem: str = ''  # what identifies it: tokens of one stem are spelt differently and mean the same
    concept: int = -1
    topic: str = ''

    @property
    def begins_word(self):
        return self.text.startswith(MARK.encode())

    @property
    def letters(self):
        return self.text.decode('utf-8', 'replace').removeprefix(MARK)


def build_vocabulary(seed=1, n_starts=4000, n_short_starts=1500, n_pieces=3000):
    """All tokens, the ids are their places. The first of two tokens with the same text stays."""
    tokens = {}

    def add(text, kind, **about):
        data = text if isinstance(text, bytes) else text.encode()
        tokens.setdefault(data, Token(data, kind, **about))

    for text in SPECIAL:
        add(text, 'special')
    _add_function_words(add)
    _add_numbers(add)
    _add_concepts(add)
    for ending in ENDINGS:
        add(ending, 'ending', stem='-' + ending)
    _add_pieces(add, seed, n_starts, n_short_starts, n_pieces)
    _add_characters(add)
    return list(tokens.values())


def lexicon_words(language):
    return sorted({word for concept in read_concepts() for word in concept.words[language]})


def stems(word, language):
    """The word, and what is left of it before endings that change its spelling."""
    found = [word]
    if language == 'en' and len(word) > 4:
        if word.endswith('e'):
            found.append(word[:-1])
        if word.endswith('y'):
            found.append(word[:-1] + 'i')
    if language == 'de' and len(word) > 5:
        found += [word[:-len(ending)] for ending in ('en', 'e') if word.endswith(ending)][:1]
    return found


def _add_function_words(add):
    for words in read_function_words().values():
        for word in words:
            add(MARK + word, 'function', stem=word)


def _add_numbers(add):
    for number in [*map(str, range(10)), *(f'{n:02}' for n in range(100))]:
        add(MARK + number, 'number', stem=number)
        add(number, 'number', stem='+' + number)
    for year in range(1800, 2050):
        add(f'{MARK}{year}', 'number', stem=str(year))


def _add_concepts(add):
    placed = [(word, language, concept) for concept in read_concepts() for language in ('en', 'de') for word in concept.words[language]]
    for variant in (0, 1):  # whole words first: "care" of one line must not hide behind the stem of another
        for word, language, concept in placed:
            for form in stems(word, language)[variant:variant + 1]:
                about = {'stem': word, 'concept': concept.number, 'topic': concept.topic}
                add(MARK + form, 'generic' if concept.topic == 'generic' else 'word', **about)
    for word, language, concept in placed:
        if len(word) >= 5 and concept.topic != 'generic':
            add(word, 'inside', stem=word, concept=concept.number, topic=concept.topic)
    for word, language, concept in placed:  # after the linking s of a compound: Bildungs-gesellschaft
        if language == 'de' and len(word) >= 5 and concept.topic != 'generic':
            add('s' + word, 'inside', stem=word, concept=concept.number, topic=concept.topic)


def _add_pieces(add, seed, n_starts, n_short_starts, n_pieces):
    starts, short_starts, pieces = Counter(), Counter(), Counter()
    for language in ('en', 'de'):
        rng = random.Random(f'{seed} {language}')
        spelling = Spelling(lexicon_words(language))
        for _ in range(60_000):
            word = spelling.word(rng)
            starts[word[:4]] += 1
            short_starts[word[:3]] += 1
            pieces.update(word[i:i + 3] for i in range(2, len(word) - 2))
    for counter, count, mark, kind in ((starts, n_starts, MARK, 'start'), (short_starts, n_short_starts, MARK, 'start'), (pieces, n_pieces, '', 'piece')):
        for letters, _ in sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:count]:
            add(mark + letters, kind, stem=mark + letters)
    pairs = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    for pair in pairs:
        add(MARK + pair, 'start', stem=MARK + pair)
        add(pair, 'piece', stem=pair)


def _add_characters(add):
    for letter in string.ascii_lowercase + 'ßæøłđðþœı' + 'αβγδεζηθικλμνξοπρςστυφχψω' + 'абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ':
        add(MARK + letter, 'start', stem=MARK + letter)
        add(letter, 'piece', stem=letter)
    for sign in string.punctuation + '–—„“”‚‘’«»…·•§°€£¥©®™×÷±²³½':
        add(MARK + sign, 'mark', stem=sign)
        add(sign, 'mark', stem=sign)
    add(MARK, 'mark', stem=MARK)
    for byte in range(1, 256):
        add(bytes([byte]), 'piece' if byte > 127 else 'mark', stem=f'byte {byte}')
