/** A database that is down, comes up and refuses costs no line: the files are searched meanwhile, and what waits there is sent. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../../../../test/child-server.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { eventually } from '../../../platform/http/test-support/test-bed.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { madeLine, writeLines } from '../test-support/made-copy.ts';
import { LogIndex } from './log-index.ts';
import type { LogLine } from './log-line.ts';

const signal = new AbortController().signal;

/** A server that keeps what is asked of it, and judges nothing: a search gets one line. */
async function openScripted(t: Test, port = 0) {
  const asked: { statement: string; params: URLSearchParams; headers: IncomingMessage['headers'] }[] = [];
  const lines: LogLine[] = [];
  const state = { refuses: false };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const params = new URL(request.url ?? '', 'http://h').searchParams;
    const statement = params.get('query') ?? body;
    asked.push({ statement, params, headers: request.headers });
    if (state.refuses) return void response.writeHead(500).end('Code: 241. Memory limit exceeded');
    if (statement.startsWith('INSERT')) lines.push(...body.split('\n').map((row) => JSON.parse(row) as LogLine));
    const row = { ...madeLine({ msg: 'of the store' }), at_ms: String(Date.now() - 1_000), source: 'ts' };
    response.end(/^SELECT uuid/.test(statement) ? `${JSON.stringify(row)}\n` : /uniqExact/.test(statement) ? '{"n":"0"}\n' : '');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { asked, lines, state, port: (server.address() as AddressInfo).port };
}

function openIndex(t: Test, storeUrl: string) {
  const folder = newFolder(t, ['a']);
  const copy = join(folder, 'a');
  const metrics = new MetricsRegistry();
  const reading = () => ({ copy, copies: [copy], sources: undefined });
  const index = new LogIndex({ dataDir: folder, log: silentLog, metrics, now: Date.now, storeUrl, reading });
  index.start();
  t.teardown(() => index.stop());
  const write = (...messages: string[]): void =>
    writeLines(
      copy,
      messages.map((msg) => madeLine({ rcvd: new Date().toISOString().replace('Z', '000+00:00'), msg })),
    );
  const find = async (q = '') => {
    const now = Date.now();
    const request = {
      fromMs: now - 60_000,
      toMs: now + 60_000,
      classes: undefined,
      limit: 10,
      order: 'asc',
      cursor: undefined,
      nBuckets: 0,
      senders: undefined,
      timeLimitMs: 5_000,
    } as const;
    return (await index.search(q, {}, request, signal)).lines.map(({ line }) => line.msg);
  };
  return { index, metrics, write, find };
}

t.test('while it is down the files are searched; when it is up it gets what waited, once, and is searched', async (t) => {
  const port = await freePort();
  const { index, metrics, write, find } = openIndex(t, `http://ann:p%40ss@127.0.0.1:${port}/logs`);
  write('one password=hunter2hunter2', 'two');
  await eventually(() => index.health().length > 0);
  t.match(index.health(), [{ code: 'logs_store_unreachable' }]);
  t.match(index.shownStore, { kind: 'clickhouse', error: /ECONNREFUSED/, sent_lines: 0 });
  t.notMatch(JSON.stringify(index.shownStore), 'ss@');
  t.strictSame(await find(), ['one password=[redacted]', 'two']);

  const { asked, lines, state } = await openScripted(t, port);
  await eventually(() => index.shownStore?.error === null && lines.length === 2);
  t.strictSame(index.health(), []);
  t.match(index.shownStore, { sent_lines: 2, waiting_bytes: 0, hours_left: 0, hours_missed: 0 });
  t.match(metrics.expose(), /^svc_logs_store_waiting_bytes 0$/m);
  t.strictSame(
    lines.map(({ msg }) => msg),
    ['one password=[redacted]', 'two'],
    'secrets are masked before they leave',
  );
  t.match(asked[0], {
    statement: /^CREATE TABLE IF NOT EXISTS svc_log_lines/,
    headers: { 'x-clickhouse-user': 'ann', 'x-clickhouse-key': 'p@ss' },
  });
  t.ok(asked.every(({ params }) => params.get('database') === 'logs'));

  t.strictSame(await find('store'), ['of the store']);
  const { statement, params } = asked.findLast((each) => each.statement.startsWith('SELECT')) ?? {};
  t.match(statement, /has\(tokens, \{token0:UInt32\}\)/);
  t.match(params?.get('param_token0'), /^\d+$/);
  t.notMatch(`${statement} ${params}`, /store\b.*'/, 'no word of a search stands in a statement');

  state.refuses = true;
  t.strictSame(await find('two'), ['two'], 'a search that is refused reads the files');
  t.match(index.shownStore, { error: /500: Code: 241/ });
  write('three');
  t.strictSame(await find('three'), ['three']);
  state.refuses = false;
  await eventually(() => lines.length === 3);
  t.equal(lines[2]?.msg, 'three');
});

t.test('a query that is none is refused, whatever the store says', async (t) => {
  const { port } = await openScripted(t);
  const { index, write, find } = openIndex(t, `http://127.0.0.1:${port}`);
  write('one');
  await eventually(() => index.shownStore?.error === null);
  await t.rejects(find('"'), { code: 'invalid_query' });
  t.equal(index.shownStore?.error, null);
});

t.test('without a store there is nothing to be sent to', async (t) => {
  const { index } = openIndex(t, '');
  t.equal(index.shownStore, null);
  t.strictSame(index.health(), []);
  await t.rejects(index.migrate(), { code: 'store_not_configured' });
});
