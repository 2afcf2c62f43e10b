/**
 * npm run eval:models [-- --chat FILE.gguf --embed FILE.gguf --count N]: measures the models of this repository on their held-out sets,
 * through `svc serve` over HTTP, and prints a table for each. A model that is not there is left out.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findPython } from '../recipe/python.ts';
import { measureChatSets } from './chat-sets.ts';
import { measureEmbeddings } from './embedding-figures.ts';
import { figureTable } from './figure.ts';
import { startModelServer } from './model-server.ts';

const shipped = (name: string) => join(import.meta.dirname, '..', name, `${name}.gguf`);
const { values } = parseArgs({
  options: {
    chat: { type: 'string', default: shipped('svc-chat-tiny') },
    embed: { type: 'string', default: shipped('svc-embed-tiny') },
    xquad: { type: 'string', default: join(import.meta.dirname, '../../../shared/data/xquad') },
    count: { type: 'string', default: '200' },
  },
});

const python = await findPython(['json']);
if (!python)
  throw new Error('the held-out sets are written by Python 3, and none was found: install python3, or name one in SVC_PYTHON');
const options = { python, count: Number(values.count), xquad: values.xquad };
for (const [path, measure] of [[values.chat, measureChatSets] as const, [values.embed, measureEmbeddings] as const]) {
  if (!existsSync(path)) {
    console.error(`${path} is not there: the card beside its recipe says how it is made`);
    continue;
  }
  const server = await startModelServer(path);
  try {
    console.log(figureTable(basename(path), await measure({ ...options, url: server.url, model: basename(path, '.gguf') })));
  } finally {
    await server.stop();
  }
}
