import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that were made, with copies of the checkout. */
const packagesMade = join('packaging', 'out', '/');
const folders = ['ts', 'native', 'scripts', 'models', 'test', 'bench', 'packaging'];

/** Files that take many times as long as the others: started last, one of them would run alone at the end. */
export const slowestFirst = [
  'native/llama/test/random-operations.test.ts',
  'native/llama/test/speculation.test.ts',
  'models/svc-chat-tiny/data.test.ts',
  'test/models-in-memory.test.ts',
  'test/pages/accessibility.test.ts',
  'test/pages/hostile-texts.test.ts',
  'test/pages/admin.test.ts',
  'test/pages/chat.test.ts',
  'native/llama/test/chat-reader.test.ts',
  'native/llama/test/chat-format.test.ts',
  'native/llama/test/greedy.test.ts',
  'test/soak.test.ts',
  'ts/cli/svc.test.ts',
  'ts/cli/commands/models.test.ts',
];

/**
 * Every test file of a checkout, in the order in which they are started.
 * @param {string} root
 */
export function listTestFiles(root) {
  // fs.globSync is not in every Node that can start `npm test`.
  const found = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(folder, file))
      .filter((file) => !file.startsWith(packagesMade)),
  );
  return [...slowestFirst, ...found.filter((file) => !slowestFirst.includes(file)).sort()];
}
