"""The word lists of this folder: function words, and lines of English and German words that mean about the same."""
import unicodedata
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / 'lexicon'


def fold(text):
    """Lower case without accents: what the tokenizer sees."""
    decomposed = unicodedata.normalize('NFD', text.lower())
    return ''.join(char for char in decomposed if unicodedata.category(char) != 'Mn')


@dataclass(frozen=True)
class Concept:
    """One line: words of the same meaning in each language."""
    number: int
    topic: str
    words: dict  # language -> list of folded words


def read_function_words():
    """{'en': [...], 'de': [...]}; the section headings are '# en' and '# de'."""
    words, language = {'en': [], 'de': []}, None
    for line in read_lines('function-words.txt'):
        if line[2:] in words:
            language = line[2:]
        elif not line.startswith('#'):
            words[language] += [fold(word) for word in line.split()]
    return words


def read_concepts():
    """All lines that are left once function words are taken out."""
    function_words = set(sum(read_function_words().values(), []))
    concepts, topic = [], None
    for path in sorted(FOLDER.glob('en-de-*.txt')):
        for line in read_lines(path.name):
            if line.startswith('#'):
                topic = line[2:]
                continue
            sides = dict(zip(('en', 'de'), line.split('|')))
            words = {language: _unique(side, function_words) for language, side in sides.items()}
            if any(words.values()):
                concepts.append(Concept(len(concepts), topic, words))
    return concepts


def read_lines(name):
    """Lines that are not empty, of a file in the folder of the word lists."""
    return [line.strip() for line in (FOLDER / name).read_text('utf-8').splitlines() if line.strip()]


def _unique(side, function_words):
    words = dict.fromkeys(fold(word).replace('-', '') for word in side.split())
    return [word for word in words if len(word) > 1 and word not in function_words]
