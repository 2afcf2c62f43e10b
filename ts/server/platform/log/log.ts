/** Structured log lines on one stream: JSON when a machine reads, words when a person does. */
import type { LineSink } from './line-sink.ts';
import { redact, redactText } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogOptions {
  level: LogLevel;
  format: 'json' | 'text';
  sink: LineSink;
}

const COLOURS: Record<LogLevel, string> = { debug: '\u001b[2m', info: '\u001b[32m', warn: '\u001b[33m', error: '\u001b[31m' };

export class Log {
  readonly #options: LogOptions;
  readonly #fields: LogFields;
  readonly #threshold: number;

  constructor(options: LogOptions, fields: LogFields = {}) {
    this.#options = options;
    this.#fields = fields;
    this.#threshold = LOG_LEVELS.indexOf(options.level);
  }

  /** A log whose every line also carries these fields. */
  child(fields: LogFields): Log {
    return new Log(this.#options, { ...this.#fields, ...fields });
  }

  enabled(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= this.#threshold;
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
    const line =
      this.#options.format === 'json' ? JSON.stringify({ time, level, message: safe, ...all }) : text(time, level, safe, all);
    this.#options.sink.write(`${line}\n`);
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
