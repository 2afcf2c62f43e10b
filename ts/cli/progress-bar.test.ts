import t from 'tap';
import { ProgressBar } from './progress-bar.ts';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, columns: 60, write: (text: string) => written.push(text) > 0 };
}

t.test('without a terminal a hundred updates are about ten lines', async (t) => {
  const stream = recorder(false);
  let now = 0;
  const bar = new ProgressBar(stream, () => now);
  for (let done = 0; done <= 100; done++, now += 100) bar.update('m.gguf', done * 1e6, 100e6);
  bar.end();
  t.equal(stream.written.length, 10);
  t.notOk(
    stream.written.some((line) => line.includes('\r') || line.includes('\x1b')),
    'no control characters',
  );
  t.match(stream.written.at(-1), /^m\.gguf 100% 100 MB of 100 MB/);
});

t.test('without a known size a line comes every half minute', async (t) => {
  const stream = recorder(false);
  let now = 0;
  const bar = new ProgressBar(stream, () => now);
  for (; now <= 90_000; now += 1_000) bar.update('m.gguf', now, undefined);
  t.equal(stream.written.length, 3);
});

t.test('on a terminal the bar stays within the line', async (t) => {
  const stream = recorder(true);
  let now = 0;
  const bar = new ProgressBar(stream, () => now);
  for (let done = 0; done <= 100; done += 10, now += 1_000) bar.update('model.gguf', done * 1e6, 100e6);
  bar.end();
  for (const line of stream.written.slice(0, -1)) t.ok(line.replace('\r\x1b[K', '').length <= 60, line);
  t.equal(stream.written.at(-1), '\n');
});
