import fc from 'fast-check';
import t from 'tap';
import { PacketReader, packet } from './sftp-packets.ts';

t.test('property: packets come whole, however their bytes are cut', async () => {
  const body = fc.uint8Array({ maxLength: 2000 });
  fc.assert(
    fc.property(
      fc.array(body, { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1 }),
      (bodies, cuts) => {
        const bytes = Buffer.concat(bodies.map((each) => packet(103, 7, each)));
        const reader = new PacketReader();
        const found: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const length = cuts[n % cuts.length] ?? 1;
          for (const each of reader.feed(bytes.subarray(at, at + length))) {
            each.number();
            found.push(each.bytes());
          }
          at += length;
        }
        return found.length === bodies.length && found.every((each, i) => each.equals(bodies[i] as Uint8Array));
      },
    ),
  );
});

t.test('property: what a hostile server sends is read or refused, and never read past its end', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      try {
        for (const body of new PacketReader().feed(Buffer.from(bytes))) {
          body.number();
          body.text();
          body.attributes();
        }
        return true;
      } catch (error) {
        return error instanceof RangeError;
      }
    }),
    { numRuns: 2000 },
  );
});

t.test('a packet that says it is huge is refused before it comes', async (t) => {
  const head = Buffer.alloc(8, 0xff);
  t.throws(() => [...new PacketReader().feed(head)], RangeError);
});
