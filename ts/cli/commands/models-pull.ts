import { findHubAddress, parseAllowedHost, pullModel } from '../../server/domains/inference/library/index.ts';
import { listOf } from '../../server/platform/config/setting.ts';
import { trustCertificatesOf } from '../../server/platform/network/trusted-certificates.ts';
import { usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { inferenceValues, readConfig } from '../configuration.ts';
import { formatBytes, printable } from '../format.ts';
import { clientOptions, openClient } from '../server-client.ts';
import { readToEnd } from './jobs.ts';

export const modelsPull = command({
  words: ['models', 'pull'],
  summary: 'Fetch a model: resumable, verified, all or nothing',
  positionals: [{ name: 'MODEL', help: 'catalogue name, owner/repo:file.gguf[@revision] or https URL' }],
  options: {
    name: { kind: 'text', value: 'NAME', help: 'name in the library instead of the file’s own' },
    sha256: { kind: 'text', value: 'HEX', help: 'SHA-256 that the file must have' },
    force: { kind: 'flag', help: 'replace another file of that name' },
    server: { kind: 'flag', help: 'let the running server fetch it into its own folder, as a background job' },
    ...clientOptions,
  },
  examples: [
    'svc models pull qwen3-0.6b-q8_0',
    'svc models pull Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf',
    'svc models pull qwen3-0.6b-q8_0 --server',
    'SVC_MODELS_MIRROR=https://mirror.example svc models pull bge-m3-q8_0',
  ],
  async run(invocation) {
    const { options, positionals, terminal, env, signal } = invocation;
    const { name, sha256, force = false } = options;
    if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
      throw usageError('--sha256 is not 64 hexadecimal digits', 'copy it from the page of the file');
    if (options.server) {
      const body = { reference: positionals[0] ?? '', name, sha256, force, stream: true };
      return readToEnd(await openClient(invocation).request('POST /api/v1/models/pull', { body }), terminal);
    }
    const config = readConfig(invocation);
    trustCertificatesOf(config.values['network.ca_file']);
    const values = inferenceValues(config);
    const progress = terminal.progress();
    const token = env['HF_TOKEN'];
    const pulled = await pullModel(positionals[0] ?? '', {
      modelsDir: values.models_dir,
      hub: hubAddress(values['models.mirror'], env['HF_ENDPOINT']),
      force,
      signal,
      isReferenceTrusted: true,
      allowedHosts: listOf(values['models.allowed_hosts']).map(parseAllowedHost),
      ...(token && { token }),
      ...(name !== undefined && { name }),
      ...(sha256 !== undefined && { sha256 }),
      onProgress: (file, { receivedBytes, totalBytes }) => progress.update(file, receivedBytes, totalBytes),
      onNote: (note) => {
        progress.end();
        terminal.note(printable(note));
      },
    }).finally(() => progress.end());
    const sizeBytes = pulled.files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const checked = pulled.verified
      ? 'SHA-256 verified'
      : 'the server named no SHA-256, so only the recorded one can be checked later';
    const license = pulled.license === undefined ? '' : `\nlicense: ${pulled.license}`;
    const done = pulled.alreadyHere ? `${pulled.name} is already here` : `${pulled.name}: ${formatBytes(sizeBytes)}, ${checked}`;
    terminal.result(
      {
        name: pulled.name,
        paths: pulled.paths,
        files: pulled.files,
        already_here: pulled.alreadyHere,
        verified: pulled.verified,
        license: pulled.license ?? null,
      },
      `${done}${license}`,
    );
    return 'ok';
  },
});

function hubAddress(mirror: string, endpoint: string | undefined): URL {
  const found = findHubAddress(mirror, endpoint);
  if (found) return found;
  throw usageError(
    `the mirror "${mirror || endpoint}" is no address`,
    'set SVC_MODELS_MIRROR (or HF_ENDPOINT) to something like https://mirror.example',
  );
}
