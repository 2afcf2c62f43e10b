import t from 'tap';
import { Batch } from './books.ts';
import { endOf } from './load.ts';
import type { ClusterNode } from './nodes.ts';
import { Processors, waitsOf } from './processors.ts';
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
  const record = new SoakRecord(
    (line) => lines.push(line),
    () => false,
  );
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

t.test('what comes late is not judged while a process of the soak has no processor, and all else is', async (t) => {
  const now = { at: 0, waitedMs: new Map([[1, 500]]) };
  const processors = new Processors(() => ({ ...now, waitedMs: new Map(now.waitedMs) }));
  const record = new SoakRecord(
    () => undefined,
    (from) => processors.wereScarceSince(from),
  );
  const pass = (at: number, waited: number): void => void Object.assign(now, { at, waitedMs: new Map([[1, waited]]) });
  pass(2_000, 1_400);
  record.missed('a request waited', 0);
  t.equal(record.nViolations, 1, 'it waited for less than half of the time');
  pass(4_000, 2_500);
  record.missed('a request waited', 3_000);
  record.violate('a stream was cut');
  t.strictSame([record.nViolations, record.nNotJudged, processors.scarceMs], [2, 1, 2_000]);
  pass(60_000, 2_600);
  record.missed('a request waited', 59_000);
  t.strictSame([record.nViolations, record.nNotJudged], [3, 1], 'the machine is quiet again');
  t.ok((waitsOf([process.pid]).get(process.pid) ?? -1) >= 0);
  t.equal(waitsOf([2 ** 22 + 1]).size, 0);
});
