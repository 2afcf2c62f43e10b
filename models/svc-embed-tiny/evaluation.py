"""
Writes the held-out triples: python3 evaluation.py FOLDER [--count N]

One file a set, one JSON object a line: a text, another form of it that has to be nearer, and a text that has to be farther. The made-up words
are of those that training leaves out; the paraphrases are written by hand (paraphrases.txt).
"""
import argparse
import json
from functools import cache
from pathlib import Path

from data import Generator
from lexicon import read_lines
from variation import compound, inflect, misspell

SEED = 20_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--count', type=int, default=200)
    arguments = parser.parse_args()
    for name, triples in held_out_sets(arguments.count).items():
        lines = [json.dumps(dict(zip(('text', 'near', 'far'), triple)), ensure_ascii=False) for triple in triples]
        (arguments.folder / f'{name}.jsonl').write_text('\n'.join(lines) + '\n', 'utf-8')


def held_out_sets(count):
    generator = Generator(SEED, held_out=True)
    sets = {f'{name}-{language}': [make(generator, language) for _ in range(count)] for name, make in MAKERS.items() for language in ('en', 'de')}
    return {**sets, **{f'paraphrase-{language}': triples for language, triples in _by_hand().items()}}


def _misspelt(generator, language):
    word, other = _alike(generator, language)
    return word, misspell(word, generator.rng), other


def _inflected(generator, language):
    word, other = _alike(generator, language)
    return word, inflect(word, language, generator.rng), inflect(other, language, generator.rng)


def _compounded(generator, language):
    """The head of a compound is nearer than another word that begins like the head."""
    head, other = _alike(generator, language)
    return compound(generator.made_up(language), head, language, generator.rng), head, other


def _reworded(generator, language):
    """A sentence with other forms of its words in another order, against the same frame with other words."""
    article = generator.article(language)
    text, items = generator.statement(article)
    near = [generator.variant(item, language, changed=0.7) for item in items]
    generator.rng.shuffle(near)
    far, _ = generator.statement(generator.article(language))
    return text, ' '.join(near), far


MAKERS = {'misspelt': _misspelt, 'inflected': _inflected, 'compound': _compounded, 'reworded': _reworded}


def _alike(generator, language):
    """Two words of about the same length that begin with the same two letters."""
    word = generator.made_up(language)
    others = [other for other in _words(language) if other != word and other[:2] == word[:2] and abs(len(other) - len(word)) < 3]
    return (word, generator.rng.choice(others)) if others else _alike(generator, language)


@cache
def _words(language):
    generator = Generator(SEED + 1, held_out=True)
    return sorted({generator.made_up(language) for _ in range(1000)})


def _by_hand():
    triples, language = {'en': [], 'de': []}, None
    for line in read_lines('../paraphrases.txt'):
        if line[2:] in triples:
            language = line[2:]
        elif not line.startswith('#'):
            triples[language].append([part.strip() for part in line.split('|')])
    return triples


if __name__ == '__main__':
    main()
