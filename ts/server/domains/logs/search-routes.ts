/** Collected lines: searched and followed by superadmins, and by administrators of a tenant as far as the addresses of senders are the tenant's. */
import Type, { type Static } from 'typebox';
import { hasRole, type Principal } from '../../platform/http/principal.ts';
import type { EventStream, RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { redactText } from '../../platform/log/redact.ts';
import { named } from '../../platform/schema/named.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import type { Collection } from './collection/collection.ts';
import { logsError, logsErrors } from './errors.ts';
import { ARCHIVED_CLASS } from './index/indexed-classes.ts';
import type { LogIndex } from './index/log-index.ts';
import type { LogLine, TimedLine } from './index/log-line.ts';
import type { TailNotice } from './index/log-messages.ts';
import type { Filters } from './index/query.ts';
import type { Cursor, SearchRequest } from './index/search.ts';
import { searchTime } from './index/search-time.ts';
import type { SenderRule } from './index/sender-rule.ts';

const PATH = '/api/v1/logs';
const DEFAULT_LIMIT = 100;
const DEFAULT_FROM = '-1h';
const TIME_LIMIT_MS = 5_000;
/** Lines that a client that reads slowly is behind; older ones are left out for it, and it is told how many. */
const MOST_WAITING = 1_000;

const Line = named(
  'CollectedLine',
  Type.Object({
    uuid: Type.String({ description: 'The same in both copies.' }),
    ts: Type.String({ description: 'The time that the line says.' }),
    rcvd: Type.String({ description: 'When it was received.' }),
    host: Type.String(),
    fromhost_ip: Type.String({ description: 'The address of its sender.' }),
    app: Type.String(),
    severity: Type.Integer({ description: '0 (emergency) to 7 (debug).' }),
    facility: Type.Integer(),
    class: Type.String(),
    msg: Type.String({ description: 'Secrets are masked.' }),
    time_source: Type.Enum(['ts', 'rcvd'], {
      description: 'What it counts by: `ts`, unless that is no date, over 5 minutes after `rcvd` or 24 hours before.',
    }),
    marks: Type.Array(Type.String(), { description: 'Block lists that name an address of the line.' }),
  }),
);
const Lines = named(
  'CollectedLines',
  Type.Object({
    lines: Type.Array(Line),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Of the next page; null: there is none.' }),
    histogram: Type.Optional(Type.Array(Type.Object({ from: Type.String(), lines: Type.Integer() }))),
    partial: Type.Boolean({ description: 'The time was over, or a file is damaged: there may be more, also before these.' }),
    archived: Type.Optional(
      Type.Boolean({ description: `Lines of the class ${ARCHIVED_CLASS} are in the files of both copies alone.` }),
    ),
    read: Type.Object({ frames: Type.Integer(), bytes: Type.Integer() }),
    took_ms: Type.Integer(),
  }),
);
const Rebuilt = named('LogIndexRebuilt', Type.Object({ started: Type.Boolean() }));

const FilterQuery = {
  q: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Words, `"phrases"`, `-without`, `prefix*`, `field:value`; all must hold.' }),
  ),
  class: Type.Optional(Type.String({ maxLength: 1_000, pattern: '^[a-z0-9_,]*$', description: 'One or more, with commas.' })),
  severity: Type.Optional(Type.Integer({ minimum: 0, maximum: 7, description: 'This, and worse.' })),
  host: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  app: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
};
const SearchQuery = Type.Object({
  ...FilterQuery,
  from: Type.Optional(Type.String({ maxLength: 40, description: `ISO 8601, or \`-15m\`; \`${DEFAULT_FROM}\` by default.` })),
  to: Type.Optional(
    Type.String({ maxLength: 40, description: 'As `from`; now by default. Lines of that instant are left out.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: `${DEFAULT_LIMIT} by default.` })),
  order: Type.Optional(Type.Enum(['desc', 'asc'], { description: '`desc` by default: the newest first.' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the page before.' })),
  histogram: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: 'Counts all lines that match, in so many parts of the time.' }),
  ),
});
type Given = Pick<Static<typeof SearchQuery>, 'q' | 'class' | 'severity' | 'host' | 'app'>;

interface SearchRoutesDeps {
  collection: Collection;
  index: LogIndex;
  recordAct: IdentityApi['recordAct'];
  now(): number;
  /** The block lists that name one of the addresses. */
  marksOf(addresses: readonly string[]): string[];
}

const { get, post } = routes({ tag: 'Logs', auth: 'admin', errors: logsErrors });

export function searchRoutes(deps: SearchRoutesDeps): Route[] {
  const { index, recordAct } = deps;
  const viewOf = ({ line, source }: Shown): Static<typeof Line> => ({
    ...line,
    time_source: source,
    marks: deps.marksOf(addressesOf(line)),
  });
  /** Reads are audited before the first line goes out; a secret that is looked for is not kept. */
  const audit = (context: RequestContext, action: string, query: object) =>
    recordAct(auditEntry(auditSource(context), { action, detail: readable(query) }));
  return [
    get(`${PATH}/search`, {
      summary: 'Search collected lines',
      description:
        'Superadmins read all; an administrator of a tenant reads lines whose sender’s address `sources` gives the tenant.',
      query: SearchQuery,
      answer: Lines,
      errors: ['invalid_request', 'invalid_query', 'forbidden', 'rsyslog_not_configured', 'logs_unavailable'],
      handle: async (context) => {
        const { query, caller, signal } = context;
        const senders = sendersOf(caller, deps.collection);
        const request = requestOf(query, senders, deps.now());
        await audit(context, 'logs.search', query);
        const { lines, next, counts, isPartial, nFrames, nBytes, tookMs } = await index.search(
          query.q ?? '',
          filtersOf(query),
          request,
          signal,
        );
        return {
          lines: lines.map(viewOf),
          next_cursor: next === undefined ? null : cursorText(next),
          ...(counts !== undefined && { histogram: histogramOf(counts, request) }),
          partial: isPartial,
          ...(isArchived(query) && { archived: true }),
          read: { frames: nFrames, bytes: nBytes },
          took_ms: tookMs,
        };
      },
    }),
    get(`${PATH}/tail`, {
      summary: 'Follow collected lines',
      description:
        'Each event has one line. `event: missed` says how many lines were left out, `null` where nobody counted. A reconnect with ' +
        '`Last-Event-ID` begins behind that line.',
      query: Type.Object(FilterQuery),
      responses: { 200: Type.String({ description: 'Server-sent events.' }) },
      stream: Line,
      errors: ['invalid_request', 'invalid_query', 'forbidden', 'rsyslog_not_configured', 'logs_unavailable'],
      handle: async (context) => {
        const { query, caller, headers, signal } = context;
        const senders = sendersOf(caller, deps.collection);
        await audit(context, 'logs.tail', query);
        const reader = new TailReader(viewOf);
        const stop = await index.follow(
          {
            q: query.q ?? '',
            filters: filtersOf(query),
            classes: classesOf(query),
            senders,
            lastId: headers.get('last-event-id'),
          },
          reader,
        );
        signal.addEventListener('abort', stop, { once: true });
        return { kind: 'events', headers: {}, start: (stream) => reader.start(stream, stop) };
      },
    }),
    post(`${PATH}/rebuild`, {
      auth: 'superadmin',
      summary: 'Make the index of collected lines again; searches go on meanwhile',
      answer: Rebuilt,
      errors: ['rsyslog_not_configured', 'logs_unavailable'],
      handle: async () => {
        if (deps.collection.reading === undefined) throw notConfigured();
        await index.rebuild();
        return { started: true };
      },
    }),
  ];
}

/** Undefined: the caller reads lines of every sender. */
export function sendersOf(caller: Principal, collection: Pick<Collection, 'reading'>): SenderRule | undefined {
  const { reading } = collection;
  if (reading === undefined) throw notConfigured();
  // A caller that no credential was asked of, on a node without accounts, is the operator at the machine.
  if (caller.kind === 'anonymous' || hasRole(caller, 'superadmin')) return undefined;
  const { sources } = reading;
  if (sources.some(({ tenant }) => tenant === caller.tenant)) return { sources, tenant: caller.tenant };
  throw logsError(
    'forbidden',
    'No sender of collected lines is assigned to your tenant: a superadmin does that with `sources`.',
    {
      extra: { role: 'superadmin' },
    },
  );
}

function notConfigured(): Error {
  return logsError('rsyslog_not_configured', 'No collection is in force on this node.');
}

/** Only these go to the threads. */
function filtersOf({ severity, host, app }: Given): Filters {
  return { severity, host, app };
}

export function classesOf({ class: given = '' }: { class?: string | undefined }): string[] | undefined {
  const names = given.split(',').filter((name) => name !== '');
  return names.length === 0 ? undefined : names;
}

export function isArchived(query: { class?: string | undefined }): boolean {
  return classesOf(query)?.includes(ARCHIVED_CLASS) === true;
}

function requestOf(query: Static<typeof SearchQuery>, senders: SenderRule | undefined, now: number): SearchRequest {
  const { from = DEFAULT_FROM, to = 'now', limit = DEFAULT_LIMIT, order = 'desc', cursor, histogram = 0 } = query;
  return {
    ...rangeOf({ from, to }, now),
    classes: classesOf(query),
    limit,
    order,
    cursor: cursor === undefined ? undefined : cursorOf(cursor),
    nBuckets: histogram,
    senders,
    timeLimitMs: TIME_LIMIT_MS,
  };
}

/** Throws DomainError `invalid_request`. */
export function rangeOf({ from, to }: { from: string; to: string }, now: number): { fromMs: number; toMs: number } {
  const time = (name: string, text: string): number => {
    const ms = searchTime(text, now);
    if (ms === undefined) throw wrong(name, 'is no time: write ISO 8601, such as 2026-11-28T13:00:00Z, or -15m');
    return ms;
  };
  const [fromMs, toMs] = [time('from', from), time('to', to)];
  if (fromMs >= toMs) throw wrong('from', 'must be before `to`');
  return { fromMs, toMs };
}

function wrong(param: string, fault: string): Error {
  return logsError('invalid_request', `\`${param}\` ${fault}.`, { param });
}

function cursorText({ atMs, uuid }: Cursor): string {
  return `${atMs}-${uuid}`;
}

function cursorOf(text: string): Cursor {
  const [, atMs, uuid] = /^(-?\d{1,16})-([0-9A-F]{32})$/.exec(text) ?? [];
  if (atMs === undefined || uuid === undefined) throw wrong('cursor', 'is none that a search gave');
  return { atMs: Number(atMs), uuid };
}

function histogramOf(counts: readonly number[], { fromMs, toMs, nBuckets }: SearchRequest) {
  const widthMs = (toMs - fromMs) / nBuckets;
  return counts.map((lines, i) => ({ from: new Date(Math.round(fromMs + i * widthMs)).toISOString(), lines }));
}

interface Shown {
  line: LogLine;
  source: TimedLine['source'];
}

const ADDRESS = /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F:]{2,39}:[0-9a-fA-F:]{0,39})(?![\w:])/g;
const MOST_ADDRESSES = 20;
const MOST_CHARACTERS = 8_192;

function addressesOf({ msg, fromhost_ip: sender }: LogLine): string[] {
  return [sender, ...(msg.slice(0, MOST_CHARACTERS).match(ADDRESS) ?? []).slice(0, MOST_ADDRESSES)];
}

function readable(query: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? redactText(value) : value]),
  );
}

