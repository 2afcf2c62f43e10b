import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Resolver } from '../../../platform/network/address-policy.ts';
import { HttpClient } from '../../../platform/network/http-client.ts';
import { parseAllowedHost } from './allowed-hosts.ts';
import type { NodeFiles } from './node-files.ts';
import { checkPull, type PulledModel, type PullOptions, pullModel } from './pull.ts';
import {
  answer,
  type Behaviour,
  BrokenServer,
  cutAfter,
  endless,
  redirect,
  silent,
  sound,
  withoutRanges,
  wrongRange,
} from './test-support/broken-server.ts';
import { writeTinyModel } from './test-support/tiny-model.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const retry = { maxAttempts: 3, baseMs: 1, idleMs: 10_000 };
const reference = 'owner/repo:tiny.gguf';

const source = t.testdir();
const model = await writeTinyModel(join(source, 'tiny.gguf'), { tensorBytes: 200_000 });
const other = await writeTinyModel(join(source, 'other.gguf'), { tensorBytes: 200_000, fill: 9 });

interface Setting {
  server: BrokenServer;
  modelsDir: string;
  notes: string[];
  pull(options?: Partial<PullOptions>, text?: string): Promise<PulledModel>;
}

async function setting(t: Test, last: Behaviour, ...queue: Behaviour[]): Promise<Setting> {
  const server = await BrokenServer.start(last, ...queue);
  t.teardown(() => server.stop());
  const modelsDir = t.testdir();
  const notes: string[] = [];
  const defaults: PullOptions = { modelsDir, hub: server.base, retry, onNote: (note) => notes.push(note) };
  return { server, modelsDir, notes, pull: (options = {}, text = reference) => pullModel(text, { ...defaults, ...options }) };
}

const here = (folder: string) => readdirSync(folder).sort();

t.test('a sound server: the file, its sidecar and nothing else', async (t) => {
  const { modelsDir, pull, server } = await setting(t, sound(model));
  const pulled = await pull();
  t.strictSame(here(modelsDir), ['tiny.gguf', 'tiny.json']);
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.match(pulled, {
    name: 'tiny',
    alreadyHere: false,
    verified: false,
    files: [{ sha256: sha256(model), sizeBytes: model.length }],
  });
  t.match(JSON.parse(readFileSync(join(modelsDir, 'tiny.json'), 'utf8')), {
    source: 'owner/repo:tiny.gguf@main',
    files: [{ file: 'tiny.gguf' }],
  });
  t.equal(server.seen[0]?.url, '/owner/repo/resolve/main/tiny.gguf');
});

t.test('a second pull fetches nothing', async (t) => {
  const { pull, server } = await setting(t, sound(model));
  await pull();
  t.match(await pull(), { alreadyHere: true });
  t.equal(server.seen.length, 1);
});

t.test('cut connections are continued where they stopped', async (t) => {
  const { modelsDir, pull, server } = await setting(t, sound(model), cutAfter(model, 70_000), cutAfter(model, 50_000));
  await pull();
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.match(server.seen[1]?.headers, { range: 'bytes=70000-', 'if-range': '"v1"' });
  t.equal(server.seen[2]?.headers.range, 'bytes=120000-');
});

t.test('a later run resumes what an earlier one left, after hashing it again', async (t) => {
  const { modelsDir, pull, server } = await setting(t, sound(model), ...Array<Behaviour>(1).fill(cutAfter(model, 60_000)));
  await t.rejects(pull({ retry: { ...retry, maxAttempts: 1 } }), { code: 'unreachable' });
  t.strictSame(here(modelsDir), ['tiny.gguf.partial', 'tiny.gguf.partial.json']);
  await pull({ sha256: sha256(model) });
  t.equal(server.seen[1]?.headers.range, 'bytes=60000-');
  t.strictSame(here(modelsDir), ['tiny.gguf', 'tiny.json']);
});

