import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { pullModel } from './pull.ts';
import { BrokenServer, sound } from './test-support/broken-server.ts';
import { writeTinyModel } from './test-support/tiny-model.ts';

function isMounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

// Not tap's own folder, which tap deletes before a teardown can unmount what is in it.
const folder = mkdtempSync(join(tmpdir(), 'svc-full-disk-'));
const modelsDir = join(folder, 'models');
mkdirSync(modelsDir);
const noMount = !isMounted(modelsDir) && 'mounting a tmpfs needs root';
t.teardown(() => {
  if (!noMount) execFileSync('umount', [modelsDir]);
  rmSync(folder, { recursive: true });
});

t.test('a disk that fills up ends the pull at once, and the next one continues it', { skip: noMount }, async (t) => {
  const model = await writeTinyModel(join(folder, 'tiny.gguf'), { tensorBytes: 2_000_000 });
  const server = await BrokenServer.start(sound(model));
  t.teardown(() => server.stop());
  const options = {
    modelsDir,
    hub: server.base,
    freeBytes: async () => 1e12,
    retry: { maxAttempts: 3, baseMs: 1, idleMs: 5_000 },
  };
  await t.rejects(pullModel('owner/repo:tiny.gguf', options), { code: 'no_space', message: /full/ });
  t.equal(server.seen.length, 1, 'the server is not asked again');
  const { size } = statSync(join(modelsDir, 'tiny.gguf.partial'));
  t.ok(size > 100_000, `${size} bytes are kept`);
  execFileSync('mount', ['-o', 'remount,size=4m', modelsDir]);
  t.match(await pullModel('owner/repo:tiny.gguf', options), { files: [{ sizeBytes: model.length }] });
  t.equal(server.seen[1]?.headers.range, `bytes=${size}-`);
});
