import t from 'tap';
import { Batch } from './books.ts';
import { endOf } from './load.ts';
import type { ClusterNode } from './nodes.ts';
import { SoakRecord } from './record.ts';

t.test('what is counted is what was answered, and at most what was asked beside it', async (t) => {
  const batch = new Batch('id', 'key', 0);
  batch.answered({ prompt_tokens: 5, completion_tokens: 8 });
  batch.answered({ prompt_tokens: 5 });
  const counted = { requests: 2, prompt_tokens: 10, completion_tokens: 8 };
  t.equal(batch.fault(counted), undefined);
  t.match(batch.fault({ ...counted, requests: 3 }), /^more is counted/);
  t.match(batch.fault({ ...counted, completion_tokens: 7 }), /^not all is counted/);
  t.match(batch.fault(undefined), /^not all is counted/);
  batch.lost();
  t.equal(batch.fault({ ...counted, requests: 3 }), undefined, 'one without an answer may be counted or not');
  t.equal(batch.fault(counted), undefined);
  t.match(batch.fault({ ...counted, requests: 4 }), /^more is counted/);
});

t.test('a stream ends whole, with an error frame, or it was cut', async (t) => {
  const content = 'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n';
  t.equal(endOf({ body: `${content}data: [DONE]\n\n` }), 'ok');
  t.equal(endOf({ body: `${content}data: {"error":{"code":"node_lost"}}\n\ndata: [DONE]\n\n` }), 'frame node_lost');
  for (const body of [content, '', content.slice(0, -20)]) t.equal(endOf({ body }), 'cut');
});

t.test('a fault excuses its node while it lasts and shortly after it', async (t) => {
  const lines: string[] = [];
  const record = new SoakRecord((line) => lines.push(line));
  const [one, other] = [{ name: 'one' } as ClusterNode, { name: 'other' } as ClusterNode];
  const fault = record.begin('kill -9', one);
  t.equal(record.had(one, 0, record.now(), ['kill -9']), true);
  t.equal(record.had(one, 0, record.now(), ['SIGSTOP']), false);
  t.equal(record.had(other, 0, record.now(), ['kill -9']), false);
  fault.end();
  t.equal(record.had(one, record.now() + 1_000, record.now() + 2_000, ['kill -9']), true);
  t.equal(record.had(one, record.now() + 60_000, record.now() + 61_000, ['kill -9']), false);
  record.asked.push({ what: 'GET', node: one, from: 0, to: record.now(), end: 'broken' });
  record.violate('a request failed');
  t.match(lines, [/^violation at 0\.\d s: a request failed \[kill -9 of one/]);
  t.equal(record.nViolations, 1);
  t.match(record.lines(), [/^kill -9: 1 times, 1 requests open meanwhile \(broken 1\)/]);
});
