/** The models on this machine: scans the folders, remembers what the headers said, and answers inference's ModelSource port. */
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ModelKind, ModelSource, StoredAdapter, StoredModel } from '../models/model-source.ts';
import { findInCatalogue } from './catalogue.ts';
import { lockFile } from './files/file-lock.ts';
import { LibraryError } from './files/library-error.ts';
import { type ModelFacts, readModelFacts } from './files/model-facts.ts';
import type { ProjectorFacts } from './files/projector-facts.ts';
import { listModelFiles, listShippedFiles, type ModelFiles } from './model-folder.ts';
import { checkModelName, modelNameOfFile } from './model-name.ts';
import { findSidecar, type Sidecar } from './sidecar.ts';

export interface LibraryOptions {
  /** Folder that pull, import and rm work on. */
  modelsDir: string;
  /** Folder of the models that ship with the program, which are offered too and never changed. */
  shippedDir?: string;
  /** Single files from anywhere, as `svc serve --model FILE` names them; they win over models of the same name. */
  files?: readonly string[];
}

export interface LibraryEntry {
  name: string;
  paths: string[];
  sizeBytes: number;
  modifiedMs: number;
  /** False for models outside modelsDir. */
  removable: boolean;
  facts?: ModelFacts;
  sidecar?: Sidecar;
  projectorPath?: string;
  projector?: ProjectorFacts;
  adapters?: StoredAdapter[];
  /** Why the model cannot be used; absent means it can. */
  problem?: string;
}

const servable: readonly string[] = ['chat', 'embedding', 'rerank', 'vocab'] satisfies ModelKind[];

/** The facts of files by path, for every library of the process: reading a header takes tens of milliseconds with a large tokenizer. */
const knownFacts = new Map<string, { state: string; facts: ModelFacts | LibraryError }>();

export class ModelLibrary implements ModelSource {
  readonly modelsDir: string;
  readonly #options: LibraryOptions;
  #scan: Promise<LibraryEntry[]> | undefined;

  constructor(options: LibraryOptions) {
    this.modelsDir = resolve(options.modelsDir);
    this.#options = options;
  }

  /** Every usable model, by name. */
  async list(): Promise<StoredModel[]> {
    return (await this.entries()).map(storedModel).filter((model) => model !== undefined);
  }

  async find(name: string): Promise<StoredModel | undefined> {
    return (await this.list()).find(({ id }) => id === name);
  }

  /** Everything that looks like a model, broken files and files for other engines included, by name. */
  entries(): Promise<LibraryEntry[]> {
    if (this.#scan) return this.#scan;
    const scan = this.#readAll().finally(() => {
      if (this.#scan === scan) this.#scan = undefined;
    });
    this.#scan = scan;
    return scan;
  }

  /** Throws LibraryError not_found or invalid_name. */
  async get(name: string): Promise<LibraryEntry> {
    const wanted = checkModelName(name).toLowerCase();
    const entry = (await this.entries()).find((each) => each.name === wanted);
    if (entry) return entry;
    throw new LibraryError(
      'not_found',
      `there is no model "${name}" in ${this.modelsDir}`,
      'run `svc models list` for the names',
    );
  }

  /** Deletes a model's files and what is remembered of it. */
  async remove(name: string): Promise<LibraryEntry> {
    const entry = await this.get(name);
    if (!entry.removable) {
      const where = dirname(entry.paths[0] ?? '');
      throw new LibraryError(
        'read_only',
        `the model "${name}" belongs to ${where}, which svc does not change`,
        `delete the file there yourself`,
      );
    }
    const lock = await lockFile(join(this.modelsDir, `${entry.name}.lock`));
    try {
      for (const path of entry.paths) await rm(path, { force: true });
      await rm(join(this.modelsDir, `${entry.name}.json`), { force: true });
    } finally {
      await lock.release();
      // One that is under way may have seen the files.
      this.#scan = undefined;
    }
    return entry;
  }

