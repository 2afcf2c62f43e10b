/** The threads that ggml computes with (native/llama-cpp/compute_team.cpp): regions, barriers, and how long they poll. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { figuresOf, noReferences } from './reference.ts';

const noTeam = () =>
  noReferences() ||
  (existsSync(join(nativeFolder(), 'libsvc-compute-team.so.1')) ? false : 'this build computes with another runtime');

t.test('all threads of a region meet at its barriers, whatever teams compute beside it', { skip: noTeam() }, async (t) => {
  t.equal((await figuresOf('compute-team-test', ['regions'])).wrong, 0);
});

t.test('threads that wait do not keep their cores from those they wait for', { skip: noTeam() }, async (t) => {
  const contended = await figuresOf('compute-team-test', ['beside', 2 * availableParallelism(), 1_000]);
  t.equal(contended.threads, 2);
  t.ok((contended.queued ?? 0) > 0.06, `in run queues for ${contended.queued} of the time`);
  t.ok((contended.poll_us ?? 1e6) <= 50, `polls for ${contended.poll_us} us`);
});
