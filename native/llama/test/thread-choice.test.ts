/** Fewer threads compute while another program wants their cores, and all of them as soon as it is gone (thread_choice_test.cpp). */
import t from 'tap';
import { linesOf, noReferences } from './reference.ts';

t.test('as many threads compute as are fastest', { skip: noReferences() }, async (t) => {
  const scenes = (await linesOf('thread-choice-test', [])).map(
    (line) => /^(.+): (\d) threads, (\d\.\d\d)$/.exec(line)?.slice(1) ?? [],
  );
  const expected = {
    alone: [2, 1],
    shared: [1, 0.95],
    'shared, with prompts in every step': [1, 1],
    'alone again': [2, 0.9],
    'shared, with a prompt now and then': [1, 0.95],
    'alone, with prompts all the time': [2, 0],
    'alone once more': [2, 0.95],
    'interrupted by our own threads': [2, 0.98],
    'shared after a rest': [1, 0.95],
  };
  t.strictSame(
    scenes.map(([scene]) => scene),
    Object.keys(expected),
  );
  for (const [i, [scene, [nThreads, share]]] of Object.entries(expected).entries()) {
    t.equal(Number(scenes[i]?.[1]), nThreads, scene);
    t.ok(Number(scenes[i]?.[2]) >= (share ?? 0), `${scene}: ${scenes[i]?.[2]} of what is possible`);
  }
});
