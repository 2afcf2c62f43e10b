/** Structured log lines on one stream: JSON when a machine reads, words when a person does. */
import type { LineSink } from './line-sink.ts';
import { redact, redactText } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export type LogFields = Readonly<Record<string, unknown>>;

/** A line before it is written in a format; secrets are masked in it already. */
export interface LogLine {
  /** ISO 8601, UTC. */
  time: string;
  level: LogLevel;
  message: string;
  fields: LogFields;
}

type LogListener = (line: LogLine) => void;

export interface LogOptions {
  level: LogLevel;
  format: 'json' | 'text';
  sink: LineSink;
  /** Keeps the last lines for whoever asks. */
  recent?: RecentLines;
  /** Receive every line beside the sink. */
  listeners?: Set<LogListener>;
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

  /** Follows this log with its parents and all their children. `listener` must not throw, and must not log. Returns how to stop. */
  listen(listener: LogListener): () => void {
    this.#options.listeners ??= new Set();
    const { listeners } = this.#options;
    listeners.add(listener);
    return () => listeners.delete(listener);
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
    const { format, recent, sink, listeners } = this.#options;
    const json = format === 'json' || recent !== undefined ? JSON.stringify({ time, level, message: safe, ...all }) : '';
    recent?.add(level, json);
    const line = format === 'json' ? json : text(time, level, safe, all);
    sink.write(`${line}\n`);
    if (listeners !== undefined) for (const listener of listeners) listener({ time, level, message: safe, fields: all });
  }
}

function text(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return `${time.slice(11, 23)} ${COLOURS[level]}${level.padEnd(5)}\u001b[0m ${wordsOf(message, fields)}`;
}

/** The message and the fields as `name=value`, on one line. */
export function wordsOf(message: string, fields: LogFields): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
  );
  return printable(message + rest.join(''));
}

function quoted(value: string): string {
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Control characters could forge lines or drive the terminal. */
function printable(message: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return message.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** One of the last lines of the log, which are kept in memory for those who may read them. They are redacted as the log is. */
export interface RecentLine {
  /** Counts the lines of the process from 1. */
  seq: number;
  level: LogLevel;
  /** An object as JSON: `time`, `level`, `message`, and whatever else the line says. */
  json: string;
}

const MAX_LINES = 2_000;
const MAX_CHARS = 2 * 1024 * 1024;

export class RecentLines {
  readonly #slots: RecentLine[] = [];
  readonly #listeners = new Set<(line: RecentLine) => void>();
  #oldest = 1;
  #next = 1;
  #nChars = 0;

  add(level: LogLevel, json: string): void {
    const line = { seq: this.#next++, level, json };
    if (line.seq - this.#oldest >= MAX_LINES) this.#dropOldest();
    this.#slots[line.seq % MAX_LINES] = line;
    this.#nChars += json.length;
    while (this.#nChars > MAX_CHARS && this.#oldest < line.seq) this.#dropOldest();
    for (const listener of this.#listeners) listener(line);
  }

  /** Oldest first. */
  list(): RecentLine[] {
    const lines: RecentLine[] = [];
    for (let seq = this.#oldest; seq < this.#next; seq++) {
      const line = this.#slots[seq % MAX_LINES];
      if (line?.seq === seq) lines.push(line);
    }
    return lines;
  }

  /** `listener` must not throw, and must not log. Returns how to stop. */
  follow(listener: (line: RecentLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #dropOldest(): void {
    this.#nChars -= this.#slots[this.#oldest % MAX_LINES]?.json.length ?? 0;
    this.#oldest++;
  }
}