t.test('a partial that was damaged meanwhile is noticed and fetched anew', async (t) => {
  const { modelsDir, notes, pull } = await setting(t, sound(model), cutAfter(model, 60_000));
  await t.rejects(pull({ retry: { ...retry, maxAttempts: 1 } }));
  const partial = join(modelsDir, 'tiny.gguf.partial');
  const bytes = readFileSync(partial);
  bytes[50_000] = 0xff;
  writeFileSync(partial, bytes);
  await pull({ sha256: sha256(model) });
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.match(notes.join('\n'), /does not match its SHA-256; starting again/);
});

t.test('a server that ignores Range sends the whole file and that is what is stored', async (t) => {
  const { modelsDir, pull } = await setting(t, withoutRanges(model), cutAfter(model, 70_000));
  await pull();
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
});

t.test('a part from the wrong place is thrown away', async (t) => {
  const { modelsDir, notes, pull } = await setting(t, sound(model), cutAfter(model, 70_000), wrongRange(model));
  await pull();
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.match(notes.join('\n'), /continued at the wrong place; starting again/);
});

t.test('a server that always continues at the wrong place is given up', async (t) => {
  const cut = cutAfter(model, 70_000);
  const { pull } = await setting(
    t,
    sound(model),
    ...[cut, wrongRange(model), cut, wrongRange(model), cut, wrongRange(model), cut, wrongRange(model)],
  );
  const patient = { retry: { ...retry, maxAttempts: 9 } };
  await t.rejects(pull(patient), { code: 'refused_by_server', message: /again and again/ });
});

t.test('a file that changes meanwhile is started again, with If-Range and without', async (t) => {
  const ignoresIfRange: Behaviour = (request, response) => {
    delete request.headers['if-range'];
    sound(other, { etag: '"v2"' })(request, response);
  };
  for (const later of [sound(other, { etag: '"v2"' }), ignoresIfRange]) {
    const { modelsDir, pull } = await setting(t, sound(other, { etag: '"v2"' }), cutAfter(model, 70_000), later);
    await pull();
    t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(other), 'no mixture of the two');
  }
});

t.test('without anything that tells one file from another, nothing is continued', async (t) => {
  const { modelsDir, pull, server } = await setting(t, withoutRanges(other), cutAfter(model, 70_000, ''));
  await pull();
  t.equal(server.seen[1]?.headers.range, undefined);
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(other));
});

t.test('416 after the last byte means complete, 416 with another length means start again', async (t) => {
  const all = cutAfter(model, model.length);
  const complete = await setting(t, sound(model), all);
  await complete.pull();
  t.ok(readFileSync(join(complete.modelsDir, 'tiny.gguf')).equals(model));
  const shorter = await setting(t, sound(model), cutAfter(model, 70_000), answer(416, { 'content-range': 'bytes */5' }));
  await shorter.pull();
  t.ok(readFileSync(join(shorter.modelsDir, 'tiny.gguf')).equals(model));
});

t.test('wrong bytes are refused and nothing stays', async (t) => {
  const { modelsDir, pull } = await setting(t, sound(other));
  await t.rejects(pull({ sha256: sha256(model) }), { code: 'verification_failed', message: new RegExp(sha256(other)) });
  t.strictSame(here(modelsDir), []);
});

t.test('the hub’s own word on SHA-256 and commit counts, through its redirect', async (t) => {
  const revision = 'a'.repeat(40);
  const linked = (bytes: Buffer) => ({
    'x-linked-etag': `"${sha256(bytes)}"`,
    'x-linked-size': String(bytes.length),
    'x-repo-commit': revision,
  });
  const good = await setting(t, sound(model), redirect('/storage/1', linked(model)));
  t.match(await good.pull(), { verified: true });
  t.match(JSON.parse(readFileSync(join(good.modelsDir, 'tiny.json'), 'utf8')), { revision });
  const bad = await setting(t, sound(other), redirect('/storage/1', linked(model)));
  await t.rejects(bad.pull(), { code: 'verification_failed' });
});

