/** Files of a copy as rsyslog writes them, made by hand. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LogLine } from '../index/log-line.ts';

let nMade = 0;

export function madeLine(more: Partial<LogLine> = {}): LogLine {
  nMade += 1;
  const { rcvd = '2026-11-28T12:00:00.000000+00:00' } = more;
  return {
    uuid: nMade.toString(16).toUpperCase().padStart(32, '0'),
    ts: rcvd,
    rcvd,
    host: 'h1',
    fromhost_ip: '10.0.0.1',
    app: 'app',
    severity: 6,
    facility: 1,
    class: 'other',
    msg: `number ${nMade}`,
    ...more,
  };
}

/** Returns the file. */
export function writeRaw(copy: string, id: string, text: string): string {
  const path = join(copy, `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, text);
  return path;
}

/** Each into the file of its class and hour of reception. */
export function writeLines(copy: string, lines: readonly LogLine[]): void {
  const byFile = Map.groupBy(lines, ({ class: name, rcvd }) => `${name}/${rcvd.slice(0, 13)}`);
  for (const [id, ofFile] of byFile) writeRaw(copy, id, ofFile.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
