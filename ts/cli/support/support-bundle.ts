/** Collects everything that somebody who helps needs, without a secret, into one archive. */
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CliError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import type { clientOptions } from '../server-client.ts';
import { knownSecrets } from './known-secrets.ts';
import { findLogs } from './log-sources.ts';
import { SecretScrubber } from './secret-scrubber.ts';
import { type SupportPart, supportParts } from './support-parts.ts';
import { type ArchivedFile, tarArchive } from './tar-archive.ts';

const compress = promisify<Uint8Array, Buffer>(gzip);

interface SupportBundleOptions {
  readonly logFiles: readonly string[];
  readonly logLines: number;
  readonly now: Date;
}

interface SupportBundle {
  /** A gzipped tar archive with one folder. */
  readonly bytes: Buffer;
  readonly names: readonly string[];
  /** Why parts are missing. */
  readonly missing: readonly string[];
}

export async function collectSupportBundle(
  invocation: Invocation<typeof clientOptions>,
  { logFiles, logLines, now }: SupportBundleOptions,
): Promise<SupportBundle> {
  const config = tryConfig(invocation);
  const dataDir = config?.values.data_dir;
  const inDataDir = dataDir === undefined ? [] : await readdir(dataDir).catch(() => []);
  const { options, env } = invocation;
  const configFile = options.config ?? env['SVC_CONFIG'] ?? '/etc/svc/svc.toml';
  const given = options['api-key'] === undefined ? [] : [options['api-key']];
  const scrubber = new SecretScrubber([...knownSecrets({ env, config, configFile, namesInDataDir: inDataDir }), ...given]);
  const folder = `svc-support-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const files: ArchivedFile[] = [];
  const missing: string[] = [];
  const add = (name: string, text: string): void => void files.push({ name: `${folder}/${name}`, bytes: Buffer.from(text) });
  for (const part of supportParts(invocation, config, scrubber)) {
    const value = await tryPart(part, missing);
    if (value !== undefined) add(part.name, textOf(value, scrubber));
  }
  const logs = await findLogs({ files: logFiles, lines: logLines, dataDir });
  for (const { name, text } of logs.found) add(`logs/${name}.txt`, scrubber.scrub(text));
  missing.push(...logs.missing);
  const notes = missing.map((line) => scrubber.scrub(line));
  add('missing.json', textOf(notes, scrubber));
  return { bytes: await compress(tarArchive(files, now.getTime())), names: files.map(({ name }) => name), missing: notes };
}

/** A configuration that cannot be read is what help is wanted for, so the rest is collected all the same. */
function tryConfig(invocation: Invocation<typeof clientOptions>): ReturnType<typeof readConfig> | undefined {
  try {
    return readConfig(invocation);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

async function tryPart({ name, collect }: SupportPart, missing: string[]): Promise<unknown> {
  try {
    return await collect();
  } catch (error) {
    missing.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function textOf(value: unknown, scrubber: SecretScrubber): string {
  return typeof value === 'string' ? scrubber.scrub(value) : `${JSON.stringify(scrubber.scrubJson(value), undefined, 2)}\n`;
}
