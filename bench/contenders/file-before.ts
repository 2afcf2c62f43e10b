import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../options.ts';

/** A file of the checkout that `--before` names, which was built by whoever names it. Throws UsageError. */
export function fileBefore({ before }: { before?: string }, path: string): string {
  const named = join(before ?? '', path);
  if (before !== undefined && existsSync(named)) return named;
  throw new UsageError(
    `--before ${before ?? ''}: give the folder of a checkout that is built (npm start builds it); there is no ${named}`,
  );
}
