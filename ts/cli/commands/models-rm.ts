import { command } from '../command.ts';
import { openLibrary, readConfig } from '../configuration.ts';
import { formatBytes } from '../format.ts';

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
