/** A provider's refusal by its status and its sentence: the kinds have the same statuses, and differ in where the sentence stands. */
import { isObject, type Json, objectOf, textOr } from './json.ts';
import type { Refusal, RefusalMeaning } from './kind.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MOST_SENTENCE = 400;
const TOO_LONG =
  /context[ _-]?(?:length|window)|prompt is too long|maximum context|too many (?:input )?tokens|input is too long/i;
/** OpenAI answers 429 for an account without credit, which no waiting ends. */
const NO_CREDIT = /insufficient_quota|billing|credit balance|payment required/i;
const BAD_KEY = /api[ _-]?key not valid|invalid[ _-]api[ _-]key|api_key_invalid|unrecognizedclient|invalidsignature/i;
/** Further on a sentence may quote the request, by which a caller could take the backend from all others. */
const BEGINS_WITH_BAD_KEY = new RegExp(`^(?:${BAD_KEY.source})`, 'i');

/** Reads the refusal of an answer with another status than 200. */
export function refusalOf(status: number, headers: Headers, body: string): Refusal {
  const parsed = parse(body);
  const { sentence, code } = sentenceOf(parsed);
  const meaning = meaningOf(status, code, sentence);
  return {
    meaning,
    status,
    sentence: sentence === '' ? `it answers ${status}` : sentence,
    retryAfterMs: retryAfter(headers) ?? retryInBody(parsed),
    isTooLong: meaning === 'request' && TOO_LONG.test(`${code} ${sentence}`),
  };
}

/** Reads the refusal of an error inside of a stream, which has no status of its own; `code` is the provider's word for it. */
export function refusalInStream(body: unknown, status: number | undefined): Refusal {
  const { sentence, code } = sentenceOf(body);
  const known = status ?? statusOfWord(code);
  return {
    meaning: meaningOf(known, code, sentence),
    status: known,
    sentence: sentence || code || 'it reports an error',
    retryAfterMs: retryInBody(body),
    isTooLong: TOO_LONG.test(`${code} ${sentence}`) && known < 500,
  };
}

function meaningOf(status: number, code: string, sentence: string): RefusalMeaning {
  if (status === 402 || (status === 429 && NO_CREDIT.test(`${code} ${sentence}`))) return 'credit';
  const isBadKey = BAD_KEY.test(code) || BEGINS_WITH_BAD_KEY.test(sentence);
  if (status === 401 || status === 403 || (status === 400 && isBadKey)) return 'credential';
  if (status === 404) return 'missing';
  if (status === 429) return 'limit';
  if (status === 408 || status === 425 || status >= 500 || status < 400) return 'passing';
  return 'request';
}

const WORDS: readonly [RegExp, number][] = [
  [/overloaded|unavailable|server_error|internal|timeout/i, 503],
  [/rate_limit|throttl|resource_exhausted|too_many/i, 429],
  [/authentication|permission|unauthori[sz]ed|accessdenied/i, 401],
  [/not_found/i, 404],
  [/billing|insufficient_quota/i, 402],
  [/invalid|validation|bad_request|context_length|request_too_large/i, 400],
];

/** 500 for what is not known: it may go away. */
function statusOfWord(word: string): number {
  return WORDS.find(([pattern]) => pattern.test(word))?.[1] ?? 500;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** OpenAI, Anthropic and Gemini have `error.message`, AWS `message`, Ollama `error`, FastAPI `detail`, Gemini a list around it. */
function sentenceOf(body: unknown): { sentence: string; code: string } {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return { sentence: isPage(first) ? '' : plain(textOr(first)), code: '' };
  const error = first['error'];
  const inner = objectOf(error);
  const sentence =
    textOr(inner['message']) || textOr(error) || textOr(first['message']) || textOr(first['Message']) || textOr(first['detail']);
  const code = [inner['code'], inner['type'], inner['status'], first['__type'], first['code']].find(
    (one) => typeof one === 'string',
  );
  return { sentence: plain(sentence), code: textOr(code) };
}

/** A proxy's page says nothing that a client may see. */
function isPage(body: unknown): boolean {
  return typeof body === 'string' && /<\s*(?:!doctype|html|head|body)/i.test(body.slice(0, 1000));
}

/** One line, without tags and without control characters. */
function plain(text: string): string {
  const cut = text.slice(0, 4 * MOST_SENTENCE).replace(/<[^<>]{0,200}>/g, ' ');
  return cut
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_SENTENCE);
}

/** Seconds or a date (RFC 9110 section 10.2.3), OpenAI's milliseconds, or the reset of a limit that has nothing left. */
function retryAfter(headers: Headers): number | undefined {
  const field = (name: string): string => {
    const value = headers[name];
    return (Array.isArray(value) ? value[0] : value) ?? '';
  };
  const ms = Number(field('retry-after-ms') || Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = field('retry-after').trim();
  if (/^\d+(?:\.\d+)?$/.test(after)) return Number(after) * 1000;
  const date = after === '' ? Number.NaN : Date.parse(after);
  if (Number.isFinite(date)) return Math.max(0, date - Date.now());
  return limitReset(headers);
}

/** Milliseconds until a limit that has nothing left begins again, which answers of status 200 tell too; undefined: all have something left. */
export function limitReset(headers: Headers): number | undefined {
  const field = (name: string): string => textOr(headers[name]);
  for (const what of ['requests', 'tokens']) {
    if (field(`x-ratelimit-remaining-${what}`) !== '0') continue;
    const reset = durationOf(field(`x-ratelimit-reset-${what}`));
    if (reset !== undefined) return reset;
  }
  return undefined;
}

/** `1m30s`, `6s`, `20ms`; bare numbers are seconds. */
function durationOf(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const parts = [...text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0) return undefined;
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return parts.reduce((sum, [, n, unit = 's']) => sum + Number(n) * (units[unit] ?? 0), 0);
}

/** Gemini's `retryDelay: "12s"`, OpenRouter's and others' `retry_after`, OpenAI's "try again in 1.5s". */
function retryInBody(body: unknown): number | undefined {
  const first = objectOf(Array.isArray(body) ? body[0] : body);
  const error = objectOf(first['error']);
  const details = Array.isArray(error['details']) ? (error['details'] as Json[]) : [];
  for (const detail of details) {
    const delay = durationOf(textOr(objectOf(detail)['retryDelay']));
    if (delay !== undefined) return delay;
  }
  const seconds = error['retry_after'] ?? objectOf(error['metadata'])['retry_after'] ?? first['retry_after'];
  if (typeof seconds === 'number' && seconds >= 0) return seconds * 1000;
  return durationOf(/try again in ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)/i.exec(textOr(error['message']))?.[1] ?? '');
}
