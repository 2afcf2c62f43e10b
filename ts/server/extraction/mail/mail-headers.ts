/** The head of a message or of one of its parts (RFC 5322, RFC 2045), with encoded words (RFC 2047) read. */
import { decodeText, knownLabel } from '../text/charset.ts';
import { decodeBase64, decodeQuotedPrintable } from './transfer-encoding.ts';

const MAX_FIELDS = 500;
const MAX_FIELD_LENGTH = 20_000;

export interface FieldValue {
  value: string;
  parameters: ReadonlyMap<string, string>;
}

export class MailHeaders {
  readonly #fields = new Map<string, string>();

  /** @param text one character a byte, up to the empty line. The first of repeated fields counts. */
  constructor(text: string) {
    const lines = text
      .replace(/\r\n?/g, '\n')
      .replace(/\n[ \t]+/g, ' ')
      .split('\n');
    for (const line of lines.slice(0, MAX_FIELDS)) {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
      if (name !== '' && !this.#fields.has(name))
        this.#fields.set(name, line.slice(colon + 1, colon + 1 + MAX_FIELD_LENGTH).trim());
    }
  }

  raw(name: string): string | undefined {
    return this.#fields.get(name);
  }

  text(name: string): string {
    return decodeWords(this.#fields.get(name) ?? '');
  }

  /** Of Content-Type and Content-Disposition. Names and the value are in lowercase. */
  structured(name: string): FieldValue {
    const raw = this.#fields.get(name) ?? '';
    const parameters = new Map<string, string>();
    for (const [, key = '', quoted, plain] of raw.matchAll(/;\s*([\w*-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g))
      parameters.set(key.toLowerCase().replace(/\*(?:\d\*?)?$/, ''), decodeWords(quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''));
    return { value: (raw.split(';')[0] ?? '').trim().toLowerCase(), parameters };
  }
}

/** Text that is not encoded may be UTF-8 (RFC 6532) or in some older encoding. */
function decodeWords(raw: string): string {
  const text = decodeText(Buffer.from(raw, 'latin1'));
  return text
    .replace(/(\?=)\s+(=\?)/g, '$1$2')
    .replace(/=\?([\w-]{1,40})(?:\*[\w-]*)?\?([BQbq])\?([^?]*)\?=/g, (whole, charset: string, kind: string, body: string) => {
      if (knownLabel(charset) === undefined) return whole;
      const bytes = kind.toUpperCase() === 'B' ? decodeBase64(body) : decodeQuotedPrintable(body.replaceAll('_', ' '));
      return decodeText(bytes, charset);
    });
}
