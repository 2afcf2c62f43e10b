/** For tests: a folder that goes after all that was begun in it. Tap's own goes before, and is emptied when it is asked for again. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** With folders in it. To be called before what works in it is begun: teardowns run in reverse. */
export function newFolder(t: Test, inside: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  for (const name of inside) mkdirSync(join(folder, name));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
