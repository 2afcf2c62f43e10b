"""How a word comes back in another text: inflected, misspelt, as part of a compound, or as another word of the same meaning."""
import string

ENDINGS = {'en': ('s', 'ed', 'ing', 'er', 'ly', "'s", 'ment'), 'de': ('e', 'en', 'er', 'es', 's', 'n', 'ung', 'lich')}


def inflect(word, language, rng):
    """Another form of the word, by the commonest endings."""
    if word[-1].isdigit():
        return word
    if language == 'de':
        bare = next((word[:-len(end)] for end in ('en', 'er', 'es', 'e') if word.endswith(end) and len(word) > len(end) + 3), word)
        return bare + rng.choice([end for end in ENDINGS['de'] if bare + end != word])
    ending = rng.choice(ENDINGS['en'])
    if word.endswith('e') and ending[0] in 'ei':
        return word[:-1] + ending
    if word.endswith('y') and ending in ('s', 'ed', 'er'):
        return word[:-1] + 'i' + ('es' if ending == 's' else ending)
    return word + ending


def misspell(word, rng):
    """One slip: two letters swapped, one left out, doubled, wrong or too many."""
    if len(word) < 4 or word[-1].isdigit():
        return word
    at = rng.randrange(1, len(word) - 1)
    letter = rng.choice(string.ascii_lowercase)
    return rng.choice((
        word[:at] + word[at + 1] + word[at] + word[at + 2:],
        word[:at] + word[at + 1:],
        word[:at] + word[at] + word[at:],
        word[:at] + letter + word[at + 1:],
        word[:at] + letter + word[at:],
    ))


def compound(first, second, language, rng):
    """One German word of two; English keeps them apart or joins them with a hyphen."""
    if language == 'de':
        return first + rng.choice(('', '', 's', 'en' if not first.endswith(('e', 'n')) else '')) + second
    return first + rng.choice(('-', '', ' ')) + second
