import { type Verification, verifyModel } from '../../server/domains/inference/library/index.ts';
import { command } from '../command.ts';
import { openLibrary, readConfig } from '../configuration.ts';
import { formatTable, printable } from '../format.ts';

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
      results.length === 0 ? 'No models to verify.' : formatTable(['NAME', 'STATE', 'FINDING'], results.map(row)),
    );
    return results.some(({ state }) => state === 'failed') ? 'verification_failed' : 'ok';
  },
});

function row({ name, state, problem, files }: Verification): string[] {
  if (state === 'ok') return [name, 'ok', 'SHA-256 as recorded'];
  if (state === 'failed') return [name, 'failed', `${printable(problem ?? '')}; pull it again`];
  return [name, 'unrecorded', `nothing to compare with; SHA-256 ${files.map(({ sha256 }) => sha256).join(' ')}`];
}
