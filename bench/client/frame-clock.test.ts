import fc from 'fast-check';
import t from 'tap';
import { FrameClock } from './frame-clock.ts';

const role = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n';
const content = (text: string) => `data: {"choices":[{"delta":{"content":${JSON.stringify(text)}}}]}\n\n`;

t.test('the first token is the first frame with content, not the role chunk', async (t) => {
  const clock = new FrameClock(1_000);
  clock.read(Buffer.from(role), 1_005);
  t.equal(clock.ttftMs, undefined);
  clock.read(Buffer.from(content('Hi')), 1_030);
  t.equal(clock.ttftMs, 30);
});

t.test('gaps lie between frames, and frames of one read have none', async (t) => {
  const clock = new FrameClock(0);
  clock.read(Buffer.from(content('a')), 10);
  clock.read(Buffer.from(content('b') + content('c')), 25);
  clock.read(Buffer.from(content('d')), 27);
  t.same(clock.gapsMs, [15, 0, 2]);
  t.same(clock.gapEndsAt, [25, 25, 27]);
});

t.test('every frame is counted once, wherever reads cut the stream', async () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 12 });
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(texts, cuts, (parts, sizes) => {
      const bytes = Buffer.from(role + parts.map(content).join(''));
      const clock = new FrameClock(0);
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        clock.read(bytes.subarray(at, at + size), at);
        at += size;
      }
      return clock.nFrames === parts.length && clock.tail.endsWith(bytes.toString().slice(-200));
    }),
  );
});
