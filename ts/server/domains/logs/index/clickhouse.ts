/**
 * Lines in ClickHouse, over its HTTP interface (https://clickhouse.com/docs/interfaces/http). Each has the tokens of our own index, so that both
 * stores find the same lines: the database excludes, and what it gives is judged by its text. A line that was sent twice is one, by its uuid.
 */
import type { LogLine, TimedLine } from './log-line.ts';
import { searchedText } from './log-line.ts';
import type { Matcher } from './query.ts';
import type { Cursor, Found, SearchRequest } from './search.ts';
import { senderTest } from './sender-rule.ts';
import { FILTERED_FIELDS, fieldHash, scanTokens } from './tokens.ts';

const TABLE = 'svc_log_lines';
const REQUEST_MS = 30_000;
const MOST_ERROR_CHARS = 300;
/** Lines of an answer of the database; a search asks for more until it has enough. */
const PAGE_LINES = 2_000;

/** Where the operator made the table before, with an engine that replicates, that one is used. */
const CREATE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  uuid FixedString(32), at_ms Int64, source LowCardinality(String), hour LowCardinality(String), ts String, rcvd String,
  host LowCardinality(String), fromhost_ip LowCardinality(String), app LowCardinality(String), severity UInt8, facility UInt8,
  class LowCardinality(String), msg String CODEC(ZSTD(3)), tokens Array(UInt32) CODEC(ZSTD(1)),
  INDEX tokens_filter tokens TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree PARTITION BY substring(hour, 1, 7) ORDER BY (at_ms, uuid)`;

const COLUMNS = 'uuid, at_ms, source, ts, rcvd, host, fromhost_ip, app, severity, facility, class, msg';

type Params = Readonly<Record<string, string>>;
type Row = LogLine & { at_ms: number | string; source: TimedLine['source'] };

export class ClickHouseLines {
  readonly #url: URL;
  readonly #headers: Record<string, string>;

  /** @param url `https://user:password@host:8443/database`. */
  constructor(url: string) {
    this.#url = new URL(url);
    const { username, password } = this.#url;
    this.#headers = {
      ...(username !== '' && { 'x-clickhouse-user': decodeURIComponent(username) }),
      ...(password !== '' && { 'x-clickhouse-key': decodeURIComponent(password) }),
    };
    // fetch() takes no URL that has them.
    this.#url.username = '';
    this.#url.password = '';
  }

  /** The server and its database, without the credential. */
  get place(): string {
    return `${this.#url.origin}${this.#url.pathname}`;
  }

  async create(): Promise<void> {
    await this.#send(CREATE);
  }

  /** Resolves when they are stored. Rejects where that is not known: they are sent again then. */
  async insert(lines: readonly TimedLine[], hour: string): Promise<void> {
    const rows = lines.map(({ line, atMs, source }) =>
      JSON.stringify({ ...line, at_ms: atMs, source, hour, tokens: tokensOf(line) }),
    );
    if (rows.length > 0) await this.#send(`INSERT INTO ${TABLE} FORMAT JSONEachRow`, {}, rows.join('\n'));
  }

  /** Lines of a class and an hour of reception. */
  async countOf(className: string, hour: string): Promise<number> {
    const where = 'class = {class:String} AND hour = {hour:String}';
    const text = await this.#send(`SELECT uniqExact(uuid) AS n FROM ${TABLE} WHERE ${where} FORMAT JSONEachRow`, {
      class: className,
      hour,
    });
    return Number((JSON.parse(text) as { n: number | string }).n);
  }

  async search(request: SearchRequest, matcher: Matcher, isOver: () => boolean): Promise<Found> {
    const { limit, nBuckets, senders } = request;
    const scan = new PageScan(request, matcher);
    const isCountedThere = nBuckets > 0 && matcher.isExact && senders === undefined;
    if (isCountedThere) scan.counts = await this.#counts(request, matcher);
    // Lines before the cursor are counted as well.
    let cursor = nBuckets > 0 && !isCountedThere ? undefined : request.cursor;
    for (;;) {
      const text = await this.#page(request, matcher, cursor);
      const rows = text.split('\n').flatMap((row) => (row === '' ? [] : [timedLine(JSON.parse(row) as Row)]));
      scan.take(rows, text.length, nBuckets > 0 && !isCountedThere);
      const last = rows.at(-1);
      if (rows.length < PAGE_LINES || last === undefined) return scan.found(undefined);
      cursor = { atMs: last.atMs, uuid: last.line.uuid };
      if (scan.nKept > limit && (nBuckets === 0 || isCountedThere)) return scan.found(undefined);
      if (isOver()) return scan.found(cursor);
    }
  }

  async #page(request: SearchRequest, matcher: Matcher, cursor: Cursor | undefined): Promise<string> {
    const { where, params } = conditionOf(request, matcher);
    const [direction, sign] = request.order === 'desc' ? ['DESC', '<'] : ['ASC', '>'];
    const behind = cursor === undefined ? '' : ` AND (at_ms, uuid) ${sign} ({cursor_ms:Int64}, {cursor_uuid:String})`;
    const order = `ORDER BY at_ms ${direction}, uuid ${direction} LIMIT 1 BY uuid LIMIT ${PAGE_LINES}`;
    return await this.#send(`SELECT ${COLUMNS} FROM ${TABLE} WHERE ${where}${behind} ${order} FORMAT JSONEachRow`, {
      ...params,
      ...(cursor !== undefined && { cursor_ms: String(cursor.atMs), cursor_uuid: cursor.uuid }),
    });
  }

  async #counts(request: SearchRequest, matcher: Matcher): Promise<number[]> {
    const { fromMs, toMs, nBuckets } = request;
    const { where, params } = conditionOf(request, matcher);
    const bucket = `least(${nBuckets - 1}, intDiv((at_ms - {from:Int64}) * ${nBuckets}, {to:Int64} - {from:Int64}))`;
    const text = await this.#send(
      `SELECT ${bucket} AS bucket, uniqExact(uuid) AS n FROM ${TABLE} WHERE ${where} GROUP BY bucket FORMAT JSONEachRow`,
      { ...params, from: String(fromMs), to: String(toMs) },
    );
    const counts = new Array<number>(nBuckets).fill(0);
    for (const row of text.split('\n').filter((each) => each !== '')) {
      const { bucket, n } = JSON.parse(row) as { bucket: number | string; n: number | string };
      counts[Number(bucket)] = Number(n);
    }
    return counts;
  }

  /** Rejects with what the database says. A statement is whole when its answer begins. */
  async #send(query: string, params: Params = {}, body?: string): Promise<string> {
    const url = new URL('/', this.#url);
    url.searchParams.set('wait_end_of_query', '1');
    const database = decodeURIComponent(this.#url.pathname.slice(1));
    if (database !== '') url.searchParams.set('database', database);
    for (const [name, value] of Object.entries(params)) url.searchParams.set(`param_${name}`, value);
    if (body !== undefined) url.searchParams.set('query', query);
    const answer = await fetch(url, {
      method: 'POST',
      headers: this.#headers,
      body: body ?? query,
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch((error: Error) => {
      throw new Error(`${this.place} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`, {
        cause: error,
      });
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`ClickHouse answers ${answer.status}: ${text.slice(0, MOST_ERROR_CHARS)}`);
    return text;
  }
}

function tokensOf(line: LogLine): number[] {
  const tokens = new Set<number>();
  scanTokens(searchedText(line), (token) => tokens.add(token));
  for (const field of FILTERED_FIELDS) tokens.add(fieldHash(field, line[field]));
  return [...tokens];
}

/** Nothing that somebody wrote stands in a statement: words are hashes, and names of classes are letters. */
function conditionOf(
  { fromMs, toMs, classes }: SearchRequest,
  { tokens, severities }: Matcher,
): { where: string; params: Params } {
  const parts = ['at_ms >= {from:Int64}', 'at_ms < {to:Int64}', 'bitTest({severities:UInt8}, severity)'];
  const params: Record<string, string> = { from: String(fromMs), to: String(toMs), severities: String(severities) };
  if (classes !== undefined) {
    parts.push('class IN {classes:Array(String)}');
    params['classes'] = `[${classes.map((name) => `'${name}'`).join(',')}]`;
  }
  for (const [i, token] of tokens.entries()) {
    parts.push(`has(tokens, {token${i}:UInt32})`);
    params[`token${i}`] = String(token);
  }
  return { where: parts.join(' AND '), params };
}

function timedLine({ at_ms: atMs, source, ...line }: Row): TimedLine {
  return { line, atMs: Number(atMs), source };
}

/** A scan holds what was found so far. Rows come in the order of the answer. */
class PageScan {
  readonly #request: SearchRequest;
  readonly #matcher: Matcher;
  readonly #isOfSender: (address: string) => boolean;
  readonly #kept: TimedLine[] = [];
  counts: number[] | undefined;
  #nPages = 0;
  #nBytes = 0;

  constructor(request: SearchRequest, matcher: Matcher) {
    this.#request = request;
    this.#matcher = matcher;
    this.#isOfSender = senderTest(request.senders);
    this.counts = request.nBuckets === 0 ? undefined : new Array<number>(request.nBuckets).fill(0);
  }

  get nKept(): number {
    return this.#kept.length;
  }

  take(rows: readonly TimedLine[], nBytes: number, isCounting: boolean): void {
    const { limit, fromMs, toMs, nBuckets } = this.#request;
    this.#nPages += 1;
    this.#nBytes += nBytes;
    for (const row of rows) {
      if (!this.#isOfSender(row.line.fromhost_ip) || !this.#matcher.matches(row.line)) continue;
      const bucket = Math.min(nBuckets - 1, Math.floor(((row.atMs - fromMs) * nBuckets) / (toMs - fromMs)));
      if (isCounting && this.counts !== undefined) this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
      if (this.#kept.length <= limit && this.#isBehindCursor(row)) this.#kept.push(row);
    }
  }

  #isBehindCursor({ atMs, line }: TimedLine): boolean {
    const { cursor, order } = this.#request;
    if (cursor === undefined) return true;
    const difference =
      atMs === cursor.atMs ? (line.uuid < cursor.uuid ? -1 : line.uuid > cursor.uuid ? 1 : 0) : atMs - cursor.atMs;
    return order === 'desc' ? difference < 0 : difference > 0;
  }

  /** `left`: the time was over behind this line. */
  found(left: Cursor | undefined): Found {
    const { limit } = this.#request;
    const lines = this.#kept.slice(0, limit);
    const last = lines.at(-1);
    const next = this.#kept.length > limit && last !== undefined ? { atMs: last.atMs, uuid: last.line.uuid } : left;
    return { lines, next, counts: this.counts, isPartial: left !== undefined, nFrames: this.#nPages, nBytes: this.#nBytes };
  }
}
