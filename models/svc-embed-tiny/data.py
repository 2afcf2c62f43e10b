"""
Training pairs, generated: nothing here was written by others.

An article is a few passages about the same made-up names and one or two topics; a question takes words of one sentence and asks with them
in another form. Short pairs are a sentence and its paraphrase, or a word and another form of it. Everything follows from the seed.
Words whose checksum falls into HELD_OUT are kept for evaluation.
"""
import random
import zlib
from dataclasses import dataclass
from functools import cache

from frames import QUESTIONS, STATEMENTS, fill, frames
from lexicon import read_concepts
from spelling import Spelling
from variation import compound, inflect, misspell
from vocabulary import lexicon_words

HELD_OUT = 10  # one made-up word in so many


@dataclass(frozen=True)
class Item:
    """A word of content and, when it is of the lists, its concept."""
    text: str
    language: str
    concept: object = None


@dataclass(frozen=True)
class Article:
    language: str
    names: list
    words: list


def is_held_out(word):
    return zlib.crc32(word.encode()) % HELD_OUT == 0


@cache
def word_lists():
    """(concepts, concepts by topic, spelling by language)"""
    concepts, topics = read_concepts(), {}
    for concept in concepts:
        topics.setdefault(concept.topic, []).append(concept)
    return concepts, topics, {language: Spelling(lexicon_words(language)) for language in ('en', 'de')}


class Generator:
    def __init__(self, seed, held_out=False):
        self.rng = random.Random(seed)
        self.held_out = held_out
        self.concepts, self.topics, self.spelling = word_lists()
        self.statements, self.questions = frames(STATEMENTS), frames(QUESTIONS)

    def made_up(self, language):
        while True:
            word = self.spelling[language].word(self.rng)
            if is_held_out(word) == self.held_out:
                return word

    def article(self, language=None):
        rng = self.rng
        language = language or rng.choice(('en', 'de'))
        topics = rng.sample([topic for topic in self.topics if topic != 'generic'], rng.choice((1, 2, 2)))
        known = [concept for topic in topics for concept in rng.sample(self.topics[topic], min(14, len(self.topics[topic])))]
        words = [self._item(concept, language) for concept in known if concept.words[language]]
        words += [Item(self.made_up(language), language) for _ in range(12)]
        names = [Item(self.made_up(rng.choice(('en', 'de'))).capitalize(), language) for _ in range(rng.randint(4, 8))]
        return Article(language, names, words)

    def passage(self, article, n_sentences):
        """(text, [items of each sentence])"""
        sentences = [self.statement(article) for _ in range(n_sentences)]
        return ' '.join(text for text, _ in sentences), [items for _, items in sentences]

    def question(self, article, sentences, other_language=0.1):
        """What asks for one of the sentences."""
        rng = self.rng
        told = rng.choice(sentences)
        asked = rng.sample(told, min(len(told), rng.choice((2, 3, 3, 4, 4, 5, 6))))
        if rng.random() < 0.4:
            asked.append(rng.choice(rng.choice(sentences)))
        language = article.language
        if rng.random() < other_language:
            language = 'de' if language == 'en' else 'en'
        words = [self.variant(item, language) for item in asked]
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            words.append(self._stranger(language).text)
        rng.shuffle(words)
        return fill(rng.choice(self.questions[language]), words)

    def sentence_pair(self):
        """A sentence and its paraphrase: another frame, another order, other forms of most words."""
        article = self.article()
        text, items = self.statement(article)
        kept = self.rng.sample(items, max(3, len(items) - self.rng.choice((0, 1, 2))))
        words = [self.variant(item, article.language, changed=0.7) for item in kept]
        return text, fill(self.rng.choice(self.statements[article.language]).rstrip('.'), words)

    def word_pair(self):
        """One or two words and another form of them."""
        rng = self.rng
        language = rng.choice(('en', 'de'))
        items = [self._stranger(language) for _ in range(rng.choice((1, 1, 2)))]
        if len(items) == 2:
            joined = compound(*(item.text for item in items), language, rng)
            return joined, rng.choice((items[1].text, ' '.join(item.text for item in items), f'{items[1].text} {items[0].text}'))
        item = items[0]
        if item.concept and rng.random() < 0.5:
            return item.text, self._synonym(item, rng.choice(('en', 'de')))
        return item.text, misspell(item.text, rng) if rng.random() < 0.5 else inflect(item.text, language, rng)

    def variant(self, item, language, changed=0.4):
        """The item as another text puts it."""
        rng = self.rng
        if item.concept and language != item.language:
            return self._synonym(item, language)
        if rng.random() >= changed:
            return item.text
        if item.concept and rng.random() < 0.5:
            return self._synonym(item, language)
        if rng.random() < 0.15:
            return misspell(item.text, rng)
        return inflect(item.text, language, rng)

    def statement(self, article):
        """(text, its items) of one sentence."""
        rng = self.rng
        frame = rng.choice(self.statements[article.language])
        items = []
        for _ in range(frame.count('_')):
            draw = rng.random()
            if draw < 0.22:
                items.append(rng.choice(article.names))
            elif draw < 0.30:
                items.append(Item(self._number(), article.language))
            elif draw < 0.45:
                items.append(self._item(rng.choice(self.topics['generic']), article.language))
            elif draw < 0.55:
                items.append(self._stranger(article.language))
            elif draw < 0.62:
                first, second = rng.choice(article.words), rng.choice(article.words)
                items.append(Item(compound(first.text, second.text, article.language, rng), article.language))
            else:
                items.append(rng.choice(article.words))
        words = [inflect(item.text, item.language, rng) if rng.random() < 0.3 else item.text for item in items]
        return fill(frame, words), items

    def _item(self, concept, language):
        return Item(self.rng.choice(concept.words[language] or [self.made_up(language)]), language, concept)

    def _stranger(self, language):
        """Any word: of the lists or made up."""
        if self.rng.random() < 0.4:
            return self._item(self.rng.choice(self.concepts), language)
        return Item(self.made_up(language), language)

    def _synonym(self, item, language):
        others = [word for word in item.concept.words[language] if word != item.text]
        return self.rng.choice(others) if others else item.text

    def _number(self):
        return str(self.rng.choice((self.rng.randint(2, 99), self.rng.randint(1000, 2030), self.rng.randint(100, 99_999))))
