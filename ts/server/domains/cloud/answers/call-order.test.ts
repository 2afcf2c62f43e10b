import t from 'tap';
import type { CompletionSink } from '../../inference/index.ts';
import { CallOrder } from './call-order.ts';

/** Tells what a sink hears of one choice. */
function listen(): { calls: CallOrder; heard: string[] } {
  const heard: string[] = [];
  const sink: Partial<CompletionSink> = {
    onToolCall: (_choice, index, _id, name) => void heard.push(`${index} ${name}`),
    onToolArguments: (_choice, index, body) => void heard.push(`${index} ${JSON.parse(`"${body.toString()}"`)}`),
  };
  return { calls: new CallOrder(sink as CompletionSink, 0), heard };
}

t.test('calls whose pieces come in turn are told one after the other', async (t) => {
  const { calls, heard } = listen();
  calls.begin(0, 'a', 'first');
  calls.begin(1, 'b', 'second');
  calls.add(0, '{"q":"}\\');
  calls.add(1, '{"n":');
  calls.add(0, '"}"');
  t.strictSame(heard, ['0 first', '0 {"q":"}\\', '0 "}"'], 'what stands in a text ends no call');
  calls.add(0, ',"r":[{}]}');
  t.strictSame(heard.slice(3), ['0 ,"r":[{}]}', '1 second', '1 {"n":']);
  calls.add(1, '1}');
  calls.begin(2, 'c', 'third');
  t.strictSame(heard.slice(6), ['1 1}', '2 third']);
});

t.test('a call that never becomes whole is told, and so is the one behind it', async (t) => {
  const { calls, heard } = listen();
  calls.begin(0, 'a', 'first');
  calls.add(0, '5');
  calls.begin(1, 'b', 'second');
  calls.add(1, '{}');
  calls.end();
  t.strictSame(heard, ['0 first', '0 5', '1 second', '1 {}']);
});
