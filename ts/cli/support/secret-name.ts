/** Whether what stands behind a name is a secret: `smtp.password`, `SVC_API_KEY`, `clientSecret`, but not `passphrase_file`. */

const WORDS = new Set(
  'pass passes pin otp totp seed mnemonic nonce salt signature sig auth authorization bearer jwt hmac psk dsn cvv sid cookie cookies session credential credentials'.split(
    ' ',
  ),
);
const ENDINGS =
  /(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|credential|apikey|accountkey|accesskey|privatekey|sharedkey|sessionid|connectionstring)s?$/;
const KEY_OF = new Set(
  'api access private encryption decryption signing sealing master account shared service license storage client session bot auth secret security rsa ssh'.split(
    ' ',
  ),
);
/** Words behind which a name speaks of the secret without being it. */
const ABOUT = new Set(
  'file files path folder count total length size type days hours minutes seconds ms bytes limit per max min used left name names rotated expires at ttl kind source state policy per_minute'.split(
    ' ',
  ),
);

export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_.-]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return !ABOUT.has(last) && words.some((word, i) => WORDS.has(word) || ENDINGS.test(word) || isKey(words, i));
}

function isKey(words: readonly string[], i: number): boolean {
  const [word = '', before = ''] = [words[i], words[i - 1]];
  return (word === 'key' || word === 'keys') && KEY_OF.has(before);
}
