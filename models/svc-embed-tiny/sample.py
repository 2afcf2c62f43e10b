"""Exports the model of a run and prints what it makes of some texts, as JSON: python3 sample.py --run FOLDER --out FILE. The server has to agree."""
import argparse
import json
from pathlib import Path

from data import Generator
from export import load, write
from model import embed
from tokenizer import Tokenizer

TEXTS = [
    'Which defenders intercepted 23.5% of all passes in 2015?',
    'Donaudampfschifffahrtsgesellschaften, Häuserpreise & Straßenbahnfahrkarten',
    'ÀÉÎÕÜ façade naïve Ångström Øresund œuvre ß ẞ',
    'Γειά σου Κόσμε — привет, мир! 你好,世界。 こんにちは 👋🏽 ﬁne',
    'tabs\tand\nnewlines\r\n  spaces\u00a0\u2003here \u200b\u00ad x_y-z C++ #1 @home a<b>c ~$5 €7 ½ “quoted”',
    "don't O'Neill's rock'n'roll 3rd 1,234,567.89 1890s B2B v1.2.3",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--run', required=True)
    parser.add_argument('--out', required=True)
    arguments = parser.parse_args()
    model, tokens, _ = load(arguments.run)
    write(Path(arguments.out), model, tokens, table_type='F32')
    generator = Generator('sample')
    articles = [generator.article() for _ in range(10)]
    texts = TEXTS + [generator.passage(article, n_sentences)[0] for n_sentences, article in enumerate(articles, 1)]
    tokenizer = Tokenizer(tokens)
    vectors = embed(model.eval(), tokenizer, texts)
    cases = [{'text': text, 'ids': tokenizer.encode(text), 'vector': vector.tolist()} for text, vector in zip(texts, vectors)]
    print(json.dumps({'nVocab': len(tokens), 'cases': cases}))


if __name__ == '__main__':
    main()
