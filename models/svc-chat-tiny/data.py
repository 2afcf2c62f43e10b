"""Conversations that svc-chat-tiny learns from: the mixture of skills, and the text that its tokenizer is trained on."""
import random
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import slots
import tools
import values
import vocabulary
from chat import render
from extraction import extraction_conversation
from passages import passage_conversation
from recipe.tokenizer import CONTROL, USER_DEFINED, train_tokenizer
from recipe.words import TRAIN
from small_talk import small_talk_conversation
from tools import tool_conversation

SPECIALS = {"<|end|>": CONTROL, "<|system|>": CONTROL, "<|user|>": CONTROL, "<|assistant|>": CONTROL, "<|tool|>": CONTROL,
            "<tool_call>": USER_DEFINED, "</tool_call>": USER_DEFINED}  # fmt: skip
N_VOCAB = 4096
_NAMES = {word.lower() for module in (slots, tools, values, vocabulary) for word in module.listed_names()}


class Mixture(NamedTuple):
    """Shares of the skills; the rest is small talk."""

    passages: float
    tools: float
    json: float


# Values in JSON take the most examples to learn; in the end, what people meet first has its share.
MIXTURE, LAST_MIXTURE = Mixture(0.30, 0.24, 0.40), Mixture(0.37, 0.25, 0.29)


def conversation(rng, part, difficulty=1.0, mixture=MIXTURE):
    """(messages, tools or None) of a random skill of the mixture. Below a difficulty of 1, conversations are of mixed difficulty up to that."""
    skill, language = rng.random(), rng.choice(("en", "de"))
    # Simple ones stay: what they teach would fade.
    if difficulty < 1 or (part == TRAIN and rng.random() < 0.4):
        difficulty *= rng.random()
    if skill < mixture.passages:
        return passage_conversation(rng, part, language, difficulty), None
    skill -= mixture.passages
    if skill < mixture.tools:
        return tool_conversation(rng, part, "de" if rng.random() < 0.2 else "en", difficulty)
    skill -= mixture.tools
    if skill < mixture.json:
        return extraction_conversation(rng, part, "de" if rng.random() < 0.25 else "en", difficulty)[0], None
    return small_talk_conversation(rng, part, language), None


def new_tokenizer(seed, n_conversations=6000):
    """A tokenizer for the training part's conversations. Role tokens are left out: they are no text."""
    rng = random.Random(f"tokenizer {seed}")
    texts = (render(*conversation(rng, "train")) for _ in range(n_conversations))
    plain = (text.replace("<|end|>", " ").replace("|>", " ").replace("<|", " ").replace("tool_call>", " ") for text in texts)
    return train_tokenizer(plain, N_VOCAB, SPECIALS, is_name=_is_name)


def _is_name(word):
    """Whether a word may name something: with a space before it, it must have the tokens that it has without."""
    return len(word) >= vocabulary.SHORTEST_NAME or word.lower() in _NAMES or (len(word) == 1 and word.isupper())
