/** Requests are sent on to nodes that can judge them. */
import { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import type { ForwardedRequest } from '../../../platform/http/forwarding.ts';
import type { Reply } from '../../../platform/http/reply/reply.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { Forwarder } from './forwarder.ts';
import { type AskNode, gather } from './gathering.ts';
import { Peer, Peers } from './peers.ts';

const own = { cert: '', key: '', fingerprint: '', expiresAt: 0 };

/** A controller that answers with this status, and says beside it whether it reaches its database. */
class Controller extends Peer {
  status = 200;
  nAsked = 0;
  /** What it comes to say with its next answer. */
  losesDatabase = false;
  /** It is lost behind the head of its answer. */
  isCut = false;

  constructor(id: string) {
    super({ id, name: id, address: `${id}:1`, isReady: true, isMember: false, modules: [], certificates: [] }, own, 1);
    this.isAnswering = true;
  }

  override async forward(): Promise<HttpResponse> {
    this.nAsked += 1;
    this.lacksDatabase = this.losesDatabase;
    const pieces = async function* (isCut: boolean, id: string) {
      await immediate();
      if (isCut) throw new Error('the node is lost');
      yield Buffer.from(id);
    };
    const body = Readable.from(pieces(this.isCut, this.facts.id)).on('error', () => undefined);
    return { status: this.status, headers: {}, header: () => undefined, body, discard: () => body.destroy() } as never;
  }
}

/** `ends`: takes how each request ended. */
function memberOf(controllers: readonly Controller[], ends: string[] = []) {
  const peers = new Peers();
  peers.replace(controllers);
  const forwarder = new Forwarder({
    peers,
    nodeId: () => 'member',
    isMember: () => true,
    ownPath: () => '',
    front: () => undefined,
    onEnd: (outcome) => void ends.push(outcome),
  });
  return async (method: string): Promise<[status: number, by: string]> => {
    const path = '/api/v1/auth/whoami';
    const send = forwarder.find({ route: undefined, method, path, isPart: false }) as (asked: ForwardedRequest) => Promise<Reply>;
    const facts = {
      address: '',
      listener: 'public',
      state: 'enforce',
      host: '',
      isEncrypted: false,
      requestId: '',
      hops: 1,
    } as const;
    const { signal } = new AbortController();
    const reply = await send({ method, path, headers: new Map(), body: undefined, facts, signal, lastFrame: () => '' });
    if (reply.kind !== 'stream') throw new Error(`a reply of the kind ${reply.kind}`);
    const pieces = await (reply.body as Readable).toArray();
    return [reply.status ?? 0, Buffer.concat(pieces).toString()];
  };
}

t.test('a controller without its database is asked where no other one has it', async (t) => {
  const all = ['a', 'b', 'c'].map((id) => new Controller(id));
  const ask = memberOf(all);
  const [, first] = await ask('POST');
  t.strictSame(await ask('POST'), [200, first], 'one is asked for as long as it answers');
  const chosen = all.find(({ facts }) => facts.id === first) as Controller;
  chosen.lacksDatabase = true;
  const [, other] = await ask('POST');
  t.not(other, first);
  for (const each of all) each.lacksDatabase = true;
  t.equal((await ask('POST'))[0], 200, 'where none has it, one of them waits for it');
});

t.test('what such a one could not answer is asked again elsewhere, if it may be repeated', async (t) => {
  const all = ['a', 'b', 'c'].map((id) => new Controller(id));
  const ask = memberOf(all);
  const [, first] = await ask('GET');
  const lose = (controllers: readonly Controller[]): void => {
    for (const each of controllers) Object.assign(each, { status: 503, losesDatabase: true, lacksDatabase: false });
  };
  const chosen = all.filter(({ facts }) => facts.id === first);
  lose(chosen);
  t.strictSame(await ask('POST'), [503, first], 'it may have been done');
  lose(chosen);
  t.equal((await ask('GET'))[0], 200);
  lose(all);
  const nBefore = all.reduce((sum, { nAsked }) => sum + nAsked, 0);
  t.equal((await ask('GET'))[0], 503);
  t.equal(all.reduce((sum, { nAsked }) => sum + nAsked, 0) - nBefore, 3, 'each is asked once');
});

t.test('an answer that is lost behind its head begins again elsewhere, if it may be repeated', async (t) => {
  const all = ['a', 'b'].map((id) => new Controller(id));
  const ends: string[] = [];
  const ask = memberOf(all, ends);
  const [, first] = await ask('GET');
  const chosen = all.find(({ facts }) => facts.id === first) as Controller;
  chosen.isCut = true;
  const [status, other] = await ask('GET');
  t.strictSame([status, other === first], [200, false]);
  t.notOk(chosen.isAnswering);
  chosen.isAnswering = true;
  await t.rejects(ask('POST'), { code: 'node_lost', status: 503 }, 'it may have been done');
  for (const each of all) Object.assign(each, { isAnswering: true, isCut: true });
  await t.rejects(ask('GET'), { code: 'account_service_unreachable' });
  t.strictSame(ends, ['ok', 'ok', 'lost', 'unreachable'], 'each request is counted once');
  t.ok(all.every(({ isIdle }) => isIdle));
});

t.test('a list is not put together without the part of the node that was asked, where it has one', async (t) => {
  const answers =
    (status: number, ...ids: string[]): AskNode =>
    async () => {
      const bytes = Buffer.from(JSON.stringify({ jobs: ids.map((id) => ({ id })), next: null }));
      return { status, bytes: async () => bytes, discard: () => undefined } as never;
    };
  const request = { method: 'GET', path: '/api/v1/system/jobs', signal: new AbortController().signal } as ForwardedRequest;
  const listed = async (own: AskNode, hasOwn: boolean) => {
    const reply = await gather(request, own, [answers(200, 'b')], hasOwn);
    return reply?.kind === 'bytes' ? JSON.parse(String(reply.body)).jobs.length : undefined;
  };
  t.equal(await listed(answers(200, 'a'), true), 2);
  t.equal(await listed(answers(503), true), undefined, 'its database is away');
  t.equal(await listed(answers(503), false), 1, 'its module does not run');
  t.equal(await listed(answers(401), false), undefined);
});
