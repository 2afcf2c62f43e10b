import { importModel } from '../../server/domains/inference/library/index.ts';
import { command } from '../command.ts';
import { inferenceValues, readConfig } from '../configuration.ts';
import { formatBytes } from '../format.ts';

export const modelsImport = command({
  words: ['models', 'import'],
  summary: 'Take a model file of this machine into the library',
  positionals: [{ name: 'FILE', help: 'GGUF file; of a split model the first part' }],
  options: {
    name: { kind: 'text', value: 'NAME', help: 'name in the library instead of the file’s own' },
    link: { kind: 'flag', help: 'hard-link instead of copying: takes no space, same disk only' },
    license: { kind: 'text', value: 'TEXT', help: 'license to remember with it' },
    force: { kind: 'flag', help: 'replace a model of that name' },
  },
  examples: ['svc models import ~/Downloads/model.gguf', 'svc models import /mnt/models/big-00001-of-00003.gguf --link'],
  async run(invocation) {
    const { options, positionals, terminal, signal } = invocation;
    const { name, license, link = false, force = false } = options;
    const values = inferenceValues(readConfig(invocation));
    const progress = terminal.progress();
    const imported = await importModel(positionals[0] ?? '', {
      modelsDir: values.models_dir,
      link,
      force,
      signal,
      ...(name !== undefined && { name }),
      ...(license !== undefined && { license }),
      onProgress: (file, { receivedBytes, totalBytes }) => progress.update(file, receivedBytes, totalBytes),
    }).finally(() => progress.end());
    const sizeBytes = imported.files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const { kind, architecture, isBase } = imported.facts;
    const note = isBase ? '\nIt has no chat template: it goes on with texts, and no chat asks it by itself.' : '';
    terminal.result(
      {
        name: imported.name,
        kind,
        architecture,
        has_chat_template: kind === 'chat' && !isBase,
        paths: imported.paths,
        files: imported.files,
      },
      `${imported.name}: ${kind} model (${architecture}), ${formatBytes(sizeBytes)}${note}`,
    );
    return 'ok';
  },
});
