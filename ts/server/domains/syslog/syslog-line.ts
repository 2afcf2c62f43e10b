/** Log lines as syslog messages (RFC 5424). */
import { hostname } from 'node:os';
import { type LogLevel, type LogLine, wordsOf } from '../../platform/log/log.ts';

/** Programs that read logs know the service by it. */
const APP_NAME = 'svc-kernel';
/** RFC 5424 section 6.2.1. */
const SEVERITIES: Record<LogLevel, number> = { error: 3, warn: 4, info: 6, debug: 7 };
/** Fits into an IPv6 packet of the least size that every network passes, beside its headers and a tunnel's. */
const MOST_DATAGRAM_BYTES = 1180;
/** Receivers take so much by default; what is longer they cut themselves, each in a way of its own. */
const MOST_FRAME_BYTES = 8000;
/** Printable ASCII without spaces (RFC 5424 section 6.2.4). */
const HOST =
  hostname()
    .replace(/[^!-~]/g, '_')
    .slice(0, 255) || '-';

/**
 * Fields stand in the text, since many collectors drop structured data. There is no byte order mark, which some of them take for text, so that the
 * text counts as of any encoding; it is UTF-8.
 */
export function syslogLine({ time, level, message, fields }: LogLine, facility: number): string {
  return `<${facility * 8 + SEVERITIES[level]}>1 ${time} ${HOST} ${APP_NAME} ${process.pid} - - ${wordsOf(message, fields)}`;
}

export function datagramOf(line: string): Buffer {
  return cut(line, MOST_DATAGRAM_BYTES);
}

/** With its count of octets (RFC 6587 section 3.4.1, RFC 5425 section 4.3). */
export function frameOf(line: string): Buffer {
  const bytes = cut(line, MOST_FRAME_BYTES);
  return Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
}

/** Ends with a whole character. */
function cut(text: string, mostBytes: number): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return bytes;
  let end = mostBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
