/**
 * npm run eval:models [-- --chat FILE.gguf --count N]: asks the models of this repository the questions of their held-out sets, through
 * `svc serve` over HTTP, and prints a table.
 */
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findPython } from '../recipe/python.ts';
import { measureChatSets } from './chat-sets.ts';
import { figureTable } from './figure.ts';
import { startModelServer } from './model-server.ts';

const defaultChat = join(import.meta.dirname, '../svc-chat-tiny/svc-chat-tiny.gguf');
const { values } = parseArgs({
  options: { chat: { type: 'string', default: defaultChat }, count: { type: 'string', default: '200' } },
});

const python = await findPython(['json']);
if (!python)
  throw new Error('the held-out sets are written by Python 3, and none was found: install python3, or name one in SVC_PYTHON');
const server = await startModelServer(values.chat);
try {
  const figures = await measureChatSets({
    url: server.url,
    model: basename(values.chat, '.gguf'),
    count: Number(values.count),
    python,
  });
  console.log(figureTable(basename(values.chat), figures));
} finally {
  await server.stop();
}
