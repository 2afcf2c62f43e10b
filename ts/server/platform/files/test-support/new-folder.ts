/** For tests: a folder that goes after all that was begun in it. Tap's own goes before, and is emptied when it is asked for again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** To be called before what works in the folder is begun: teardowns run in reverse. */
export function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
