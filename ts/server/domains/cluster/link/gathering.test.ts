/** Lists that are put together of the parts of several nodes. */
import t from 'tap';
import type { ForwardedRequest } from '../../../platform/http/forwarding.ts';
import { type AskNode, gather } from './gathering.ts';

/** A node with this part of a list. */
function nodeWith(part: unknown): AskNode {
  const bytes = async () => Buffer.from(JSON.stringify(part));
  return async () => ({ status: 200, bytes, discard: () => undefined }) as never;
}

async function gathered(path: string, own: unknown, ...others: unknown[]): Promise<unknown> {
  const request = { method: 'GET', path, signal: new AbortController().signal } as ForwardedRequest;
  const reply = await gather(request, nodeWith(own), others.map(nodeWith), true);
  return JSON.parse(String((reply as unknown as { body: unknown }).body));
}

t.test('a job is shown as the node has it that is asked, whatever others say of it', async (t) => {
  const jobs = (...rows: object[]) => ({ jobs: rows, next: null });
  const own = jobs({ id: '2', state: 'failed' });
  const list = await gathered('/api/v1/system/jobs', own, jobs({ id: '2', state: 'done' }, { id: '3', state: 'running' }));
  t.strictSame(list, jobs({ id: '3', state: 'running' }, { id: '2', state: 'failed' }));
});

t.test('files of one name keep the order of their nodes', async (t) => {
  const files = (...rows: object[]) => ({ data: rows });
  const named = (node: number) => ({ file: 'a', node });
  const nodes = Array.from({ length: 20 }, (_, i) => named(i));
  const [first, ...others] = nodes.map((file) => files(file));
  t.strictSame(await gathered('/api/v1/exmm/models', first, ...others), files(...nodes));
});
