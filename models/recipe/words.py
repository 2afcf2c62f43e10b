"""Made-up words that can be pronounced, and the division of every word list into a training and an evaluation part."""
import re
import zlib

TRAIN, EVAL = "train", "eval"
_EVAL_SHARE = 6

# Sound inventories of several flavours: mixing them in one word would make all words alike.
_FLAVOURS = [
    ("b d f g k l m n p r s t v z br dr kr tr st gr".split(), "a e i o u".split(), ["", "", "n", "r", "l", "s", "m", "t"]),
    ("b d f g h k l m n p r s t w sch st kl br fr gl schw".split(), "a e i o u ei au ie ö ü ä".split(), "n r l ng ck st rt nd m".split()),
    ("k s t n h m y r w g z d b p ch sh ts ky ry".split(), "a i u e o".split(), ["", "", "", "n"]),
    ("b c d f g l m n p qu r s t v ch".split(), "a e i o u ia io ea".split(), ["", "", "l", "n", "r", "s"]),
    ("b ch d g k l m n p r s t v y z zh kh vl sn".split(), "a e i o u ya".split(), ["", "v", "k", "n", "m", "sk", "r", "l"]),
    ("b c d f g h j k l m n p r s t th v w sh bl cl fl pl".split(), "a e i o u ee oo ay ow".split(), "n d ck ll rd m p x ft nt".split()),
]
_ENDINGS = ["", "", "", "a", "o", "en", "er", "is", "us", "in", "ia", "um", "el", "y", "ov", "ung", "ing", "or"]


def is_held_out(text):
    """Whether a word (or a phrasing) belongs to the evaluation: decided by its own hash, so that the two parts are disjoint
    however they are generated."""
    return zlib.crc32(text.lower().encode()) % _EVAL_SHARE == 0


def choose_part(items, part):
    """The items of a list that belong to a part. German nouns carry their gender ("Miete:f"): where the word alone and the word with it
    are not of the same part, nobody gets it."""
    return [item for item in items if {is_held_out(item), is_held_out(item.split(":")[0])} == {part == EVAL}]


def every_fifth(items, part):
    """Divides a list of phrasings by position: every fifth is for the evaluation."""
    return [item for i, item in enumerate(items) if (i % 5 == 4) == (part == EVAL)]


def one_of(rng, part, phrasings):
    """One of a list's phrasings that belong to a part."""
    return rng.choice(every_fifth(phrasings, part))


def capital(text):
    """With a capital letter first, and the rest as it is."""
    return text[:1].upper() + text[1:]


def put_together(rng, opening, core, ending, begin=capital):
    """A phrasing of three parts; mostly it begins with a capital letter, which `begin` gives it."""
    phrasing = f"{opening} {core}{ending}".strip()
    return phrasing if rng.random() < 0.2 else begin(phrasing)


def articles(text, language):
    """The text, in English with "an" for "a" before a vowel that is spoken as one."""
    if language != "en":
        return text
    return re.sub(r"(?<![\w'])a (?=[aeiou])(?!uni|us[ei]|on(?:e|ce)\b|eu)", "an ", text)


def made_up_word(rng, part):
    """A lower-case word of at least three letters from the given part."""
    while True:
        onsets, vowels, codas = rng.choice(_FLAVOURS)
        count = rng.choice((1, 1, 2, 2, 2, 3))
        word = "".join(rng.choice(onsets) + rng.choice(vowels) + rng.choice(codas) for _ in range(count))
        if rng.random() < 0.15:
            word = rng.choice(vowels)[0] + word
        if count < 3:
            word += rng.choice(_ENDINGS)
        if 3 <= len(word) <= 14 and is_held_out(word) == (part == EVAL):
            return word


def up_to(rng, counts, difficulty):
    """One of the first of `counts`: of all of them at a difficulty of 1, of the first two at 0."""
    return rng.choice(counts[: max(2, round(len(counts) * difficulty))])
