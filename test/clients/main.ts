/**
 * `npm run test:clients`: unmodified Python clients against a running server, in virtual environments of their own that pip fills from the
 * index that it is set up with. Where that is not reached, the clients are skipped with the reason.
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

/** The interpreter of an environment, made at its first use. Throws where pip cannot fill it. */
async function interpreterOf(name: string): Promise<string> {
  const requirements = join(import.meta.dirname, `${name}.txt`);
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'clients', `${name}-${digest}`);
  const interpreter = join(folder, 'bin', 'python');
  if (existsSync(join(folder, 'complete'))) return interpreter;
  console.log(`${name}: pip installs its packages into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run(python, ['-m', 'venv', folder]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', requirements];
  await run(interpreter, install, { timeout: installMs });
  await writeFile(join(folder, 'complete'), '');
  return interpreter;
}

/** @param file where the program of the environment writes what became of its cases. */
async function resultsOf(name: string, interpreter: string, url: string, file: string): Promise<Result[]> {
  const env = { ...process.env, SVC_CLIENTS_URL: url, SVC_CLIENTS_RESULTS: file };
  const options = { timeout: casesMs, maxBuffer: 64 * 1024 * 1024, env };
  const ended = await run(interpreter, [join(import.meta.dirname, `${name}.py`)], options).catch(
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
const shipped = { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' };
const server = await runServer({ folder, models: {}, env: shipped });
try {
  const results: Result[] = [];
  let nSkipped = 0;
  for (const name of environments) {
    const interpreter = await interpreterOf(name).catch((error: Error & { stderr?: string }) => error);
    if (typeof interpreter === 'string')
      results.push(...(await resultsOf(name, interpreter, server.url, join(folder, `${name}.jsonl`))));
    else {
      nSkipped++;
      console.log(
        `skipped  ${name}: its packages cannot be installed: ${(interpreter.stderr || interpreter.message).trim().slice(-400)}`,
      );
    }
  }
  process.exitCode = judge(results, nSkipped === 0 && process.env['SVC_CLIENTS_ONLY'] === undefined) === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
