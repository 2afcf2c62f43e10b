/** Messages of SIP (RFC 3261 section 7): requests, responses, and their header fields. */

export interface SipMessage {
  /** `INVITE sip:... SIP/2.0`, or `SIP/2.0 200 OK`. */
  readonly start: string;
  /** They have their order; names as they came, short ones written out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Names of one letter (RFC 3261 section 7.3.3). */
const SHORT: Readonly<Record<string, string>> = {
  i: 'Call-ID',
  f: 'From',
  t: 'To',
  v: 'Via',
  m: 'Contact',
  l: 'Content-Length',
  c: 'Content-Type',
  k: 'Supported',
  s: 'Subject',
};
const MAX_HEAD_BYTES = 32 * 1024;
const MAX_MESSAGE_BYTES = 64 * 1024;

/** Tells how long the message is; undefined: more is to come. Throws where it can be no message. */
export function lengthOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) {
    if (bytes.length > MAX_HEAD_BYTES) throw new Error('the head of the message does not end');
    return undefined;
  }
  const [, said = '0'] = /^(?:content-length|l)[ \t]*:[ \t]*(\d{1,6})[ \t]*$/im.exec(bytes.toString('latin1', 0, end)) ?? [];
  const length = end + 4 + Number(said);
  if (length > MAX_MESSAGE_BYTES) throw new Error('the message is too long');
  return length;
}

/** Undefined: it is none, and is read over. */
export function parseSip(bytes: Buffer): SipMessage | undefined {
  const text = bytes.toString('utf8');
  const end = text.indexOf('\r\n\r\n');
  const head = (end < 0 ? text : text.slice(0, end)).replace(/\r\n[ \t]+/g, ' ');
  const [start = '', ...lines] = head.split('\r\n');
  if (!/^SIP\/2\.0 [1-6]\d\d( |$)/.test(start) && !/^[A-Z]{1,20} \S+ SIP\/2\.0$/.test(start)) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trimEnd();
    const value = line.slice(colon + 1).trim();
    if (!/^[A-Za-z0-9.!%*_+`'~-]+$/.test(name)) return undefined;
    headers.push([SHORT[name.toLowerCase()] ?? name, value]);
  }
  const message = { start, headers, body: end < 0 ? '' : text.slice(end + 4) };
  const isWhole = ['Call-ID', 'CSeq', 'From', 'To', 'Via'].every((name) => headerOf(message, name) !== undefined);
  return isWhole ? message : undefined;
}

export function headerOf({ headers }: SipMessage, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
}

/** All values, also those that one line has between commas. */
export function valuesOf({ headers }: SipMessage, name: string): string[] {
  return headers
    .filter(([each]) => each.toLowerCase() === name.toLowerCase())
    .flatMap(([, value]) => value.match(/(?:[^,<"]|<[^<>]*>|"(?:[^"\\]|\\.)*")+/g) ?? [])
    .map((value) => value.trim());
}

/** 0 for a request. */
export function statusOf({ start }: SipMessage): number {
  return start.startsWith('SIP/2.0 ') ? Number(start.slice(8, 11)) : 0;
}

export function methodOf(message: SipMessage): string {
  return statusOf(message) === 0 ? (message.start.split(' ')[0] ?? '') : (cseqOf(message)[1] ?? '');
}

export function cseqOf(message: SipMessage): [number: number, method: string] {
  const [number = '', method = ''] = (headerOf(message, 'CSeq') ?? '').split(/\s+/);
  return [Number(number), method];
}

/** Finds a parameter of From, To or Via; empty: it has none. */
export function parameterOf(value: string, name: string): string {
  const behind = value.includes('>') ? value.slice(value.lastIndexOf('>') + 1) : value;
  const [, found = ''] = new RegExp(`;\\s*${name}\\s*=\\s*"?([^;,"\\s]+)`, 'i').exec(behind) ?? [];
  return found;
}

/** The address within `"Ann" <sip:ann@example.org>;tag=1`. */
export function uriOf(value: string): string {
  return /<([^<>]*)>/.exec(value)?.[1] ?? (value.split(';')[0] ?? '').trim();
}

export function writeSip(start: string, headers: SipMessage['headers'], body = ''): Buffer {
  const lines = [...headers, ['Content-Length', String(Buffer.byteLength(body))] as const];
  return Buffer.from(`${start}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
}
