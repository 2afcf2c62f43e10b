/** The backends of a node that is lost go to another one of its database, with keys that it can open. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SealingKey } from '../../platform/crypto/sealing-key.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { openModules, standIn } from '../../platform/module/test-support/open-modules.ts';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { identity } from '../identity/index.ts';
import { inference } from '../inference/index.ts';
import { cloud } from './index.ts';

const BACKENDS = '/api/v1/cloud/backends';

onEachDatabase((t, newDatabase) => {
  const openNode = async (t: Test, nodeId: string, databaseUrl: string, running: readonly string[] = []) => {
    const dataDir = join(newFolder(t), 'data');
    mkdirSync(dataDir, { recursive: true });
    const keyFile = join(dataDir, 'sealing.key');
    const bed = await openModules(t, {
      modules: [
        standIn(identity, { sealingKey: () => SealingKey.open(keyFile) } as never),
        standIn(inference, { service: { addBackend: () => () => undefined } } as never),
        cloud,
      ],
      databaseUrl,
      dataDir,
      nodeId,
      settings: { 'cloud.allowed_hosts': 'http://127.0.0.1' },
    });
    bed.module(cloud).api.connectCluster({ usesDatabase: async (id) => running.includes(id) });
    const ask = (method: string, path: string, body?: unknown) => bed.send(method, path, body === undefined ? {} : { body });
    const add = async (id: string, more: object = {}) =>
      await ask('POST', BACKENDS, { id, kind: 'openai', base_url: 'http://127.0.0.1:9/v1', key: `key-of-${id}`, ...more });
    return { bed, keyFile, ask, add };
  };

  t.test('another node takes the backends over, and their keys where it can open them', async (t) => {
    const url = await newUrl(t, newDatabase);
    const lost = await openNode(t, 'a1', url);
    t.equal((await lost.add('far', { model_filter: { include: ['model-a'] }, headers: { 'x-team': 'red' } })).status, 201);
    t.equal((await lost.add('both')).status, 201);
    const targets = [{ backend: 'far', model: 'model-a' }];
    t.equal((await lost.ask('PUT', '/api/v1/cloud/routes/best', { targets })).status, 200);
    t.equal(
      (await lost.ask('PUT', '/api/v1/cloud/prices', { prices: { 'model-a': { input: '1', currency: 'EUR' } } })).status,
      200,
    );
    await lost.bed.stop();

    const next = await openNode(t, 'b2', url);
    t.equal((await next.add('both')).status, 201);
    t.match(await next.ask('GET', `${BACKENDS}/elsewhere`), {
      body: {
        data: [
          { id: 'both', node: 'a1', node_is_lost: true },
          { id: 'far', node: 'a1', node_is_lost: true, models: ['model-a'] },
        ],
      },
    });
    const taken = await next.ask('POST', '/api/v1/cloud/takeover', { node: 'a1' });
    t.match(taken, { status: 200, body: { taken: ['far'], deleted: ['both'] } });
    t.match(await next.ask('GET', `${BACKENDS}/far`), {
      body: { node: 'b2', key_present: false, headers: {}, model_filter: { include: ['model-a'] } },
    });
    t.match(await next.ask('GET', `${BACKENDS}/both`), { body: { key_present: true } }, 'its own stays');
    t.match(await next.ask('GET', '/api/v1/cloud/routes/best'), { status: 200, body: { targets } });
    t.match((await next.ask('GET', '/api/v1/cloud/prices')).text, /"model":"model-a","origin":"own"/);
    t.strictSame((await next.ask('GET', `${BACKENDS}/elsewhere`)).body, { data: [] });
    t.match(await next.ask('PATCH', `${BACKENDS}/far`, { key: 'another-key' }), { body: { key_present: true } });
    t.match(await next.ask('POST', '/api/v1/cloud/takeover', { node: 'a1' }), { status: 404 });
    await next.bed.stop();

    const promoted = await openNode(t, 'c3', url);
    copyFileSync(next.keyFile, promoted.keyFile);
    t.match(await promoted.ask('POST', '/api/v1/cloud/takeover', { node: 'b2' }), { body: { taken: ['both', 'far'] } });
    for (const id of ['both', 'far'])
      t.match(await promoted.ask('GET', `${BACKENDS}/${id}`), { body: { node: 'c3', key_present: true } }, 'as a standby does');
  });

  t.test('a node that runs keeps its backends', async (t) => {
    const url = await newUrl(t, newDatabase);
    const other = await openNode(t, 'a1', url);
    t.equal((await other.add('far')).status, 201);
    await other.bed.stop();
    const node = await openNode(t, 'b2', url, ['a1']);
    t.match((await node.ask('GET', `${BACKENDS}/elsewhere`)).body, { data: [{ id: 'far', node_is_lost: false }] });
    for (const id of ['a1', 'b2'])
      t.match(await node.ask('POST', '/api/v1/cloud/takeover', { node: id }), {
        status: 409,
        body: { error: 'node_is_running' },
      });
    t.equal((await node.ask('POST', '/api/v1/cloud/takeover', { node: 'no id' })).status, 400);
  });
});
