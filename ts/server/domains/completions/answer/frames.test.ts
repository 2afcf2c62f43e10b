import fc from 'fast-check';
import t from 'tap';
import { Frames } from './frames.ts';

t.test('whatever was pushed is taken in order, also beyond the first capacity', async () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 900 }), { maxLength: 20 }), (pieces) => {
      const frames = new Frames();
      for (const piece of pieces) frames.push(Buffer.from(piece));
      return frames.take().equals(Buffer.concat(pieces));
    }),
  );
});

t.test('taking starts anew', async (t) => {
  const frames = new Frames();
  frames.pushText('one');
  frames.take();
  t.equal(frames.length, 0);
  frames.pushText('twö');
  t.equal(frames.take().toString(), 'twö');
});

t.test('memory is let go of only when nothing is gathered', async (t) => {
  const frames = new Frames();
  frames.pushText('kept');
  frames.release();
  t.equal(frames.take().toString(), 'kept');
  frames.release();
  frames.pushText('again');
  t.equal(frames.take().toString(), 'again');
});
