import { randomUUID } from 'node:crypto';
import { access, constants, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { databaseOptions } from '../../server/database.ts';
import { chooseDefaultModel } from '../../server/domains/inference/index.ts';
import { freeBytes } from '../../server/domains/inference/library/index.ts';
import { modules } from '../../server/modules.ts';
import { createStorage, StorageError } from '../../server/platform/storage/index.ts';
import { inferenceValues, openLibrary } from '../configuration.ts';
import { formatBytes, printable } from '../format.ts';
import { broken, type Check, type Finding, ok, warning } from './check.ts';

const lowBytes = 1e9;

export const dataCheck: Check = { name: 'data folder', run: ({ config }) => checkFolder(config.values.data_dir, 'SVC_DATA_DIR') };
export const modelsFolderCheck: Check = {
  name: 'models folder',
  run: ({ config }) => checkFolder(inferenceValues(config).models_dir, 'SVC_MODELS_DIR'),
};

async function checkFolder(folder: string, variable: string): Promise<Finding> {
  const existing = await nearestFolder(folder);
  if (existing === undefined)
    return broken(`${folder} cannot be made: a file stands in its way`, `name another folder with ${variable}`);
  const isThere = existing === folder;
  const failure = isThere
    ? await tryWriting(folder)
    : await access(existing, constants.W_OK).then(
        () => undefined,
        (error: Error) => error.message,
      );
  if (failure !== undefined)
    return broken(`${folder} is not writable: ${failure}`, `give this user the folder, or name another with ${variable}`);
  const free = await freeBytes(existing);
  const text = `${folder}${isThere ? '' : ' (made at the first start)'}, ${formatBytes(free)} free`;
  return free >= lowBytes ? ok(text) : warning(text, `free some space, or name a folder on a larger disk with ${variable}`);
}

/** The folder itself, or the one that it would be made in; undefined when a file stands in the way. */
async function nearestFolder(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? folder : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    return dirname(folder) === folder ? undefined : nearestFolder(dirname(folder));
  }
}

/** Permissions alone do not tell: the disk may be full or read-only. */
async function tryWriting(folder: string): Promise<string | undefined> {
  const path = join(folder, `.svc-doctor-${randomUUID()}`);
  try {
    await writeFile(path, 'x', { flag: 'wx' });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(path, { force: true });
  }
}

export const modelsCheck: Check = {
  name: 'models',
  async run({ config }) {
    const library = openLibrary(config);
    const entries = await library.entries();
    const damaged = entries.filter(({ problem }) => problem !== undefined);
    const [first] = damaged;
    if (first)
      return broken(
        `${damaged.length} damaged, for example ${first.name}: ${printable(first.problem ?? '')}`,
        `svc models rm ${first.name}, then pull it again`,
      );
    const models = await library.list();
    if (models.length === 0) return broken(`no models in ${library.modelsDir}`, 'svc models pull qwen3-0.6b-q8_0');
    const real = models.filter(({ demonstration }) => demonstration === undefined);
    if (real.length > 0)
      return ok(
        `${models.length} usable: ${models
          .map(({ id }) => id)
          .slice(0, 5)
          .join(', ')}`,
      );
    return warning(`only demonstration models: ${models.map(({ id }) => id).join(', ')}`, 'svc models pull qwen3-0.6b-q8_0');
  },
};

export const defaultModelCheck: Check = {
  name: 'default model',
  async run({ config }) {
    const library = openLibrary(config);
    const name = await chooseDefaultModel(inferenceValues(config), library);
    const model = name === undefined ? undefined : await library.find(name);
    if (!model) return broken(`the default model ${name ?? ''} is not here`, 'set SVC_DEFAULT_MODEL to one of `svc models list`');
    // Weights are mapped, so they need not be free now, but they must fit.
    const free = process.availableMemory();
    const text = `${model.id}, ${formatBytes(model.sizeBytes)}`;
    return model.sizeBytes < free
      ? ok(text)
      : warning(`${text}, but only ${formatBytes(free)} of memory are free`, 'choose a smaller model, or end other programs');
  },
};

/** The check says before an upgrade what the next start will change, and afterwards that this was done. It changes nothing itself. */
export const databaseCheck: Check = {
  name: 'database',
  async run({ config }) {
    const options = databaseOptions(config.values, modules);
    try {
      const storage = createStorage(options);
      const damage = await storage.findDamage();
      if (damage !== undefined) return broken(damage.message, damage.remedy);
      const { pending, backupPath } = await storage.planMigrations();
      const all = options.modules.reduce((sum, { migrations }) => sum + migrations.length, 0);
      if (pending.length === 0)
        return ok(
          `the schema is that of this version (${all} migrations)${storage.file === undefined ? '' : ', and the file is whole'}`,
        );
      if (pending.length === all) return ok('none yet; the first start makes it');
      const names = pending.map(({ module, id, name }) => `${module} ${id} (${name})`).join(', ');
      const kept = backupPath === undefined ? 'back the database up before' : `it is copied to ${backupPath} before`;
      const finding = `${pending.length} changes of the schema are pending: ${names}`;
      return warning(
        finding,
        `start the server, or run \`svc migrate\`; ${kept}, and an older version cannot read it afterwards`,
      );
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return broken(error.message, error.remedy);
    }
  },
};
