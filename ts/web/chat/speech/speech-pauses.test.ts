import t from 'tap';
import { SpeechPauses } from './speech-pauses.ts';

const STEP_MS = 100;

/** The fates of pieces, with the times at which they ended. */
function fatesOf(levels: readonly number[]): [string, number][] {
  const pauses = new SpeechPauses();
  return levels.flatMap((level, i): [string, number][] => {
    const fate = pauses.push(level, i * STEP_MS);
    return fate === undefined ? [] : [[fate, i * STEP_MS]];
  });
}

const silence = (ms: number, level = 0.001) => Array.from({ length: ms / STEP_MS }, () => level);
const speech = (ms: number) => Array.from({ length: ms / STEP_MS }, (_, i) => (i % 4 === 3 ? 0.02 : 0.2));

t.test('a piece ends where the speaker pauses, and not between two words', async (t) => {
  t.strictSame(fatesOf([...silence(1_000), ...speech(2_000), ...silence(300), ...speech(1_000), ...silence(1_000)]), [
    ['send', 4_900],
  ]);
});

t.test('whoever never pauses is sent in pieces', async (t) => {
  t.strictSame(
    fatesOf([...silence(200), ...speech(45_000)]).map(([fate]) => fate),
    ['send', 'send'],
  );
});

t.test('what has no speech is thrown away, however loud the noise is', async (t) => {
  t.strictSame(fatesOf(silence(20_100)), [['drop', 20_000]]);
  t.strictSame(fatesOf(silence(20_100, 0.05)), [['drop', 20_000]]);
});

t.test('the end of dictation sends what was said until then, and nothing else', async (t) => {
  const pauses = new SpeechPauses();
  pauses.push(0.001, 0);
  t.equal(pauses.end(100), 'drop');
  pauses.push(0.2, 200);
  t.equal(pauses.end(300), 'send');
  t.equal(pauses.end(400), 'drop');
});
