/** Money for a million tokens, and what an answer costs by it: in integers of millionths, so that no sum drifts. */
import type { ProviderTokens } from '../kinds/kind.ts';

/** Decimal strings; what has no price of its own is billed as the input or output that it is part of. */
export interface Price {
  input?: string;
  output?: string;
  cache_read?: string;
  cache_write_5m?: string;
  cache_write_1h?: string;
  reasoning?: string;
  image?: string;
  audio?: string;
  currency: string;
  source?: string;
  date?: string;
}

export const PRICED = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'reasoning',
  'image',
  'audio',
] as const;
type Priced = (typeof PRICED)[number];

/** Digits behind the point that a price may have. */
const DIGITS = 9;
export const PRICE_PATTERN = `^\\d{1,9}(?:\\.\\d{1,${DIGITS}})?$`;
const SCALE = 10n ** BigInt(DIGITS);

/** Millionths of the currency, rounded once. Undefined: something was used whose price is not known. */
export function costOf(price: Price, tokens: ProviderTokens): number | undefined {
  const { nCacheReadTokens: read, nCacheWrite5mTokens: write5m, nCacheWrite1hTokens: write1h } = tokens;
  const { nReasoningTokens: reasoning, nImageTokens: image, nAudioTokens: audio } = tokens;
  // What has a price of its own is taken out of what it is part of.
  const apart = (name: Priced, count: number): number => (price[name] === undefined ? 0 : count);
  const input =
    tokens.nPromptTokens -
    apart('cache_read', read) -
    apart('cache_write_5m', write5m) -
    apart('cache_write_1h', write1h) -
    apart('image', image) -
    apart('audio', audio);
  const output = tokens.nCompletionTokens - apart('reasoning', reasoning);
  const billed: [Priced, number][] = [
    ['input', Math.max(0, input)],
    ['output', Math.max(0, output)],
    ['cache_read', apart('cache_read', read)],
    ['cache_write_5m', apart('cache_write_5m', write5m)],
    ['cache_write_1h', apart('cache_write_1h', write1h)],
    ['reasoning', apart('reasoning', reasoning)],
    ['image', apart('image', image)],
    ['audio', apart('audio', audio)],
  ];
  let scaled = 0n;
  for (const [name, count] of billed) {
    if (count === 0) continue;
    const each = scaledPrice(price[name]);
    if (each === undefined) return undefined;
    scaled += each * BigInt(count);
  }
  return Number((scaled + SCALE / 2n) / SCALE);
}

/** Of one token, in millionths of the currency, which is the same number as money for a million tokens. */
function scaledPrice(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const [whole = '0', part = ''] = text.split('.');
  return BigInt(whole) * SCALE + BigInt(part.padEnd(DIGITS, '0'));
}
