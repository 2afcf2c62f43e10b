/** `svc plugin`: programs of others that add tools to a node. They are placed on the machine, and enabled for each tenant. */
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { loadPluginFolders } from '../../server/domains/edge/index.ts';
import { CliError, usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { listCommand, requestCommand } from '../server-command.ts';

const pluginId = { name: 'ID', help: 'of the plugin, as `svc plugin list` shows it' };

export const pluginList = listCommand({
  words: ['plugin', 'list'],
  summary: 'List the plugins of a node, as they stand in the tenant',
  examples: ['svc plugin list'],
  route: 'GET /api/v1/edge/plugins',
  columns: {
    PLUGIN: ({ id }) => id,
    VERSION: ({ version = '' }) => version,
    STATE: ({ state }) => state,
    TOOLS: ({ tools }) => tools.map(({ name, effect }) => `${name} (${effect})`).join(' '),
    HOSTS: ({ hosts }) => hosts.join(' '),
    HASH: ({ hash }) => hash ?? '',
    REASON: ({ reason = '' }) => reason,
  },
  empty: 'no plugins: place one with `svc plugin add FOLDER`',
});

export const pluginAdd = command({
  words: ['plugin', 'add'],
  summary: 'Place a plugin on this machine; administrators then enable it for their tenant',
  positionals: [{ name: 'FOLDER', help: 'with plugin.json, and the module that it names' }],
  options: { force: { kind: 'flag', help: 'replace the plugin of that name' } },
  examples: ['svc plugin add ./weather', 'svc plugin add ./weather --force'],
  async run(invocation) {
    const { options, positionals, terminal } = invocation;
    const { PLUGINS_FOLDER, PluginFault, readPluginFolder } = await loadPluginFolders();
    const from = resolve(positionals[0] ?? '');
    try {
      const { manifest, hash } = readPluginFolder(from);
      const target = join(readConfig(invocation).values.data_dir, PLUGINS_FOLDER, manifest.id);
      await place(from, target, options.force === true);
      const text = `${manifest.id} ${manifest.version} is placed: svc plugin enable ${manifest.id}`;
      terminal.result({ id: manifest.id, version: manifest.version, hash, path: target }, text);
      return 'ok';
    } catch (error) {
      if (error instanceof PluginFault) throw usageError(`${from} is no plugin: ${error.message}`, 'correct it there');
      throw error;
    }
  },
});

/** Whole or not at all: the copy takes the name when it is there. */
async function place(from: string, target: string, mayReplace: boolean): Promise<void> {
  const copy = join(dirname(target), `.${process.pid}.new`);
  await mkdir(dirname(target), { recursive: true });
  await cp(from, copy, { recursive: true });
  if (mayReplace) await rm(target, { recursive: true, force: true });
  try {
    await rename(copy, target);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    const sentence = `${target} is there already`;
    throw new CliError('failed', 'plugin_exists', sentence, 'replace it with --force', error as Error);
  }
}

export const pluginEnable = requestCommand({
  words: ['plugin', 'enable'],
  summary: 'Let a plugin run in the tenant, with the files that it has now',
  positionals: [pluginId],
  options: { hash: { kind: 'text', value: 'HASH', help: 'refuse where its files have another one' } },
  examples: ['svc plugin enable weather'],
  route: 'POST /api/v1/edge/plugins/{id}/enable',
  given: ({ positionals: [id = ''], options: { hash } }) => ({ params: { id }, body: { hash } }),
  text: ({ id, hash }) => `${id} is enabled with the files ${hash}`,
});

export const pluginDisable = requestCommand({
  words: ['plugin', 'disable'],
  summary: 'Let a plugin run in the tenant no more; what it keeps stays',
  positionals: [pluginId],
  route: 'POST /api/v1/edge/plugins/{id}/disable',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: ({ id }) => `${id} is disabled`,
});
