/** Plugins on both databases: placed, enabled by their files, and run for each tenant by itself. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { callerOf, openEdge } from '../test-support/edge-bed.ts';

const ann = callerOf('usr_ann', 'viewer');
const admin = callerOf('usr_admin', 'admin');
const eve = callerOf('usr_eve', 'admin', { tenant: 'blue' });
const Text = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };

const MODULE = `
let n = 0;
export const tools = {
  echo: ({ text }) => ({ text, n: ++n, env: process.env }),
  fail: () => { throw new Error('not today') },
  keep: async ({ text }, host) => {
    const before = await host.storage.get('text');
    if (text === undefined) await host.storage.delete('text');
    else await host.storage.set('text', text);
    host.log('kept ' + text);
    return before ?? null;
  },
  read: async ({ text }, host) => {
    const answer = await host.fetch(text, { headers: { 'x-own': 'yes' } });
    return { status: answer.status, text: await answer.text() };
  },
  stop: () => process.exit(),
};
`;

interface Placed {
  readonly manifest?: object;
  readonly module?: string;
  readonly files?: Readonly<Record<string, string>>;
}

function place(dataDir: string, { manifest = {}, module = MODULE, files = {} }: Placed = {}): string {
  const folder = join(dataDir, 'plugins', 'sample');
  mkdirSync(folder, { recursive: true });
  const tool = (name: string, effect: string) => ({ name, description: 'Does something.', input: Text, effect });
  const tools = [tool('echo', 'read'), tool('fail', 'read'), tool('keep', 'write'), tool('read', 'read'), tool('stop', 'read')];
  const whole = { id: 'sample', name: 'Sample', version: '1.0.0', license: 'MIT', entry: 'main.mjs', tools, ...manifest };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(whole));
  writeFileSync(join(folder, 'main.mjs'), module);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function openPlugins(t: Test, newDatabase: NewDatabase, placed: Placed = {}, settings: object = {}) {
  const dataDir = join(newFolder(t), 'data');
  const folder = place(dataDir, placed);
  const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase), dataDir, settings: { ...settings } });
  const api = (as: typeof ann, act: string, body?: object) =>
    bed.ask(act === '' ? 'GET' : 'POST', `/api/v1/edge/plugins${act === '' ? '' : `/sample/${act}`}`, as, body);
  const call = (as: typeof ann, tool: string, text?: string) =>
    bed.execute(as, `plugin.sample.${tool}`, { arguments: text === undefined ? {} : { text } });
  const listed = async (as: typeof ann) => (await api(as, '')).body.data[0];
  return { ...bed, folder, place: (more: Placed) => place(dataDir, more), api, call, listed };
}

function testPlugins(t: Test, newDatabase: NewDatabase): void {
  t.test('a plugin is there, is enabled by an administrator with its files, and is disabled', async (t) => {
    const bed = await openPlugins(t, newDatabase);
    const { hash, state } = await bed.listed(admin);
    t.equal(state, 'disabled');
    t.equal((await bed.call(ann, 'echo', 'a')).status, 404, 'its tools are not there');
    t.equal((await bed.api(ann, 'enable', {})).status, 403);
    t.match(await bed.api(admin, 'enable', { hash: 'f'.repeat(64) }), { status: 409, body: { error: 'plugin_changed' } });
    t.match(await bed.api(admin, 'enable', { hash }), { status: 200, body: { id: 'sample', enabled: true, hash } });
    t.match((await bed.call(ann, 'echo', 'a')).body, { ok: true, result: { text: 'a', n: 1, env: {} } });
    const listed = (await bed.ask('GET', '/api/v1/agent/tools', ann)).body.data as { name: string }[];
    t.match(
      listed.find(({ name }) => name === 'plugin.sample.echo'),
      { source: 'plugin.sample', effect: 'read', state: 'ready' },
    );
    t.equal((await bed.call(eve, 'echo', 'a')).status, 404, 'another tenant has not enabled it');
    t.match(await bed.api(admin, 'disable'), { status: 200, body: { id: 'sample', enabled: false, hash } });
    t.equal((await bed.call(ann, 'echo', 'a')).status, 404);
    t.match(bed.acts, [{ action: 'plugin.enable' }, { action: 'tool.call' }, { action: 'plugin.disable' }]);
    const unknown = await bed.ask('POST', '/api/v1/edge/plugins/other/enable', admin, {});
    t.match(unknown, { status: 404, body: { error: 'plugin_not_found' } });
  });

  t.test('each tenant has a process and a memory of its own', async (t) => {
    const bed = await openPlugins(t, newDatabase);
    for (const as of [admin, eve]) await bed.api(as, 'enable', {});
    const kept = async (as: typeof ann, text?: string) => (await bed.call(as, 'keep', text)).body.result;
    t.strictSame([await kept(ann, 'a'), await kept(eve, 'b'), await kept(admin, 'c'), await kept(eve)], [null, null, 'a', 'b']);
    t.equal(await kept(eve), null);
    const n = async (as: typeof ann) => (await bed.call(as, 'echo')).body.result.n;
    t.strictSame([await n(ann), await n(admin), await n(eve)], [1, 2, 1]);
    t.match(bed.log.join('\n'), /a plugin says.*kept a/);
    t.match((await bed.call(ann, 'keep', 'x'.repeat(1024 * 1024))).body, { ok: false, error: { error: 'plugin_failed' } });
    t.equal(await kept(ann, 'd'), 'c', 'what is too much is not kept');
  });

  t.test('a file that is changed, added or renamed stops the plugin until it is enabled again', async (t) => {
    const bed = await openPlugins(t, newDatabase);
    await bed.api(admin, 'enable', {});
    t.equal((await bed.call(ann, 'echo')).status, 200);
    bed.place({ module: `${MODULE}\n// another one` });
    t.match(await bed.call(ann, 'echo'), { status: 409, body: { error: 'plugin_changed' } });
    t.match(await bed.listed(admin), { state: 'changed' });
    bed.place({});
    t.equal((await bed.call(ann, 'echo')).status, 200, 'the files are those that were enabled again');
    bed.place({ files: { 'more.mjs': 'export {}' } });
    t.equal((await bed.call(ann, 'echo')).status, 409);
    await bed.api(admin, 'enable', {});
    t.equal((await bed.call(ann, 'echo')).status, 200);
  });

  t.test('what a plugin fails with is an outcome, and one that left is started again', async (t) => {
    const bed = await openPlugins(t, newDatabase);
    await bed.api(admin, 'enable', {});
    const failed = (detail: RegExp) => ({ status: 200, body: { ok: false, error: { error: 'plugin_failed', detail } } });
    t.match(await bed.call(ann, 'fail'), failed(/not today/));
    t.match(await bed.call(ann, 'stop'), failed(/its process ended/));
    t.match((await bed.call(ann, 'echo')).body, { ok: true, result: { n: 1 } });
  });

  t.test('requests go to the hosts of the manifest alone, and such a plugin only reads no more', async (t) => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers['x-own']}`);
      if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' });
      response.end('hello');
    }).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { 'tools.allowed_hosts': `http://${host}` };
    const bed = await openPlugins(t, newDatabase, { manifest: { hosts: [host, 'localhost'] } }, settings);
    await bed.api(admin, 'enable', {});
    t.match((await bed.call(ann, 'read', `http://${host}/a`)).body, { ok: true, result: { status: 200, text: 'hello' } });
    t.match((await bed.call(ann, 'read', `http://${host}/away`)).body, { result: { status: 302 } });
    t.strictSame(seen, ['/a yes', '/away yes']);
    for (const address of ['http://127.0.0.1:1/', 'http://localhost/', 'https://example.com/', 'file:///etc/passwd', 'x'])
      t.match((await bed.call(ann, 'read', address)).body, { ok: false, error: { error: 'plugin_failed' } }, address);
    const listed = (await bed.ask('GET', '/api/v1/agent/tools', ann)).body.data as { name: string; effect: string }[];
    t.equal(listed.find(({ name }) => name === 'plugin.sample.echo')?.effect, 'external');
  });

  t.test('a folder that is no whole plugin says why', async (t) => {
    const bed = await openPlugins(t, newDatabase);
    const tool = { name: 'a', description: 'x', effect: 'read' };
    const wrong: [Placed, RegExp][] = [
      [{ manifest: { id: 'other' } }, /that of other/],
      [{ manifest: { entry: 'none.mjs' } }, /none\.mjs is missing/],
      [{ manifest: { entry: '../../main.mjs' } }, /entry/],
      [{ manifest: { tools: [] } }, /tools/],
      [{ manifest: { surprise: 1 } }, /surprise/],
      [{ manifest: { tools: [{ ...tool, input: { type: 'array' } }] } }, /type "object"/],
      [{ manifest: { tools: [{ ...tool, input: { type: 'object', properties: { b: { pattern: '(a+)+$' } } } }] } }, /"pattern"/],
      [{ manifest: { tools: [1, 2].map(() => ({ ...tool, input: { type: 'object' } })) } }, /two tools/],
    ];
    for (const [placed, reason] of wrong) {
      bed.place(placed);
      t.match(await bed.listed(admin), { state: 'invalid', reason });
      t.match(await bed.api(admin, 'enable', {}), { status: 422, body: { error: 'plugin_invalid' } });
    }
    bed.place({});
    symlinkSync('/etc/passwd', join(bed.folder, 'link'));
    t.match(await bed.listed(admin), { state: 'invalid', reason: /neither a file nor a folder/ });
  });
}

onEachDatabase(process.platform === 'linux' ? testPlugins : (t) => t.comment('only Linux confines programs'), {
  timeoutMs: 180_000,
});
