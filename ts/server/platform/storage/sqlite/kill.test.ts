import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { listLostNotes } from '../test-support/acknowledged-notes.ts';
import { killRounds, killSteadyWriters } from '../test-support/kill-rounds.ts';

t.setTimeout(600_000);

t.test('kill -9 at any moment loses no acknowledged write', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-kill-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'svc.sqlite')}`;
  const lines = await killSteadyWriters(url, killRounds());
  t.ok(lines.length > killRounds());
  t.strictSame(await listLostNotes(url, lines), []);
});
