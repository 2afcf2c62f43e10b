/** What a node that should lend itself may answer instead. */
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import { SplitModels } from './split-models.ts';

const answers: [status: number, text: string, problem: RegExp][] = [
  [200, '', /lends nothing: it answers 200/],
  [200, 'null', /lends nothing/],
  [200, '[]', /lends nothing/],
  [200, '{"port":70000}', /lends nothing/],
  [200, '{"port":"80"}', /lends nothing/],
  [200, '{"port":-1}', /lends nothing/],
  [403, '', /it answers 403/],
  [503, '{"detail":{}}', /it answers 503/],
  [503, `{"detail":"${'x'.repeat(60_000)}"}`, /^.{0,400}$/],
];

t.test('a model whose node lends nothing says why, whatever the node answers', async (t) => {
  const folder = newFolder(t);
  for (const name of ['llama-server', 'ggml-rpc-server']) writeFileSync(join(folder, name), '');
  const certificate = await openNodeCertificate(folder, 'own');
  for (const [status, text, problem] of answers) {
    const told = new EventEmitter();
    const peer = {
      facts: { id: 'far', name: 'far', address: '127.0.0.1:1', certificates: [certificate.cert] },
      isAnswering: true,
      ask: async () => ({ status, bytes: async () => Buffer.from(text) }),
    };
    const file = async () => ({ path: join(folder, 'model.gguf'), sizeBytes: 1, contextLength: 512 });
    const models = new SplitModels({
      log: silentLog,
      models: [{ name: 'large', nodes: ['far'], file }],
      attach: () => ({
        begin: () => undefined,
        setState: (problem) => void told.emit('problem', problem),
        detach: async () => undefined,
      }),
      nodeId: () => 'own',
      nodeName: 'own',
      tensorHost: {} as never,
      programs: folder,
      installRoot: folder,
      address: () => '127.0.0.1:2',
      certificate: () => certificate,
      peers: () => [peer as never],
    });
    const heard = once(told, 'problem');
    models.start();
    t.match((await heard)[0], problem, text.slice(0, 40));
    await models.stop();
  }
});
