/** How much a decoded text looks like what the languages of its encoding write. Right decodings consist of frequent characters. */

interface Profile {
  /** Frequent characters beyond ASCII. */
  frequent: RegExp;
  /** Other letters that the languages have. */
  known: RegExp;
  /** Accented letters seldom follow each other. */
  isLatin?: true;
  /** Letters of these alphabets do not stand inside a word with Latin ones. */
  isOtherAlphabet: boolean;
}

const western = /[äöüßÄÖÜéèêëàâçñáíóúõãîïôûùœæøåÉ’‘“”„–—…€«»°§©®·]/u;
const russian = /[оеаинтсрвлкмдпу]/u;
const hanzi =
  /[的一是不了人我在有他这這中大来來上国國个個到说說们們为為子和你地出道也时時年得就那要下以生会會自着著去之过過家学學对對可她里裡后後小么麼心多天而能好都然没沒日于於起还還发發成事只作当當想看文无無开開手十用主行方又如前所本见見经經头頭面公同三已老从從动動两兩长長，。、：；！？]/u;

const profiles: Readonly<Record<string, Profile>> = {
  'windows-1252': { frequent: western, known: /[À-ÿŒŠŸŽœšž¡¿]/u, isLatin: true, isOtherAlphabet: false },
  'windows-1250': {
    frequent: /[ěščřžýáíéúůťďňąćęłńóśźżőűäöüăâîşţ–„”]/u,
    known: /[\u00c0-\u017f]/u,
    isLatin: true,
    isOtherAlphabet: false,
  },
  'windows-1254': { frequent: /[ğışöüçİŞĞÖÜÇâî’“”]/u, known: /[\u00c0-\u017f]/u, isLatin: true, isOtherAlphabet: false },
  'windows-1251': { frequent: russian, known: /[\u0400-\u045f«»—–№“”„]/u, isOtherAlphabet: true },
  'koi8-r': { frequent: russian, known: /[\u0400-\u045f]/u, isOtherAlphabet: true },
  ibm866: { frequent: russian, known: /[\u0400-\u045f]/u, isOtherAlphabet: true },
  'windows-1253': { frequent: /[αεηιοτνσςρκπλμυωάέήίόύώγδθβφχξζψ]/u, known: /[\u0370-\u03ff«»’–]/u, isOtherAlphabet: true },
  'windows-1255': { frequent: /[אבגדהוזחטילמםנןסעפףצקרשת]/u, known: /[\u0590-\u05ff–”]/u, isOtherAlphabet: true },
  'windows-1256': { frequent: /[ابتدرسعفقكلمنهوي،ةىأإ]/u, known: /[\u0600-\u06ff؟؛]/u, isOtherAlphabet: true },
  shift_jis: { frequent: /[ぁ-んァ-ヶー。、「」]/u, known: /[\u4e00-\u9fff\u3000-\u30ff\uff01-\uff5e]/u, isOtherAlphabet: false },
  'euc-jp': { frequent: /[ぁ-んァ-ヶー。、「」]/u, known: /[\u4e00-\u9fff\u3000-\u30ff\uff01-\uff5e]/u, isOtherAlphabet: false },
  gb18030: { frequent: hanzi, known: /[\u4e00-\u9fff\u3000-\u3020\uff01-\uff5e]/u, isOtherAlphabet: false },
  big5: { frequent: hanzi, known: /[\u4e00-\u9fff\u3000-\u3020\uff01-\uff5e]/u, isOtherAlphabet: false },
  'euc-kr': { frequent: /[가-힣]/u, known: /[\u3131-\u318e\u4e00-\u9fff\u3000-\u3020]/u, isOtherAlphabet: false },
};

/** Not above 1. A text without a character beyond ASCII scores 0. */
export function scoreDecoding(text: string, encoding: string): number {
  const profile = profiles[encoding];
  if (profile === undefined) return Number.NEGATIVE_INFINITY;
  let sum = 0;
  let n = 0;
  let before = ' ';
  for (const character of text) {
    if (character > '\u007f') {
      n++;
      sum += scoreCharacter(character, before, profile);
    } else if (profile.isOtherAlphabet && /[A-Za-z]/.test(character) && profile.known.test(before)) sum--;
    before = character;
  }
  return n === 0 ? 0 : sum / n;
}

function scoreCharacter(character: string, before: string, { frequent, known, isLatin, isOtherAlphabet }: Profile): number {
  if (/[\u0080-\u009f\ufffd\ue000-\uf8ff]/u.test(character)) return -3;
  if (isOtherAlphabet && /[A-Za-z]/.test(before) && /\p{L}/u.test(character)) return -1;
  if (isLatin && before > '\u007f' && /\p{L}/u.test(before) && /\p{L}/u.test(character)) return -0.5;
  // A capital behind a small letter: the halves of an alphabet are swapped.
  if (/\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)) return -1;
  if (frequent.test(character)) return 1;
  return known.test(character) ? 0.3 : -0.5;
}
