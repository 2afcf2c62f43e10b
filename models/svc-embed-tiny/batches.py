"""Training batches: step number in, texts out. A step depends on the seed and its number alone, so a resumed run sees what an unbroken one sees."""
from dataclasses import dataclass

from data import Generator


@dataclass(frozen=True)
class Batch:
    """Groups of pairs; within a group every text is told from all the others."""
    retrieval: list  # (question, passage)
    sentences: list  # (sentence, paraphrase)
    words: list  # (word, another form)


@dataclass(frozen=True)
class BatchSize:
    n_articles: int = 8
    n_passages: int = 4  # of each article: they share its names and topics, so the questions have to look closer
    n_sentences: int = 32
    n_words: int = 128


def make_batch(seed, step, size=BatchSize(), held_out=False):
    generator = Generator(f'{seed} {step} {held_out}', held_out)
    retrieval = [pair for _ in range(size.n_articles) for pair in _article(generator, size.n_passages)]
    sentences = [generator.sentence_pair() for _ in range(size.n_sentences)]
    return Batch(retrieval, sentences, [generator.word_pair() for _ in range(size.n_words)])


def _article(generator, n_passages):
    article = generator.article()
    for _ in range(n_passages):
        text, sentences = generator.passage(article, generator.rng.randint(2, 7))
        yield generator.question(article, sentences), text
