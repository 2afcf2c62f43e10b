/** Lines as rsyslog wrote them: read, split where two are glued, and redacted before anything else sees them. */
import { redactText } from '../../../platform/log/redact.ts';

export interface LogLine {
  uuid: string;
  ts: string;
  rcvd: string;
  host: string;
  fromhost_ip: string;
  app: string;
  severity: number;
  facility: number;
  class: string;
  msg: string;
}

/** A line with the time that it counts by. */
export interface TimedLine {
  line: LogLine;
  /** Unix milliseconds. */
  atMs: number;
  /** Its own time counts, unless that is no date, or far from when it was received. */
  source: 'ts' | 'rcvd';
}

const MOST_AHEAD_MS = 5 * 60_000;
const MOST_BEHIND_MS = 24 * 3_600_000;
const BEGIN = '{"uuid":"';
const UUID = /^[0-9A-F]{32}$/;

/** Earliest and latest times that lines of an hour count by. */
export function boundsOfHour(beginMs: number): { minMs: number; maxMs: number } {
  return { minMs: beginMs - MOST_BEHIND_MS, maxMs: beginMs + 3_600_000 + MOST_AHEAD_MS };
}

export interface ReadLines {
  lines: TimedLine[];
  /** Pieces that are no lines. */
  nBad: number;
  /** Lines of which something was masked. */
  nRedacted: number;
}

/** One line of a file; where a crash glued lines together it is several. Nothing inside a line can begin another: its quotes are escaped. */
export function readLines(text: string, into: ReadLines): void {
  const whole = parsed(text, into);
  if (whole !== undefined) {
    into.lines.push(whole);
    return;
  }
  if (text.trim() === '') return;
  const begins: number[] = [0];
  for (let at = text.indexOf(BEGIN, 1); at > 0; at = text.indexOf(BEGIN, at + 1)) begins.push(at);
  for (const [i, begin] of begins.entries()) {
    const found = begins.length === 1 ? undefined : parsed(text.slice(begin, begins[i + 1]), into);
    if (found === undefined) into.nBad += 1;
    else into.lines.push(found);
  }
}

function parsed(text: string, into: ReadLines): TimedLine | undefined {
  let value: Partial<LogLine>;
  try {
    value = JSON.parse(text) as Partial<LogLine>;
  } catch {
    return undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  const { uuid, ts, rcvd, host, fromhost_ip, app, severity, facility, class: className, msg } = value;
  if (typeof uuid !== 'string' || !UUID.test(uuid) || typeof msg !== 'string' || typeof className !== 'string') return undefined;
  if (typeof rcvd !== 'string' || typeof fromhost_ip !== 'string' || typeof severity !== 'number') return undefined;
  const rcvdMs = timeOf(rcvd);
  if (rcvdMs === undefined) return undefined;
  const line: LogLine = {
    uuid,
    ts: typeof ts === 'string' ? ts : '',
    rcvd,
    host: redactText(typeof host === 'string' ? host : ''),
    fromhost_ip,
    app: redactText(typeof app === 'string' ? app : ''),
    severity: severity & 7,
    facility: typeof facility === 'number' ? facility : 0,
    class: className,
    msg: redactText(msg),
  };
  if (line.msg !== msg) into.nRedacted += 1;
  const tsMs = timeOf(line.ts);
  const isUsable = tsMs !== undefined && tsMs <= rcvdMs + MOST_AHEAD_MS && tsMs >= rcvdMs - MOST_BEHIND_MS;
  return isUsable ? { line, atMs: tsMs, source: 'ts' } : { line, atMs: rcvdMs, source: 'rcvd' };
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Unix milliseconds; undefined: it is no time (RFC 3339). */
function timeOf(text: string): number | undefined {
  const found = TIME.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '0', sign, hours = '0', minutes = '0'] = found;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const isDate = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && new Date(ms).getUTCDate() === Number(day);
  if (!isDate || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return ms + Math.floor(Number(fraction) * 1000) - offset;
}

/** Returns the text that words are looked for in. */
export function searchedText({ uuid, host, fromhost_ip: ip, app, msg }: LogLine): string {
  return `${msg}\n${host}\n${app}\n${ip}\n${uuid}`;
}