/** Writes what comes to one client, as fast as it reads. */
class TailReader {
  readonly #viewOf: (event: Shown) => object;
  #stream: EventStream | undefined;
  #waiting: TailNotice['events'][number][] = [];
  #nMissed: number | null = 0;
  #isBlocked = false;
  #isEnded = false;

  constructor(viewOf: (event: Shown) => object) {
    this.#viewOf = viewOf;
  }

  start(stream: EventStream, stop: () => void): void {
    this.#stream = stream;
    stream.onDrain(() => {
      this.#isBlocked = false;
      this.#send();
    });
    stream.onClose(stop);
    // A client that waits for the head of the answer has it at once.
    stream.write(': following\n\n');
    this.#send();
  }

  onNotice({ events, missed }: TailNotice): void {
    this.#miss(missed);
    this.#waiting.push(...events);
    const nTooMany = this.#waiting.length - MOST_WAITING;
    if (nTooMany > 0) {
      this.#waiting.splice(0, nTooMany);
      this.#miss(nTooMany);
    }
    this.#send();
  }

  onEnd(): void {
    this.#isEnded = true;
    this.#stream?.end();
  }

  #miss(nLines: number | null): void {
    this.#nMissed = nLines === null || this.#nMissed === null ? null : this.#nMissed + nLines;
  }

  #send(): void {
    const stream = this.#stream;
    if (stream === undefined || this.#isEnded) return;
    while (!this.#isBlocked && (this.#nMissed !== 0 || this.#waiting.length > 0)) {
      if (this.#nMissed !== 0) {
        const missed = this.#nMissed;
        this.#nMissed = 0;
        this.#isBlocked = !stream.write(`event: missed\ndata: ${JSON.stringify({ lines: missed })}\n\n`);
        continue;
      }
      const event = this.#waiting.shift();
      if (event !== undefined)
        this.#isBlocked = !stream.write(`id: ${event.id}\ndata: ${JSON.stringify(this.#viewOf(event))}\n\n`);
    }
  }
}
