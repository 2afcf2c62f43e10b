/** What this node itself knows to be secret: values of variables and settings, and the contents of its key files. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from '../../server/settings.ts';
import { isSecretName } from './secret-name.ts';

const LARGEST_FILE = 64 * 1024;
/** Files of data_dir that hold a secret, whatever module keeps them. */
const KEY_FILE = /(?:key|token|secret|passphrase|cookie)s?$/i;

interface KnownSecretSources {
  readonly env: NodeJS.ProcessEnv;
  /** Undefined: it cannot be read; its file is then looked through line by line. */
  readonly config: NodeConfig | undefined;
  readonly configFile: string;
  readonly namesInDataDir: readonly string[];
}

export function knownSecrets({ env, config, configFile, namesInDataDir }: KnownSecretSources): string[] {
  const ofEnvironment = Object.entries(env).flatMap(([name, value]) => (isSecretName(name) && value ? [value] : []));
  if (config === undefined) return [...ofEnvironment, ...linesOf(configFile).flatMap(secretOfLine)];
  const settings = Object.entries(config.spec).map(([key, spec]) => ({
    key,
    spec,
    value: config.values[key as never] as unknown,
  }));
  const ofSettings = settings.flatMap(({ key, spec, value }) => {
    if (typeof value !== 'string' || value === '') return [];
    if (spec.isPath === true) return isKeyFile(key) ? linesOf(value) : [];
    return spec.mask !== undefined || isSecretName(key) ? [value, ...passwordOf(value)] : [];
  });
  const ofFiles = namesInDataDir.flatMap((name) => (KEY_FILE.test(name) ? linesOf(join(config.values.data_dir, name)) : []));
  return [...ofEnvironment, ...ofSettings, ...ofFiles];
}

/** A line of TOML that gives a secret its value, in a file that is none. */
function secretOfLine(line: string): string[] {
  const [, name = '', value = ''] = /^\s*([\w.-]{1,99})\s*=\s*["']?([^"'\n]{1,4096})/.exec(line) ?? [];
  return isSecretName(name) || URL.canParse(value) ? [value, ...passwordOf(value)] : [];
}

/** `backup.passphrase_file`, `public_tls.key`. */
function isKeyFile(key: string): boolean {
  return isSecretName(key.replace(/_file$/, '')) || key.endsWith('.key');
}

function passwordOf(value: string): string[] {
  const password = URL.canParse(value) ? new URL(value).password : '';
  return password === '' ? [] : [password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What cannot be read cannot be said either. */
function linesOf(path: string): string[] {
  try {
    const facts = statSync(path);
    if (!facts.isFile() || facts.size > LARGEST_FILE) return [];
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}
