/**
 * `npm run test:clients`: unmodified clients against a running server: of Python, in virtual environments that pip fills, and of npm, in folders
 * that npm fills, each from the registry that it is set up with. Where that is not reached, the clients are skipped with the reason.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { runServer } from '../server.ts';

const run = promisify(execFile);
const python = process.env['SVC_PYTHON'] ?? 'python3';
/** Clients whose pins fit together. Each has its cases in NAME.py and its packages in NAME.txt. */
const environments = ['with_openai_3', 'with_openai_2', 'with_instructor'];
/** The same of npm, with their cases in NAME.ts. */
const folders = ['with_ai_sdk'];
const leastCases = 150;
const leastClients = 10;
const installMs = 1_800_000;
const casesMs = 1_200_000;

interface Result {
  client: string;
  case: string;
  failure: string | null;
  /** Which work it waits for. */
  pending: string | null;
}

const requirementsOf = (name: string): string => join(import.meta.dirname, `${name}.txt`);

/** The folder of an environment, which `fill` fills at its first use. Throws where it cannot. */
async function folderOf(name: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  const digest = createHash('sha256')
    .update(readFileSync(requirementsOf(name)))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(), 'clients', `${name}-${digest}`);
  if (existsSync(join(folder, 'complete'))) return folder;
  console.log(`${name}: its packages are installed into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await fill(folder);
  await writeFile(join(folder, 'complete'), '');
  return folder;
}

/** The interpreter of an environment of Python. */
async function interpreterOf(name: string): Promise<string> {
  const folder = await folderOf(name, async (folder) => {
    await run(python, ['-m', 'venv', folder]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', requirementsOf(name)];
    await run(join(folder, 'bin', 'python'), install, { timeout: installMs });
  });
  return join(folder, 'bin', 'python');
}

/** The folder of packages of npm. No script of theirs runs. */
function packagesOf(name: string): Promise<string> {
  return folderOf(name, async (folder) => {
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const packages = readFileSync(requirementsOf(name), 'utf8').split('\n').filter(Boolean);
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact'];
    await run('npm', ['install', ...flags, ...packages], { cwd: folder, timeout: installMs });
  });
}

/** A program that runs the cases of an environment. */
interface Runner {
  program: string;
  script: string;
  env?: Record<string, string>;
}

async function runnerOf(name: string): Promise<Runner> {
  if (!folders.includes(name)) return { program: await interpreterOf(name), script: `${name}.py` };
  return { program: process.execPath, script: `${name}.ts`, env: { SVC_CLIENTS_MODULES: await packagesOf(name) } };
}

/** @param file where the program of the environment writes what became of its cases. */
async function resultsOf(name: string, { program, script, env: more }: Runner, url: string, file: string): Promise<Result[]> {
  const env = { ...process.env, ...more, SVC_CLIENTS_URL: url, SVC_CLIENTS_RESULTS: file };
  const options = { timeout: casesMs, maxBuffer: 64 * 1024 * 1024, env };
  const ended = await run(program, [join(import.meta.dirname, script)], options).catch(
    (error: Error & { stderr?: string }) => error,
  );
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const results = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Result);
  if (!(ended instanceof Error)) return results;
  const failure = `${ended.message.slice(0, 300)} ${(ended.stderr ?? '').slice(-600)}`;
  return [...results, { client: name, case: 'runs all of its cases', failure, pending: null }];
}

function judge(results: readonly Result[], isWhole: boolean): number {
  const failed = results.filter(({ failure, pending }) => failure !== null && pending === null);
  const waiting = results.filter(({ failure, pending }) => failure !== null && pending !== null);
  const passed = results.length - failed.length - waiting.length;
  const clients = Map.groupBy(results, ({ client }) => client);
  for (const [client, of] of clients) console.log(`${client}: ${of.length} cases`);
  for (const { client, case: name, pending } of waiting) console.log(`pending  ${client}: ${name} (until ${pending})`);
  for (const { client, case: name, failure } of failed) console.log(`FAILED   ${client}: ${name}\n         ${failure}`);
  const isShort = isWhole && (results.length < leastCases || clients.size < leastClients);
  if (isShort)
    console.log(`FAILED   only ${results.length} cases of ${clients.size} clients, at least ${leastCases} of ${leastClients}`);
  console.log(`${passed} passed, ${failed.length + (isShort ? 1 : 0)} failed`);
  return failed.length + (isShort ? 1 : 0);
}

const folder = await mkdtemp(join(tmpdir(), 'svc-clients-'));
const shipped = { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '', SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' };
const server = await runServer({ folder, models: {}, env: shipped });
try {
  const results: Result[] = [];
  let nSkipped = 0;
  for (const name of [...environments, ...folders]) {
    const runner = await runnerOf(name).catch((error: Error & { stderr?: string }) => error);
    if (!(runner instanceof Error)) results.push(...(await resultsOf(name, runner, server.url, join(folder, `${name}.jsonl`))));
    else {
      nSkipped++;
      console.log(`skipped  ${name}: its packages cannot be installed: ${(runner.stderr || runner.message).trim().slice(-400)}`);
    }
  }
  process.exitCode = judge(results, nSkipped === 0 && process.env['SVC_CLIENTS_ONLY'] === undefined) === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
