import t from 'tap';
import { missingPaths, pathsIn, resolvePath } from './document-paths.ts';

const files = ['ts/server/main.ts', 'ts/server/http/request.ts', 'ts/server/chat/request.ts', 'native/llama/engine.cpp'];

t.test('paths in backticks are found with their lines, other code is not', async (t) => {
  const document = 'See `ts/server/main.ts`\nand `npm test -- a.ts`, `engine.cpp`, `llama.h`, main.ts and `Engine::fill_gap`.';
  t.strictSame(pathsIn(document), [
    { path: 'ts/server/main.ts', line: 1 },
    { path: 'engine.cpp', line: 2 },
  ]);
});

t.test('a short name means the file beside the one before it, else every file that ends so', async (t) => {
  t.strictSame(resolvePath('request.ts', files, 'ts/server/chat/service.ts'), ['ts/server/chat/request.ts']);
  t.strictSame(resolvePath('request.ts', files), ['ts/server/http/request.ts', 'ts/server/chat/request.ts']);
  t.strictSame(resolvePath('llama/engine.cpp', files), ['native/llama/engine.cpp']);
  t.strictSame(resolvePath('ts/server/*.ts', files), ['ts/server/main.ts']);
  t.strictSame(resolvePath('server/NAME/request.ts', files), ['ts/server/http/request.ts', 'ts/server/chat/request.ts']);
  t.strictSame(resolvePath('est.ts', files), [], 'the end of a name is no name');
});

t.test('a file that is gone is named with its place', async (t) => {
  t.strictSame(missingPaths('A.md', '`main.ts`\n`ts/gone.ts` and `*.test.ts`', files), [
    'A.md:2: ts/gone.ts does not exist',
    'A.md:2: *.test.ts does not exist',
  ]);
});
