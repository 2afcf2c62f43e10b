/**
 * `npm run test:clients`: unmodified clients against a running server: of Python, in virtual environments that pip fills, and of npm, in folders
 * that npm fills, each from the registry that it is set up with. Where that is not reached, the clients are skipped with the reason.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runServer } from '../server.ts';
import { interpreterOf, packagesOf, whyNotInstalled } from './environment.ts';

const run = promisify(execFile);
/** Clients whose pins fit together. Each has its cases in NAME.py and its packages in NAME.txt. */
const environments = ['with_openai_3', 'with_openai_2', 'with_instructor'];
/** The same of npm, with their cases in NAME.ts. */
const folders = ['with_ai_sdk', 'with_agents', 'with_mcp'];
const leastCases = 150;
const leastClients = 10;
const casesMs = 1_200_000;

interface Result {
  client: string;
  case: string;
  failure: string | null;
  /** Which work it waits for. */
  pending: string | null;
}

const requirementsOf = (name: string): string => join(import.meta.dirname, `${name}.txt`);

/** A program that runs the cases of an environment. */
interface Runner {
  program: string;
  script: string;
  env?: Record<string, string>;
}

async function runnerOf(name: string): Promise<Runner> {
  if (!folders.includes(name)) return { program: await interpreterOf(requirementsOf(name)), script: `${name}.py` };
  return {
    program: process.execPath,
    script: `${name}.ts`,
    env: { SVC_CLIENTS_MODULES: await packagesOf(requirementsOf(name)) },
  };
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
const shipped = {
  SVC_MODELS_SHIPPED: 'true',
  SVC_DATA_EMBEDDING_URL: '',
  SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1',
  SVC_MCP_ALLOWED_HOSTS: 'http://127.0.0.1',
};
const server = await runServer({ folder, models: {}, env: shipped });
try {
  const results: Result[] = [];
  let nSkipped = 0;
  for (const name of [...environments, ...folders]) {
    const runner = await runnerOf(name).catch((error: Error) => error);
    if (!(runner instanceof Error)) results.push(...(await resultsOf(name, runner, server.url, join(folder, `${name}.jsonl`))));
    else {
      nSkipped++;
      console.log(`skipped  ${name}: ${whyNotInstalled(runner)}`);
    }
  }
  process.exitCode = judge(results, nSkipped === 0 && process.env['SVC_CLIENTS_ONLY'] === undefined) === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
