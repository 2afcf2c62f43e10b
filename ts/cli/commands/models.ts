/** `svc models list`, `show`, `verify` and `rm`: models of this machine, without a server; a running one adds those of providers to the list. */

import { type Abilities, ProbeResults } from '../../server/domains/inference/index.ts';
import {
  catalogue,
  findInCatalogue,
  type LibraryEntry,
  LibraryError,
  storedModel,
  type Verification,
  verifyModel,
} from '../../server/domains/inference/library/index.ts';
import { command, type Invocation } from '../command.ts';
import { openLibrary, readConfig } from '../configuration.ts';
import { formatBytes, formatTable, printable } from '../format.ts';
import { askModels, askServedDetail, type ServedDetail, type ServedModel } from '../served-model.ts';
import { clientOptions, openClient } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';

export const modelsList = command({
  words: ['models', 'list'],
  summary: 'List the models and where each lives, or those that can be pulled',
  options: { ...clientOptions, catalogue: { kind: 'flag', help: 'list what `svc models pull` knows by name' } },
  examples: ['svc models list', 'svc models list --catalogue'],
  async run(invocation) {
    const { options, terminal } = invocation;
    if (options.catalogue) return listCatalogue(terminal);
    const library = openLibrary(readConfig(invocation));
    const entries = await library.entries();
    const rows = entries.map((entry) => [
      entry.name,
      entry.facts?.kind ?? '-',
      formatBytes(entry.sizeBytes),
      entry.facts?.quantisation ?? '-',
      'here',
      entry.problem === undefined ? stateOf(entry) : `broken: ${printable(entry.problem)}`,
    ]);
    const remote = await remoteModels(invocation);
    rows.push(...remote.map(remoteRow));
    const empty = `No models in ${library.modelsDir}. \`svc models list --catalogue\` shows what can be pulled.`;
    terminal.result(
      [...entries.map((entry) => ({ ...modelRecord(entry), where: 'here' })), ...remote.map(remoteRecord)],
      rows.length === 0 ? empty : formatTable(['NAME', 'KIND', 'SIZE', 'FORMAT', 'WHERE', 'STATE'], rows),
    );
    return 'ok';
  },
});

/** None where no server runs, or none that answers this caller. */
async function remoteModels(invocation: Invocation<typeof clientOptions>): Promise<ServedModel[]> {
  const models = await ofServer(invocation, () => askModels(openClient(invocation), invocation.signal));
  return models?.filter(({ state }) => state === 'remote') ?? [];
}

/** Undefined where no server answers, unless one was named. */
async function ofServer<T>({ options }: Invocation<typeof clientOptions>, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (options.url !== undefined) throw error;
    return undefined;
  }
}

function remoteRow({ id, kind = '-', backend = '-', serving_state: state = '-' }: ServedModel): string[] {
  return [id, kind, '-', '-', backend, state].map(printable);
}

function remoteRecord({ id: name, kind, backend: where, serving_state }: ServedModel): Record<string, unknown> {
  return { name, kind: kind ?? null, where: where ?? null, serving_state: serving_state ?? null };
}

function listCatalogue(terminal: Terminal): 'ok' {
  const rows = catalogue.map(({ name, kind, sizeBytes, license, note }) => [name, kind, formatBytes(sizeBytes), license, note]);
  const records = catalogue.map(({ name, kind, repo, file, revision, sha256, sizeBytes, license, note }) => ({
    name,
    kind,
    repo,
    file,
    revision,
    sha256: sha256 ?? null,
    size_bytes: sizeBytes,
    license,
    note,
  }));
  terminal.result(records, formatTable(['NAME', 'KIND', 'SIZE', 'LICENSE', 'NOTE'], rows));
  return 'ok';
}

