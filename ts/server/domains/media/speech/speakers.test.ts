/** Speakers by channels and by turns. */
import t from 'tap';
import { SOUND_RATE } from '../sound/sound-reader.ts';
import { ChannelSpeakers, marksTurns, TurnSpeakers } from './speakers.ts';

/** A second in which one channel is loud. */
function second(left: number, right: number): Float32Array {
  return new Float32Array(2 * SOUND_RATE).map((_, i) => (i % 2 === 0 ? left : right));
}

t.test('the louder channel speaks, whatever pieces the samples came in', (t) => {
  const speakers = new ChannelSpeakers();
  const all = new Float32Array([...second(0.5, 0.1), ...second(0, 0.25)]);
  const mixed: number[] = [];
  for (let at = 0; at < all.length; at += 1_234) mixed.push(...speakers.mix(all.slice(at, at + 1_234)));
  t.equal(mixed.length, 2 * SOUND_RATE);
  t.ok(Math.abs((mixed[0] ?? 0) - 0.3) < 1e-6);
  t.equal(speakers.speakerOf(0, 1), 'A');
  t.equal(speakers.speakerOf(1, 2), 'B');
  t.equal(speakers.speakerOf(1.5, 1.5), 'B', 'a segment without length');
  speakers.requireTwo();
  t.end();
});

t.test('two channels that are one are refused', (t) => {
  const speakers = new ChannelSpeakers();
  speakers.mix(second(0.5, 0.5));
  t.throws(() => speakers.requireTwo(), { code: 'diarization_unavailable' });
  t.end();
});

t.test('a mark of a turn ends the speaker before it', (t) => {
  const turns = new TurnSpeakers();
  t.strictSame(
    [false, true, true, false].map((endsTurn) => turns.speakerOf(endsTurn)),
    ['A', 'A', 'B', 'A'],
  );
  t.strictSame(['whisper-small.en-tdrz', 'ggml-tdrz-q5_1', 'tdrzx', 'whisper-base'].map(marksTurns), [true, true, false, false]);
  t.end();
});
