/** The last lines of this node's log, and those that come, for who runs it. Nothing is kept but what the log has redacted. */
import Type from 'typebox';
import type { EventStream, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { LOG_LEVELS, type LogLevel, type RecentLine, RecentLines } from '../../platform/log/log.ts';
import { named } from '../../platform/schema/named.ts';

const path = '/api/v1/system/log';
const DEFAULT_LIMIT = 200;
/** Lines that a client that reads slowly is behind; older ones are left out for it. */
const MAX_WAITING = 500;

const Level = Type.Enum([...LOG_LEVELS], { description: 'The least severity.' });
const Filter = {
  level: Type.Optional(Level),
  text: Type.Optional(Type.String({ maxLength: 200, description: 'Letters that the line has anywhere, whatever their case.' })),
};
const Line = named(
  'LogLine',
  Type.Object({
    seq: Type.Integer({
      description: 'Counts the lines since the start; numbers that are missing were filtered out, or came too fast.',
    }),
    time: Type.String({ description: 'ISO 8601, UTC.' }),
    level: Type.Enum([...LOG_LEVELS]),
    message: Type.String(),
    fields: Type.Record(Type.String(), Type.Unknown(), { description: 'What else the line says. Secrets are masked.' }),
  }),
);
const Lines = named('LogLines', Type.Object({ lines: Type.Array(Line, { description: 'Oldest first.' }) }));

interface LineFilter {
  level?: LogLevel;
  text?: string;
}

const { get } = routes({ tag: 'System', auth: 'superadmin' });

/** `recent`: none where the node keeps no lines. */
export function logRoutes(recent: RecentLines = new RecentLines()): Route[] {
  return [
    get(path, {
      summary: 'The last lines of this node’s log',
      description: 'About two thousand lines are kept in memory, those since the last start at most.',
      query: Type.Object({
        ...Filter,
        after: Type.Optional(
          Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Only lines behind this one.' }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1000, description: `The newest ones; ${DEFAULT_LIMIT} by default.` }),
        ),
      }),
      answer: Lines,
      handle: ({ query: { after = 0, limit = DEFAULT_LIMIT, ...filter } }) => {
        const found = recent.list().filter((line) => line.seq > after && fits(line, filter));
        return { lines: found.slice(-limit).map(viewOf) };
      },
    }),
    get(`${path}/tail`, {
      summary: 'Follow this node’s log',
      description:
        'Each event has one line; its id is the line’s `seq`. A reconnect with `Last-Event-ID` begins behind that line.',
      query: Type.Object(Filter),
      responses: { 200: Type.String({ description: 'Server-sent events.' }) },
      stream: Line,
      handle: ({ query, headers, signal }) => ({
        kind: 'events',
        headers: {},
        start: (stream) => follow(recent, stream, query, lineAfter(headers.get('last-event-id')), signal),
      }),
    }),
  ];
}

/** Without an id that is one: only what comes. */
function lineAfter(id: string | undefined): number {
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY;
}

/** Begins with what is kept behind `after`. */
function follow(recent: RecentLines, stream: EventStream, filter: LineFilter, after: number, signal: AbortSignal): void {
  let waiting = recent.list().filter((line) => line.seq > after && fits(line, filter));
  let isBlocked = false;
  const send = (): void => {
    while (!isBlocked && waiting.length > 0) {
      const line = waiting.shift();
      if (line !== undefined) isBlocked = !stream.write(`id: ${line.seq}\ndata: ${JSON.stringify(viewOf(line))}\n\n`);
    }
  };
  const stop = recent.follow((line) => {
    if (!fits(line, filter)) return;
    waiting = [...waiting.slice(1 - MAX_WAITING), line];
    send();
  });
  stream.onDrain(() => {
    isBlocked = false;
    send();
  });
  stream.onClose(stop);
  signal.addEventListener('abort', stop, { once: true });
  send();
}

function fits({ level, json }: RecentLine, { level: least = 'debug', text = '' }: LineFilter): boolean {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return false;
  return text === '' || json.toLowerCase().includes(text.toLowerCase());
}

function viewOf({ seq, level, json }: RecentLine): Type.Static<typeof Line> {
  const { time, message, level: _, ...fields } = JSON.parse(json) as { time: string; message: string; level: string };
  return { seq, time, level, message, fields };
}