export const modelsShow = command({
  words: ['models', 'show'],
  summary: 'Show what is known of one model',
  options: clientOptions,
  positionals: [{ name: 'NAME', help: 'a model of this machine, or of the catalogue' }],
  examples: ['svc models show bge-m3-q8_0'],
  async run(invocation) {
    const { positionals, terminal } = invocation;
    const [name = ''] = positionals;
    const config = readConfig(invocation);
    const entry = await openLibrary(config)
      .get(name)
      .catch((error: unknown) => {
        if (error instanceof LibraryError && error.code === 'not_found' && findInCatalogue(name)) return undefined;
        throw error;
      });
    const stored = entry && storedModel(entry);
    const abilities = stored && new ProbeResults(config.values.data_dir).find(stored);
    if (entry) {
      const served = await servedDetail(invocation, entry.name);
      const facts = { ...describe(entry, abilities), ...(served && describeServed(served)) };
      terminal.result({ installed: true, ...modelRecord(entry), abilities, served }, page(facts));
    } else {
      const { sizeBytes, sha256, wheel, ...model } = findInCatalogue(name) ?? { sizeBytes: 0 };
      const pack = wheel && `${wheel.package}==${wheel.version}`;
      const record = {
        installed: false,
        ...model,
        size_bytes: sizeBytes,
        sha256: sha256 === undefined ? [] : [sha256],
        package: pack,
      };
      const facts = {
        ...model,
        package: pack,
        size: formatBytes(sizeBytes),
        sha256,
        state: `not on this machine; svc models pull ${name}`,
      };
      terminal.result(record, page(facts));
    }
    return 'ok';
  },
});

/** Undefined where no server runs, or none that answers this caller. */
async function servedDetail(invocation: Invocation<typeof clientOptions>, name: string): Promise<ServedDetail | undefined> {
  return await ofServer(invocation, () => askServedDetail(openClient(invocation), name, invocation.signal));
}

/** Where the model lies now, and what the server says of its GPUs. */
function describeServed({ memory_bytes: bytes, gpu_layers: nLayers, gpu_memory_bytes: onGpu, gpu }: ServedDetail) {
  const devices = gpu?.devices
    ?.map(({ description, memory_bytes: all = 0 }) => `${description} (${formatBytes(all)})`)
    .join(', ');
  const isOnGpu = nLayers !== undefined && nLayers > 0;
  return {
    memory: bytes === undefined ? 'not loaded' : formatBytes(bytes),
    'on GPU': isOnGpu ? `${nLayers} layers, ${formatBytes(onGpu ?? 0)}` : undefined,
    GPU: gpu?.reason === undefined ? devices : `${gpu.reason}; ${gpu.remedy ?? ''}`,
    driver: gpu?.driver_cuda === undefined ? undefined : `CUDA ${gpu.driver_cuda}`,
  };
}

function describe(entry: LibraryEntry, abilities: Abilities | undefined): Record<string, string | number | undefined> {
  const { facts, sidecar } = entry;
  const record = modelRecord(entry);
  return {
    name: entry.name,
    state: entry.problem === undefined ? stateOf(entry) : `broken: ${entry.problem}`,
    kind: facts?.kind,
    title: facts?.title,
    architecture: facts?.architecture,
    parameters: facts?.nParams ? `${(facts.nParams / 1e6).toFixed(0)} million` : undefined,
    format: facts?.quantisation,
    context: facts?.nCtxTrain ? `${facts.nCtxTrain} tokens` : undefined,
    abilities:
      abilities &&
      Object.entries(abilities)
        .map(([name, share]) => `${name} ${share}`)
        .join(', '),
    size: formatBytes(entry.sizeBytes),
    license: typeof record['license'] === 'string' ? record['license'] : undefined,
    source: sidecar?.source,
    sha256: sidecar?.files?.map(({ sha256 }) => sha256).join(' '),
    path: entry.paths.join('\n'.padEnd(15)),
    projector: entry.projectorPath,
    note: sidecar?.demonstration ?? facts?.demonstration,
  };
}

