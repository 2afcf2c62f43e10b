/** Whether two answers are the same to whoever asked with different ids. */
import type { Ids } from './belongings.ts';
import type { Answer } from './client.ts';

export function difference(unknown: Answer, unknownIds: Ids, foreign: Answer, foreignIds: Ids): string | undefined {
  const [a, b] = [comparable(unknown, unknownIds), comparable(foreign, foreignIds)];
  return a === b ? undefined : `tells a foreign id from an unknown one:\n    unknown ${a}\n    foreign ${b}`;
}

/** Headers that differ from one answer to the next of the same request. */
const FLEETING = [
  'x-request-id',
  'request-id',
  'date',
  'content-length',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'retry-after',
  'retry-after-ms',
];

function comparable({ status, headers, text }: Answer, ids: Ids): string {
  const kept = Object.entries(headers).filter(([name]) => !FLEETING.includes(name));
  const body = text
    .replace(/"(request_id|ts|created_at|updated_at|created|id)":("[^"]*"|\d+)/g, '"$1":0')
    .replace(/"took_ms":[\d.]+/g, '"took_ms":0')
    .replace(/Wait \d+ seconds/g, 'Wait some seconds');
  return withoutIds(`${status} ${JSON.stringify(kept)} ${body}`, ids);
}

function withoutIds(text: string, ids: Ids): string {
  return Object.values(ids)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, id: string) => rest.replaceAll(patternOf(id), '<id>'), text);
}

/** A model's name may be one letter: then it is itself only where it is a whole word. */
function patternOf(id: string): string | RegExp {
  return id.length > 2 ? id : new RegExp(`(?<![\\w-])${id}(?![\\w-])`, 'g');
}
