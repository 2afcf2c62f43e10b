/** Which files a configuration is read from. One that is there and may not be read is an error: the defaults would be another configuration. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from './config-error.ts';

const refusals = ['EACCES', 'EPERM'];

/** The first that is there. Throws ConfigError for one that this user may not even look for. */
export function findConfigFile(candidates: readonly string[]): string | undefined {
  return candidates.find((path) => ifThere(path, () => statSync(path)) !== undefined);
}

/** Files of `conf.d` beside the configuration file, in the order of their names: later ones win. */
export function additionsTo(path: string): string[] {
  const folder = join(dirname(path), 'conf.d');
  const names = ifThere(folder, () => readdirSync(folder)) ?? [];
  return names
    .filter((name) => name.endsWith('.toml'))
    .sort()
    .map((name) => join(folder, name));
}

/** Throws ConfigError with what to do where the user may not read `path`; passes every other fault on. */
export function refuseUnreadable(path: string, cause: unknown): void {
  if (!refusals.includes((cause as NodeJS.ErrnoException).code ?? '')) return;
  throw new ConfigError(`${path} may not be read by this user`, {
    cause,
    remedy: "run the command as the service's user, `sudo -u svc svc ...`, or name a file that you may read with --config",
  });
}

function ifThere<T>(path: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    refuseUnreadable(path, error);
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