t.test('5xx and 429 are tried again, and given up in the end', async (t) => {
  const { pull, server } = await setting(t, sound(model), answer(503), answer(429, { 'retry-after': '0' }));
  await pull();
  t.equal(server.seen.length, 3);
  const hopeless = await setting(t, answer(500));
  await t.rejects(hopeless.pull(), { code: 'unreachable', remedy: /SVC_MODELS_MIRROR/ });
  t.equal(hopeless.server.seen.length, retry.maxAttempts);
});

t.test('refusals name the remedy and are not repeated', async (t) => {
  for (const [status, code] of [
    [401, 'permission_needed'],
    [403, 'permission_needed'],
    [404, 'not_found'],
    [400, 'refused_by_server'],
  ] as const) {
    const { pull, server } = await setting(t, answer(status));
    await t.rejects(pull(), { code });
    t.equal(server.seen.length, 1);
  }
});

t.test('an endless body ends at the limit', async (t) => {
  const { modelsDir, pull } = await setting(t, endless(model.subarray(0, 100)));
  const reserve = 256 * 1024 * 1024;
  await t.rejects(pull({ freeBytes: async () => reserve + 3_000_000 }), {
    code: 'refused_by_server',
    message: /more than 3000000 bytes/,
  });
  t.strictSame(here(modelsDir), []);
});

t.test('a server that falls silent is left', async (t) => {
  const { pull } = await setting(t, sound(model), silent(model));
  await pull({ retry: { ...retry, idleMs: 500 } });
  t.pass('the second attempt succeeded');
});

t.test('a page instead of a model is refused after its first bytes', async (t) => {
  const { modelsDir, pull } = await setting(t, answer(200, {}, '<!DOCTYPE html>'.padEnd(100_000)));
  await t.rejects(pull(), { code: 'not_a_model', message: /<!DOCTYPE/ });
  t.strictSame(here(modelsDir), []);
});

t.test('a GGUF that is cut short on the server is refused', async (t) => {
  const { modelsDir, pull } = await setting(t, withoutRanges(model.subarray(0, 50_000)));
  await t.rejects(pull(), { code: 'not_a_model' });
  t.notOk(here(modelsDir).includes('tiny.gguf'));
});

t.test('a compressed body is refused', async (t) => {
  const { pull } = await setting(t, answer(200, { 'content-encoding': 'gzip' }, model));
  await t.rejects(pull(), { code: 'refused_by_server', message: /compresses/ });
});

t.test('redirects: chains have an end, and none leads into the network', async (t) => {
  const loop = await setting(t, redirect('/again'));
  await t.rejects(loop.pull(), { code: 'refused_by_server', message: /more than 10 times/ });
  for (const target of ['https://169.254.169.254/latest', 'https://[::1]/x', 'http://files.example/x', 'https://localhost:1/x']) {
    const { pull } = await setting(t, redirect(target));
    await t.rejects(pull(), { code: 'unsafe_address' }, target);
  }
});

t.test('the token goes to the hub alone', async (t) => {
  const storage = await setting(t, sound(model));
  const { pull, server } = await setting(t, redirect(new URL('/file', storage.server.base)));
  await pull({ token: 'hf_secret', allowedHosts: [parseAllowedHost('http://127.0.0.1')] });
  t.equal(server.seen[0]?.headers.authorization, 'Bearer hf_secret');
  t.equal(storage.server.seen[0]?.headers.authorization, undefined);
  await storage.pull({ token: 'hf_secret', hub: server.base, isReferenceTrusted: true }, `${storage.server.base}direct.gguf`);
  t.equal(storage.server.seen[1]?.headers.authorization, undefined, 'nor to a typed URL elsewhere');
});

t.test('plain http is for this machine and the mirror', async (t) => {
  const modelsDir = t.testdir();
  const pull = pullModel('http://files.example/x.gguf', { modelsDir, hub: new URL('https://hub.example'), retry });
  await t.rejects(pull, { code: 'unsafe_address' });
});