function page(facts: Record<string, string | number | undefined>): string {
  const lines = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  return lines.map(([key, value]) => `${key.padEnd(13)} ${printable(String(value))}`).join('\n');
}

export const modelsVerify = command({
  words: ['models', 'verify'],
  summary: 'Hash models again and compare with what was recorded when they came',
  positionals: [{ name: 'NAME', help: 'models to check; all without one', optional: true, many: true }],
  examples: ['svc models verify', 'svc models verify qwen3-0.6b-q8_0'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const library = openLibrary(readConfig(invocation));
    const entries =
      positionals.length > 0 ? await Promise.all(positionals.map((name) => library.get(name))) : await library.entries();
    const progress = terminal.progress();
    const results: Verification[] = [];
    for (const entry of entries) {
      const onProgress = (file: string, { receivedBytes, totalBytes }: { receivedBytes: number; totalBytes: number }) =>
        progress.update(file, receivedBytes, totalBytes);
      results.push(await verifyModel(entry, { signal, onProgress }).finally(() => progress.end()));
    }
    terminal.result(
      results,
      results.length === 0 ? 'No models to verify.' : formatTable(['NAME', 'STATE', 'FINDING'], results.map(verifiedRow)),
    );
    return results.some(({ state }) => state === 'failed') ? 'verification_failed' : 'ok';
  },
});

function verifiedRow({ name, state, problem, files }: Verification): string[] {
  if (state === 'ok') return [name, 'ok', 'SHA-256 as recorded'];
  if (state === 'failed') return [name, 'failed', `${printable(problem ?? '')}; pull it again`];
  return [name, 'unrecorded', `nothing to compare with; SHA-256 ${files.map(({ sha256 }) => sha256).join(' ')}`];
}

export const modelsRm = command({
  words: ['models', 'rm'],
  summary: 'Delete models from this machine',
  positionals: [{ name: 'NAME', help: 'models to delete', many: true }],
  examples: ['svc models rm qwen3-0.6b-q8_0'],
  async run(invocation) {
    const { positionals, terminal } = invocation;
    const library = openLibrary(readConfig(invocation));
    // All names are looked up before the first file goes, so that a typing mistake deletes nothing.
    for (const name of positionals) await library.get(name);
    const removed = [];
    for (const name of positionals) removed.push(await library.remove(name));
    terminal.result(
      removed.map(({ name, sizeBytes, paths }) => ({ name, size_bytes: sizeBytes, paths })),
      removed.map(({ name, sizeBytes }) => `${name} deleted, ${formatBytes(sizeBytes)} freed`).join('\n'),
    );
    return 'ok';
  },
});

/** A model as `--json` prints it. */
function modelRecord(entry: LibraryEntry): Record<string, unknown> {
  const { name, paths, sizeBytes, modifiedMs, removable, facts, sidecar, projectorPath, problem } = entry;
  const stored = storedModel(entry);
  return {
    name,
    kind: facts?.kind ?? null,
    usable: stored !== undefined,
    size_bytes: sizeBytes,
    architecture: facts?.architecture ?? null,
    family: facts?.family ?? null,
    parameters: facts?.nParams ?? null,
    quantisation: facts?.quantisation ?? null,
    context_length: facts?.nCtxTrain ?? null,
    license: stored?.license ?? sidecar?.license ?? null,
    source: sidecar?.source ?? null,
    sha256: sidecar?.files?.map(({ sha256 }) => sha256) ?? [],
    paths,
    projector: projectorPath ?? null,
    modified_at: new Date(modifiedMs).toISOString(),
    removable,
    demonstration: stored?.demonstration ?? null,
    problem: problem ?? null,
  };
}

/** One word for a list, a sentence for a page. */
function stateOf({ facts, problem, sidecar }: LibraryEntry): string {
  if (problem !== undefined) return 'broken';
  if (sidecar?.demonstration !== undefined || facts?.demonstration !== undefined) return 'demonstration';
  return 'ready';
}
