/** The packages of ../rivals, which are installed into the cache when they are first needed. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { rivalsFolder } from '../install-rivals.ts';

/** Throws what loading it throws. */
export function requireRival(name: string): unknown {
  return createRequire(join(rivalsFolder(), 'package.json'))(name);
}
