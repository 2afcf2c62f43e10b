import t from 'tap';
import { type GenerationHandler, RecordKind, StepReader } from './step-reader.ts';

/** One record as native/common/step_channel.cpp writes it. */
function record(job: number, kind: number, payload: string | Buffer = ''): Buffer {
  const body = Buffer.from(payload);
  const padded = Buffer.alloc(12 + ((body.length + 3) & ~3));
  padded.writeUInt32LE(job, 0);
  padded.writeUInt8(kind, 4);
  padded.writeUInt32LE(body.length, 8);
  body.copy(padded, 12);
  return padded;
}

class Listener implements Required<Pick<GenerationHandler, 'onContent' | 'onFinish' | 'onDone' | 'onError' | 'onFlush'>> {
  readonly heard: string[] = [];
  throwsAt: string | undefined;

  #hear(what: string): void {
    this.heard.push(what);
    if (what === this.throwsAt) throw new Error(`no ${what}`);
  }

  onContent(_choice: number, body: Buffer): void {
    this.#hear(body.toString());
  }
  onFinish(): void {
    this.#hear('finish');
  }
  onDone(): void {
    this.#hear('done');
  }
  onError({ code }: { code: string }): void {
    this.#hear(code);
  }
  onFlush(): void {
    this.#hear('flush');
  }
}

function setUp() {
  const faults: string[] = [];
  const reader = new StepReader((job) => faults.push(`${job} cancelled`), {
    onFault: (error) => faults.push((error as Error).message),
    onNotice: ({ message }) => faults.push(`notice: ${message}`),
  });
  const [first, second] = [new Listener(), new Listener()];
  reader.add(1, first);
  reader.add(2, second);
  return { reader, faults, first, second };
}

t.test('a listener to notices or faults that throws loses nobody a record', async (t) => {
  const refuse = () => {
    throw new Error('not now');
  };
  const reader = new StepReader(() => {}, { onNotice: refuse, onFault: refuse });
  const listener = new Listener();
  reader.add(1, listener);
  const notice = Buffer.alloc(12);
  reader.read(Buffer.concat([record(0, RecordKind.error, notice), record(1, RecordKind.content, 'a')]));
  t.strictSame(listener.heard, ['a', 'flush']);
});

t.test('records reach their job, and each job is flushed once', async (t) => {
  const { reader, first, second } = setUp();
  const parts = [record(1, RecordKind.content, 'abcde'), record(2, RecordKind.content, 'x'), record(1, RecordKind.content, 'f')];
  reader.read(Buffer.concat(parts));
  t.strictSame(
    [first.heard, second.heard],
    [
      ['abcde', 'f', 'flush'],
      ['x', 'flush'],
    ],
  );
});

t.test('a handler that throws loses its own job alone', async (t) => {
  const { reader, faults, first, second } = setUp();
  first.throwsAt = 'a';
  const parts = [record(1, RecordKind.content, 'a'), record(1, RecordKind.content, 'b'), record(2, RecordKind.content, 'x')];
  reader.read(Buffer.concat(parts));
  t.strictSame(first.heard, ['a', 'internal', 'flush'], 'it hears the failure, and may still write it');
  t.strictSame(second.heard, ['x', 'flush']);
  t.strictSame(faults, ['1 cancelled', 'no a']);
});

t.test('so does one that throws at the flush', async (t) => {
  const { reader, faults, first, second } = setUp();
  first.throwsAt = 'flush';
  reader.read(Buffer.concat([record(1, RecordKind.content, 'a'), record(2, RecordKind.content, 'x')]));
  t.strictSame(first.heard, ['a', 'flush', 'internal']);
  t.strictSame(second.heard, ['x', 'flush']);
  t.strictSame(faults, ['1 cancelled', 'no flush']);
});

t.test('what concerns no job is a notice', async (t) => {
  const { reader, faults, first } = setUp();
  const payload = Buffer.from('\0\0\0\0\0\0\0\0\x08\0\0\0internalthe disk is full');
  for (let i = 0; i < 2; i++) reader.read(record(0, RecordKind.error, payload));
  t.strictSame(faults, ['notice: the disk is full', 'notice: the disk is full']);
  t.strictSame(first.heard, []);
});

t.test('after remove() nothing is heard', async (t) => {
  const { reader, first } = setUp();
  reader.remove(1);
  reader.read(record(1, RecordKind.content, 'a'));
  t.strictSame(first.heard, []);
});
