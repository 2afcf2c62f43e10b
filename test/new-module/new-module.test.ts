/**
 * What a module of one list takes, whose rows groups and tokens limit: its files, and a line in each of five lists. Its own test then passes in a copy
 * of the program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';

// The pages are built, and a server, a browser and a few commands are started.
t.setTimeout(300_000);

const MAX_FILES = 12;
const MAX_LINES = 300;

const root = join(import.meta.dirname, '../..');
const added = join(import.meta.dirname, 'notes');

/** Lines that are added behind the first line that matches. */
const listed: readonly [path: string, behind: RegExp, line: string][] = [
  ['ts/server/platform/module/module-names.ts', /name: 'metering'/, "  { name: 'notes', tier: 3, paths: ['notes'] },"],
  ['ts/server/modules.ts', /^import .*metering/, "import { notes } from './domains/notes/index.ts';"],
  ['ts/server/modules.ts', /^ {2}metering,/, '  notes,'],
  ['ts/cli/commands.ts', /'quota list'/, "  ...commandsOf(() => import('./commands/notes.ts'), 'notes list'),"],
  [
    'ts/web/admin/screens.ts',
    /title: 'quotas'/,
    "    { title: 'notes', icon: 'edit', least: 'admin', module: 'notes', load: () => import('./screens/notes.tsx') },",
  ],
  ['ts/web/admin/texts.ts', /^import .*node\.ts/, "import { notes } from './texts/notes.ts';"],
  ['ts/web/admin/texts.ts', /^ {2}\.\.\.node,/, '  ...notes,'],
];

t.test(
  'a module of one list, one table, one command, one screen and a kind of things that is limited takes few files, and works',
  async (t) => {
    const copy = copyOfProgram(t);
    const files = globSync('**/*.txt', { cwd: added }).map((name) => name.slice(0, -'.txt'.length));
    for (const file of files) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(added, `${file}.txt`), join(copy, file));
    }
    for (const place of listed) addLine(copy, ...place);
    const nFiles = files.length + new Set(listed.map(([path]) => path)).size;
    const nLines = files.reduce((sum, file) => sum + linesOf(join(copy, file)).length - 1, listed.length);
    t.ok(nFiles <= MAX_FILES, `${nFiles} files`);
    t.ok(nLines <= MAX_LINES, `${nLines} lines`);

    t.match(await run(copy, [join('ts', 'server', 'openapi-file.ts')]), { code: 0 });
    const vite = join('node_modules', 'vite', 'bin', 'vite.js');
    const config = join('ts', 'web', 'vite.config.ts');
    t.match(await run(copy, [vite, 'build', '--config', config, '--logLevel', 'warn']), { code: 0 });
    t.match(await run(copy, [join('test', 'pages', 'notes.test.ts')]), { code: 0, output: /# \{ total: \d+, pass: \d+ \}/ });
  },
);

/** Sources are copied, since Node resolves imports from where a file really lies; what is built and installed is linked. */
function copyOfProgram(t: Test): string {
  const copy = t.testdir({ build: {}, models: {} });
  const isSource = (path: string): boolean => !/\/node_modules(\/|$)/.test(path) && !path.startsWith(import.meta.dirname);
  for (const folder of ['ts', 'test', 'scripts', 'models/random']) {
    cpSync(join(root, folder), join(copy, folder), { recursive: true, filter: isSource });
  }
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  cpSync(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const built = readdirSync(join(root, 'build')).filter((name) => !name.startsWith('web'));
  for (const name of built) symlinkSync(join(root, 'build', name), join(copy, 'build', name));
  return copy;
}

function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n');
}

function addLine(copy: string, path: string, behind: RegExp, line: string): void {
  const lines = linesOf(join(copy, path));
  const at = lines.findIndex((each) => behind.test(each));
  if (at < 0) throw new Error(`no line of ${path} matches ${behind}`);
  writeFileSync(join(copy, path), lines.toSpliced(at + 1, 0, line).join('\n'));
}

async function run(cwd: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  // The program that the other tests start, and the server that they share, lack the module.
  const { SVC_TEST_PROGRAM: _program, SVC_TEST_SERVER: _server, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: Number(code), output: out + err };
}
