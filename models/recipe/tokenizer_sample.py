"""python3 -m recipe.tokenizer_sample FOLDER (in models/): a small tokenizer, its GGUF file, and texts with their tokens,
so that a test can compare them with llama.cpp's."""
import json
import random
import sys
from pathlib import Path

from .gguf_file import add_tokenizer, close_writer, open_writer
from .tokenizer import CONTROL, USER_DEFINED, load_tokenizer, train_tokenizer

SPECIALS = {"<|user|>": CONTROL, "<|end|>": CONTROL, "<tool_call>": USER_DEFINED}
ALPHABETS = ("abcdeXYZ", "äöüßéñ", "0123456789", " \n\t\r", "'\"{}[]().,:;-_/", "жяю", "中文字", "😀\u200d²½\u0301")
WRITTEN = [
    "The height of Korvat is 7,340 m [1].",
    '<tool_call>\n{"name": "find_ship", "arguments": {"name": "Korvat", "n": 12}}\n</tool_call>',
    "it's  they'LL don't\n\n  x \r\n y\t.",
    "<|user|>Größe 12345 Straße<|end|> end",
    "",
]


def _random_text(rng):
    return "".join("".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(1, 5))) for _ in range(rng.randint(1, 20)))


def main(folder):
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghäöß", k=rng.randint(2, 8))) for _ in range(400)]
    corpus = [f'The {word} of "{rng.choice(words)}": Größe (the {word}).' for word in words]
    path = folder / "tokenizer.json"
    train_tokenizer(corpus, 2048, SPECIALS, n_whole=40).save(path)
    tokenizer = load_tokenizer(path)
    model = folder / "tokenizer.gguf"
    writer = open_writer(model, "llama")
    add_tokenizer(writer, tokenizer, eos="<|end|>")
    close_writer(writer)
    texts = [*WRITTEN, *corpus[:50], *(_random_text(rng) for _ in range(1000))]
    print(json.dumps({"model": str(model), "nVocab": tokenizer.n_vocab, "cases": [[text, tokenizer.encode(text)] for text in texts]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
