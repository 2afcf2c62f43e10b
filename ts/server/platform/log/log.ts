/** Structured log lines on one stream: JSON when a machine reads, words when a person does. */
import type { LineSink } from './line-sink.ts';
import type { RecentLines } from './recent-lines.ts';
import { redact, redactText } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogOptions {
  level: LogLevel;
  format: 'json' | 'text';
  sink: LineSink;
  /** Keeps the last lines for whoever asks. */
  recent?: RecentLines;
}

const COLOURS: Record<LogLevel, string> = { debug: '\u001b[2m', info: '\u001b[32m', warn: '\u001b[33m', error: '\u001b[31m' };

export class Log {
  /** Shared with its children. */
  readonly #options: LogOptions;
  readonly #fields: LogFields;

  constructor(options: LogOptions, fields: LogFields = {}) {
    this.#options = options;
    this.#fields = fields;
  }

  /** A log whose every line also carries these fields. */
  child(fields: LogFields): Log {
    return new Log(this.#options, { ...this.#fields, ...fields });
  }

  /** Of this log, of those that it is a child of, and of all their children. */
  setLevel(level: LogLevel): void {
    this.#options.level = level;
  }

  /** The last lines, where they are kept. */
  get recent(): RecentLines | undefined {
    return this.#options.recent;
  }

  enabled(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(this.#options.level);
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  #write(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (!this.enabled(level)) return;
    const time = new Date().toISOString();
    const all = redact({ ...this.#fields, ...fields });
    const safe = redactText(message);
    const { format, recent, sink } = this.#options;
    const json = format === 'json' || recent !== undefined ? JSON.stringify({ time, level, message: safe, ...all }) : '';
    recent?.add(level, json);
    const line = format === 'json' ? json : text(time, level, safe, all);
    sink.write(`${line}\n`);
  }
}

function text(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
  );
  return `${time.slice(11, 23)} ${COLOURS[level]}${level.padEnd(5)}\u001b[0m ${printable(message)}${rest.join('')}`;
}

function quoted(value: string): string {
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Control characters could forge lines or drive the terminal. */
function printable(message: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return message.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
