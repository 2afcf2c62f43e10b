import t from 'tap';
import type { CompletionSink } from './backend.ts';
import { answerSilently } from './service.ts';

t.test('an answer that is refused where it starts is not finished behind that', async (t) => {
  const heard: string[] = [];
  const hears = (what: string) => () => void heard.push(what);
  const sink: Partial<CompletionSink> = {
    onStart: () => {
      heard.push('start');
      answer.cancel();
    },
    onFinish: hears('finish'),
    onDone: hears('done'),
    onFlush: hears('flush'),
  };
  const answer = answerSilently(sink as CompletionSink, 2);
  await new Promise(setImmediate);
  t.strictSame(heard, ['start']);
});