  async #readAll(): Promise<LibraryEntry[]> {
    const entries = new Map<string, LibraryEntry>();
    for (const path of this.#options.files ?? []) add(entries, await this.#readNamedFile(resolve(path)));
    for (const files of await listModelFiles(this.modelsDir)) add(entries, await this.#read(files, this.modelsDir));
    const { shippedDir } = this.#options;
    const shipped = shippedDir === undefined ? [] : await listShippedFiles(shippedDir);
    for (const { files, folder } of shipped) add(entries, await this.#read(files, folder));
    return attachProjectors([...entries.values()]).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A file that was named explicitly, in its folder: the other parts of a split model come along. */
  async #readNamedFile(path: string): Promise<LibraryEntry> {
    const name = modelNameOfFile(path);
    const files = (await listModelFiles(dirname(path))).find((each) => each.paths.includes(path));
    // Named and not there: an entry that says so, because the other models are still good.
    if (!files)
      return { name, paths: [path], sizeBytes: 0, modifiedMs: 0, removable: false, problem: `there is no model file ${path}` };
    return this.#read({ ...files, name }, dirname(path));
  }

  async #read(files: ModelFiles, folder: string): Promise<LibraryEntry> {
    const { problem, ...rest } = files;
    const facts = await this.#factsOf(files);
    const sidecar = await findSidecar(join(folder, `${files.name}.json`));
    const adapters = await listAdapters(dirname(files.paths[0] ?? folder), files.name);
    const failure = problem ?? (facts instanceof LibraryError ? facts.message : undefined);
    return {
      ...rest,
      ...(adapters.length > 0 && { adapters }),
      removable: resolve(folder) === this.modelsDir,
      ...(!(facts instanceof LibraryError) && { facts }),
      ...(sidecar && { sidecar }),
      ...(failure !== undefined && { problem: failure }),
    };
  }

  /** A header is read once for each state of the file. */
  async #factsOf({ paths, sizeBytes, modifiedMs }: ModelFiles): Promise<ModelFacts | LibraryError> {
    const [path = ''] = paths;
    const state = `${sizeBytes} ${modifiedMs} ${paths.length}`;
    const known = knownFacts.get(path);
    if (known?.state === state) return known.facts;
    const facts = await readModelFacts(path).catch(asLibraryError);
    knownFacts.set(path, { state, facts });
    return facts;
  }
}

function add(entries: Map<string, LibraryEntry>, entry: LibraryEntry): void {
  if (!entries.has(entry.name)) entries.set(entry.name, entry);
}

function asLibraryError(error: unknown): LibraryError {
  if (error instanceof LibraryError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new LibraryError('not_a_model', reason, 'check the permissions of the file', error);
}

/** A projector named `<model>.mmproj.gguf` or `mmproj-<model>.gguf` lets that model see images or hear sounds. */
function attachProjectors(entries: LibraryEntry[]): LibraryEntry[] {
  const projectors = new Map(entries.filter(({ facts }) => facts?.kind === 'projector').map((entry) => [entry.name, entry]));
  return entries.map((entry) => {
    const projector = projectors.get(`${entry.name}.mmproj`) ?? projectors.get(`mmproj-${entry.name}`);
    if (projector?.paths[0] === undefined) return entry;
    const { projector: facts } = projector.facts ?? {};
    return { ...entry, projectorPath: projector.paths[0], ...(facts && { projector: facts }) };
  });
}

/** Undefined for files that inference cannot serve by themselves. */
export function storedModel({
  name,
  paths,
  sizeBytes,
  modifiedMs,
  facts,
  sidecar,
  projectorPath,
  projector,
  adapters,
  problem,
}: LibraryEntry): StoredModel | undefined {
  const [path] = paths;
  if (!facts || problem !== undefined || path === undefined || !servable.includes(facts.kind)) return undefined;
  const license = sidecar?.license ?? findInCatalogue(name)?.license ?? facts.license;
  const sha256 = sidecar?.files?.length === 1 ? sidecar.files[0]?.sha256 : undefined;
  const demonstration = sidecar?.demonstration ?? facts.demonstration;
  return {
    id: name,
    path,
    sizeBytes,
    kind: facts.kind as ModelKind,
    architecture: facts.architecture,
    family: facts.family,
    nParams: facts.nParams,
    nCtxTrain: facts.nCtxTrain,
    createdAt: Math.floor(modifiedMs / 1000),
    ...(facts.quantisation !== undefined && { quantisation: facts.quantisation }),
    ...(facts.title !== undefined && { title: facts.title }),
    ...(projectorPath !== undefined && { projectorPath }),
    ...(projector !== undefined && { projector }),
    ...(adapters !== undefined && { adapters }),
    ...(sha256 !== undefined && { sha256 }),
    ...(license !== undefined && { license }),
    ...(facts.isBase && { isBase: true }),
    ...(demonstration !== undefined && { demonstration }),
  };
}

/** Lists the LoRA adapters of a model, the GGUF files in `<model name>.loras` beside it, in the order of their names, which is also that of their numbers for clients that name adapters by number. */
async function listAdapters(folder: string, modelName: string): Promise<StoredAdapter[]> {
  const files = await listModelFiles(join(folder, `${modelName}.loras`));
  const adapters = files.flatMap(({ name, paths: [path] }) => (path === undefined ? [] : [{ name, path }]));
  return adapters.sort((a, b) => (a.name < b.name ? -1 : 1));
}
