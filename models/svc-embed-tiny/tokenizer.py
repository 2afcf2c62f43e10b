"""WordPiece as llama.cpp's tokenizer "bert" does it (src/llama-vocab.cpp, llm_tokenizer_wpm_session)."""
import unicodedata

from lexicon import fold
from vocabulary import CLS, MARK, SEP, UNK


class Tokenizer:
    def __init__(self, tokens):
        self.ids = {token.text: number for number, token in enumerate(tokens)}
        self.longest = max(len(token.text) for token in tokens)
        self.cache = {}

    def encode(self, text, most=None):
        """Ids between [CLS] and [SEP]."""
        ids = [number for word in split_words(text) for number in self.word(word)]
        return [CLS, *ids[:most and most - 2], SEP]

    def word(self, word):
        """Ids of one word, longest tokens first."""
        known = self.cache.get(word)
        if known is None:
            known = self.cache[word] = self._cut((MARK + word).encode())
        return known

    def _cut(self, data):
        ids, start = [], 0
        while start < len(data):
            for end in range(min(len(data), start + self.longest), start, -1):
                if data[start:end] in self.ids:
                    break
            else:
                return [UNK]
            ids.append(self.ids[data[start:end]])
            start = end
        return ids


def split_words(text):
    """Folded words; every punctuation mark, ASCII symbol and Chinese character is one of its own."""
    words, current = [], ''
    for char in fold(text):
        category = unicodedata.category(char)
        alone = category[0] == 'P' or (category[0] == 'S' and ord(char) < 0x7F) or _is_chinese(char)
        if alone or char.isspace():
            if current:
                words.append(current)
            current = ''
            if alone:
                words.append(char)
        elif category[0] != 'C' and char != '�':
            current += char
    return words + [current] if current else words


def _is_chinese(char):
    return any(low <= ord(char) <= high for low, high in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F)))