t.test('a name that leads inside the network at the second attempt is refused there', async (t) => {
  const { pull, server } = await setting(t, sound(model));
  const found = [[], [{ address: '127.0.0.1', family: 4 }]];
  const resolve: Resolver = (_hostname, _options, callback) => callback(null, found.shift() ?? []);
  await t.rejects(pull({ resolve }, `https://rebind.example:${server.base.port}/x.gguf`), { code: 'unsafe_address' });
  t.equal(found.length, 0, 'both attempts were judged');
  t.equal(server.seen.length, 0);
});

t.test('a connection goes to the address that was judged: each resolves the name once', async (t) => {
  const { pull, server } = await setting(t, sound(model), cutAfter(model, 70_000));
  let nLookups = 0;
  const resolve: Resolver = (_hostname, _options, callback) => {
    nLookups++;
    callback(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const allowedHosts = [parseAllowedHost('http://files.example')];
  await pull({ resolve, allowedHosts }, `http://files.example:${server.base.port}/x.gguf`);
  t.equal(server.seen.length, 2);
  t.equal(nLookups, 2);
});

t.test('two pulls of one model at once: one works, the other is told', async (t) => {
  const isOneTold = Promise.withResolvers<void>();
  const { pull } = await setting(t, async (request, response) => {
    await isOneTold.promise;
    sound(model)(request, response);
  });
  const both = [pull(), pull()] as const;
  await Promise.race(both).catch(isOneTold.resolve);
  const [first, second] = await Promise.allSettled(both);
  const states = [first, second].map(({ status }) => status).sort();
  t.strictSame(states, ['fulfilled', 'rejected']);
  const failed = [first, second].find((each) => each.status === 'rejected');
  t.match(failed, { reason: { code: 'in_use' } });
});

t.test('another file of that name is not overwritten unless asked', async (t) => {
  const { modelsDir, pull } = await setting(t, sound(model));
  writeFileSync(join(modelsDir, 'tiny.gguf'), other);
  await t.rejects(pull({ sha256: sha256(model) }), { code: 'exists', remedy: /--force/ });
  await pull({ force: true });
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
});

t.test('a full disk is noticed before the download where the size is known', async (t) => {
  const { pull, server } = await setting(t, sound(model));
  await t.rejects(pull({ freeBytes: async () => 1_000_000 }, 'bge-m3-q8_0'), { code: 'no_space' });
  t.equal(server.seen.length, 0);
});

t.test('a file that is larger than the disk is refused before its first byte', async (t) => {
  const { modelsDir, pull, server } = await setting(t, sound(model));
  const reserve = 256 * 1024 * 1024;
  await t.rejects(pull({ freeBytes: async () => reserve + 100_000 }), { code: 'no_space', message: /room for/ });
  t.equal(server.seen.length, 1);
  t.equal(statSync(join(modelsDir, 'tiny.gguf.partial')).size, 0);
});

t.test('all parts of a split model come with the first', async (t) => {
  const { modelsDir, pull, server } = await setting(t, sound(model));
  const pulled = await pull({}, 'owner/repo:big-00001-of-00003.gguf');
  t.equal(pulled.name, 'big');
  t.strictSame(
    server.seen.map(({ url }) => url.slice(-14)),
    ['-of-00003.gguf', '-of-00003.gguf', '-of-00003.gguf'],
  );
  t.strictSame(here(modelsDir), ['big-00001-of-00003.gguf', 'big-00002-of-00003.gguf', 'big-00003-of-00003.gguf', 'big.json']);
});

t.test('an abort stops at once and leaves the partial for later', async (t) => {
  const { modelsDir, pull } = await setting(t, silent(model), cutAfter(model, 70_000));
  const controller = new AbortController();
  const pulling = pull({
    signal: controller.signal,
    onProgress: (_file, { receivedBytes }) => void (receivedBytes === 70_000 && setImmediate(() => controller.abort())),
  });
  await t.rejects(pulling, { name: 'AbortError' });
  t.strictSame(here(modelsDir), ['tiny.gguf.partial', 'tiny.gguf.partial.json']);
});

/** The other nodes of a cluster, each of which behaves so. */
async function nodesWith(t: Test, ...behaviours: Behaviour[]): Promise<NodeFiles & { servers: BrokenServer[] }> {
  const servers = await Promise.all(behaviours.map((behaviour) => BrokenServer.start(behaviour)));
  const client = new HttpClient({ idleMs: 5_000 });
  t.teardown(async () => void (await Promise.all([client.close(), ...servers.map((server) => server.stop())])));
  return {
    servers,
    offers: (name) => name === 'ours',
    find: async () =>
      servers.map(({ base }, n) => ({
        node: `node-${n}`,
        sha256: sha256(model),
        sizeBytes: model.length,
        url: new URL('/model-file/x', base),
        client,
      })),
  };
}

/** A node that has the file. */
const nodeSound = (bytes: Buffer) => sound(bytes, { etag: `"${sha256(bytes)}"` });

t.test('a file whose hash is known comes from a node that has it, and not from the hub', async (t) => {
  const { server, modelsDir, notes, pull } = await setting(t, sound(model));
  const nodes = await nodesWith(t, nodeSound(model));
  t.match(await pull({ nodes, sha256: sha256(model) }), { verified: true, alreadyHere: false });
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.strictSame(server.seen, [], 'the hub was not asked');
  t.match(notes, ['the node node-0 has the file: it is fetched from there']);
});

t.test('a transfer that breaks off goes on at another node, from the bytes that came', async (t) => {
  const { server, pull } = await setting(t, sound(model));
  const nodes = await nodesWith(t, cutAfter(model, 70_000), nodeSound(model));
  t.match(await pull({ nodes, sha256: sha256(model), retry: { ...retry, maxAttempts: 1 } }), { verified: true });
  t.match(nodes.servers[1]?.seen[0]?.headers.range, /^bytes=[1-9]\d*-$/);
  t.strictSame(server.seen, []);
});

t.test('a node that gives other bytes, or more of them, is believed nothing: the hub is asked', async (t) => {
  const { server, modelsDir, notes, pull } = await setting(t, sound(model));
  const nodes = await nodesWith(t, sound(other), endless(model), answer(503), answer(404));
  t.match(await pull({ nodes, sha256: sha256(model), retry: { ...retry, maxAttempts: 1 } }), { verified: true });
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.equal(server.seen.length, 1);
  t.match(notes.join('\n'), /the node node-0 did not give it: the file has SHA-256/);
});

t.test('without a hash the internet is asked; a name that only nodes have is asked of them for its hash', async (t) => {
  const { server, modelsDir, pull } = await setting(t, sound(model));
  const nodes = await nodesWith(t, nodeSound(model));
  await pull({ nodes });
  t.equal(server.seen.length, 1);
  t.strictSame(nodes.servers[0]?.seen, []);
  const options = { hub: server.base, nodes };
  t.equal(checkPull('ours', options), 'ours');
  t.throws(() => checkPull('nobodys', options), { code: 'not_found' });
  t.throws(() => checkPull('ours', { hub: server.base }), { code: 'not_found' });
  t.match(await pull({ nodes }, 'ours'), { name: 'ours', verified: true, files: [{ sha256: sha256(model) }] });
  t.ok(readFileSync(join(modelsDir, 'ours.gguf')).equals(model));
  t.match(JSON.parse(readFileSync(join(modelsDir, 'ours.json'), 'utf8')), { source: 'node:///ours.gguf' });
  t.equal(server.seen.length, 1);
  const none = { ...nodes, find: async () => [] };
  await t.rejects(pull({ nodes: none, name: 'again' }, 'ours'), { code: 'not_found', message: /no other node/ });
});
