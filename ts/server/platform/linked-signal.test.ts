import { getEventListeners } from 'node:events';
import t from 'tap';
import { linkSignals } from './linked-signal.ts';

const nListeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

t.test('the first source that aborts gives the reason', async (t) => {
  const [one, two] = [new AbortController(), new AbortController()];
  const { signal } = linkSignals(one.signal, two.signal);
  two.abort(new Error('two'));
  one.abort(new Error('one'));
  t.equal((signal.reason as Error).message, 'two');
});

t.test('a source that has aborted before aborts it at once', async (t) => {
  const { signal } = linkSignals(new AbortController().signal, AbortSignal.abort(new Error('before')));
  t.equal((signal.reason as Error).message, 'before');
});

t.test('nothing stays at a source once the work is over, or was ended', async (t) => {
  const [long, short] = [new AbortController(), new AbortController()];
  for (let i = 0; i < 20; i++) linkSignals(long.signal, new AbortController().signal).unlink();
  const { signal } = linkSignals(long.signal, short.signal);
  short.abort();
  t.ok(signal.aborted);
  t.equal(nListeners(long.signal), 0);
});

t.test('work that is over is not ended any more', async (t) => {
  const long = new AbortController();
  const { signal, unlink } = linkSignals(long.signal);
  unlink();
  long.abort();
  t.notOk(signal.aborted);
});
