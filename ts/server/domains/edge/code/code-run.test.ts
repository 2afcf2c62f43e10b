/** Programs in confined processes, as callers run them by `code.run`. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { FilesApi } from '../../files/index.ts';
import { callerOf, openEdge } from '../test-support/edge-bed.ts';
import { findPython } from './code-run.ts';
import { CodeRunner } from './code-runner.ts';

const ann = callerOf('usr_ann', 'viewer');
const admin = callerOf('usr_admin', 'admin');
const skip = process.platform === 'linux' ? false : 'only Linux confines programs';
const pythonFolder = findPythonForTests();
const skipPython = pythonFolder === undefined ? 'the npm package pyodide is in no folder that SVC_TEST_PYODIDE names' : skip;

function findPythonForTests(): string | undefined {
  try {
    return findPython(process.env['SVC_TEST_PYODIDE'] ?? '');
  } catch {
    return undefined;
  }
}

function runIn(bed: Awaited<ReturnType<typeof openEdge>>, as = ann) {
  return async (given: object) =>
    (await bed.execute(as, 'code.run', { arguments: { language: 'javascript', ...given } })).body as {
      ok: boolean;
      result: { output: string; result?: string; error?: string; artifacts: object[] };
      error?: { error: string; detail: string };
    };
}

t.test('a program prints, returns a value, and keeps texts', { skip }, async (t) => {
  const bed = await openEdge(t);
  const run = runIn(bed);
  const code = 'console.log("one", 2); artifact("Plan", "# Plan"); artifact("x", "y", "poem"); return { sum: 1 + 2 };';
  t.match(await run({ code }), {
    ok: true,
    result: {
      output: 'one 2\n',
      result: '{ sum: 3 }',
      artifacts: [
        { id: 'art_1', title: 'Plan', kind: 'markdown' },
        { id: 'art_2', title: 'x', kind: 'code' },
      ],
    },
  });
  t.strictSame(bed.kept, ['# Plan', 'y']);
});

t.test(
  'an error is answered with what was printed before; a program that leaves, or writes over its answers, harms itself',
  { skip },
  async (t) => {
    const run = runIn(await openEdge(t));
    t.match(await run({ code: 'console.log("before"); throw new TypeError("broken")' }), {
      ok: true,
      result: { output: 'before\n', error: /TypeError: broken/ },
    });
    t.match(await run({ code: 'syntax error here' }), { result: { error: /SyntaxError/ } });
    t.match(await run({ code: 'process.exit()' }), { result: { error: /ended before/ } });
    t.match(await run({ code: 'require("x")' }), { result: { error: /require is not defined/ } });
    const forged = `(await import('node:fs')).writeSync(1, '{"done":true,"result":7,"error":{}}\\n[]\\nnull\\n{"output":1}\\n')`;
    t.match(await run({ code: forged }), { ok: true, result: { output: '' } });
    t.match(await run({ code: `(await import('node:fs')).writeSync(1, 'no JSON\\n')` }), { result: { error: /ended before/ } });
  },
);

t.test('a program that does not end is ended in its time, with what it printed', { skip }, async (t) => {
  const run = runIn(await openEdge(t));
  const started = performance.now();
  const { result } = await run({ code: 'console.log("begun"); for (;;);', timeout_seconds: 1 });
  t.match(result, { output: 'begun\n', error: /within 1 s/ });
  t.ok(performance.now() - started < 30_000);
});

t.test('files are those of the caller, by their names', { skip }, async (t) => {
  const folder = newFolder(t);
  const path = join(folder, 'blob');
  writeFileSync(path, 'a,b\n1,2\n');
  const id = (digit: string) => `file-${digit.repeat(32)}`;
  const stored = { find: async (_scope: unknown, fileId: string) => files.get(fileId) };
  const file = { fileName: 'table.csv', sizeBytes: 8, sha256: 'x' };
  const files = new Map([
    [id('1'), { ...file, subject: 'user:usr_ann' }],
    [id('2'), { ...file, subject: 'user:usr_bob' }],
    [id('3'), { ...file, subject: 'user:usr_ann', sizeBytes: 17 * 1024 * 1024 }],
  ]);
  const bed = await openEdge(t, { files: { stored, blobs: { open: async () => path } } as unknown as FilesApi });
  const run = runIn(bed);
  const code = 'return files["table.csv"].toString().split("\\n")[1]';
  t.match(await run({ code, files: [id('1')] }), { ok: true, result: { result: '1,2' } });
  for (const digit of ['2', '3', '4'])
    t.match(await run({ code, files: [id(digit)] }), { ok: false, error: { error: 'invalid_request' } }, digit);
  const call = (given: object) =>
    bed.executor.execute({
      tool: 'code.run',
      arguments: { language: 'javascript', code, ...given },
      source: { caller: ann, remoteAddress: '', requestId: 'r' },
      isDirect: true,
      isTainted: false,
      run: 'r',
      signal: new AbortController().signal,
    });
  t.equal((await call({ files: [id('1')] })).isUntrusted, true, 'others may have written the file');
  t.equal((await call({ code: 'return 1' })).isUntrusted, false);
});

t.test('a node that cannot confine programs runs none, and says so', async (t) => {
  const before = process.env['SVC_NATIVE_DIR'];
  process.env['SVC_NATIVE_DIR'] = newFolder(t);
  t.teardown(() => {
    if (before === undefined) delete process.env['SVC_NATIVE_DIR'];
    else process.env['SVC_NATIVE_DIR'] = before;
  });
  const bed = await openEdge(t);
  const call = { arguments: { language: 'javascript', code: '1' } };
  t.match(await bed.execute(ann, 'code.run', call), { status: 503, body: { error: 'confinement_missing' } });
  const { data } = (await bed.ask('GET', '/api/v1/agent/tools', ann)).body;
  t.match(
    data.find(({ name }: { name: string }) => name === 'code.run'),
    { state: 'unavailable', reason: /missing|confine/ },
  );
  t.match(await bed.ask('POST', '/api/v1/edge/plugins/nothing/enable', admin, {}), { status: 404 });
});

t.test('without Pyodide, Python is refused and JavaScript runs', { skip }, async (t) => {
  const run = runIn(await openEdge(t, { settings: { 'tools.python_dir': newFolder(t) } }));
  t.match(await run({ language: 'python', code: '1' }), { ok: false, error: { error: 'python_missing' } });
  t.match(await run({ code: 'return 1' }), { ok: true, result: { result: '1' } });
});

t.test('Python keeps its state for a conversation, and only a few interpreters are kept', { skip: skipPython }, async (t) => {
  const runner = new CodeRunner({ nAtOnce: 2, nKept: 1 });
  t.teardown(() => runner.close());
  const { signal } = new AbortController();
  const run = (keptFor: string | undefined, code: string, seconds = 60) =>
    runner.run({
      tenant: 'red',
      keptFor,
      pythonFolder,
      seconds,
      signal,
      task: { code, files: [{ name: 'a.txt', base64: 'aGk=' }] },
    });
  t.match(await run('one', 'x = 41\nprint(open("a.txt").read())\nartifact("t", "c")\nx'), {
    output: 'hi\n',
    result: '41',
    kept: [{ title: 't', content: 'c', kind: 'markdown' }],
  });
  t.match(await run('one', 'x + 1'), { result: '42' });
  t.match(await run('one', '1 / 0'), { error: /ZeroDivisionError/ });
  t.match(await run('two', 'x'), { error: /NameError/ });
  t.equal(runner.nProcesses, 1);
  t.match(await run('two', 'while True: pass', 1), { error: /within 1 s/ });
  t.equal(runner.nProcesses, 0);
  t.match(await run(undefined, '[open(p) for p in ("/etc/passwd",)]'), { error: /FileNotFoundError/ });
  t.equal(runner.nProcesses, 0, 'what belongs to no conversation is not kept');
  t.ok(existsSync(join(pythonFolder ?? '', 'pyodide.mjs')));
});
