import t from 'tap';
import { checkTrace } from './traced-request.ts';

const imports = new Map([
  ['ts/server/main.ts', ['ts/server/router.ts']],
  ['ts/server/router.ts', ['ts/server/route.ts']],
  ['ts/server/exchange.ts', ['ts/server/framing.ts']],
  ['ts/server/framing.ts', ['ts/server/bytes.ts']],
  ['ts/server/alone.ts', []],
]);
const files = ['ts/server/bytes.ts', 'ts/server/route.ts', 'ts/workers/inspect.ts', 'native/llama/engine.cpp', ...imports.keys()];

function check(...lines: string[]) {
  return checkTrace(
    ['# A', '`x/before.ts`', '## One request, file by file', ...lines, '## Next', '`y.ts`'].join('\n'),
    files,
    imports,
  );
}

t.test('files that import each other, also through others or from main, are a trace', async (t) => {
  const report = check(
    '1. `ts/server/exchange.ts` (`bytes.ts`)',
    '2. `route.ts`, `ts/workers/inspect.ts`, `native/llama/engine.cpp`',
  );
  t.strictSame(report, { nFiles: 5, problems: [] });
});

t.test('a file that does not exist is named', async (t) => {
  t.strictSame(check('`ts/server/exchange.ts`', '`gone.ts`').problems, ['ARCHITECTURE.md:5: gone.ts does not exist']);
});

t.test('a file that nothing on the way imports is named', async (t) => {
  t.match(check('`ts/server/exchange.ts`, `alone.ts`').problems, [
    /alone\.ts is imported neither by ts\/server\/exchange\.ts nor/,
  ]);
});

t.test('a name of several files asks for its path', async (t) => {
  const { problems } = checkTrace('## One request, file by file\n`a.ts`', ['x/a.ts', 'y/a.ts'], new Map());
  t.match(problems, [/a\.ts can mean x\/a\.ts, y\/a\.ts: write the path/]);
});

t.test('a document without the section is no success', async (t) => {
  t.throws(() => checkTrace('# A', files, imports), /has no section/);
});
