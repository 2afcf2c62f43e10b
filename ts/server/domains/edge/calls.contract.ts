/** Calls by route and tool on both databases: keys, recordings, hang-ups, a node that stops, and whoever may not. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { standIn } from '../../platform/module/test-support/open-modules.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { readWav, telephone } from '../comm/calls/test-support/telephone.ts';
import { admin, callerOf, developer, openComm } from '../comm/test-support/comm-bed.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { metering } from '../metering/index.ts';
import { edge } from './index.ts';

const viewer = callerOf('usr_vic', 'viewer');
const stranger = callerOf('usr_eve', 'admin', { tenant: 'blue' });
const OPEN = ['calling', 'ringing', 'talking'];

async function openCalls(t: Test, newDatabase: NewDatabase, databaseUrl?: string) {
  const bed = await openComm(t, {
    databaseUrl: databaseUrl ?? (await newUrl(t, newDatabase)),
    modules: [
      edge,
      standIn(data, {}),
      standIn(conversations, { artifacts: {}, prompts: {} } as never),
      standIn(metering, { begin: async () => ({ end: async () => {} }) as never }),
    ],
  });
  const accountOf = (port: number, name = 'sip') =>
    bed.add({
      kind: 'sip',
      name,
      settings: {
        registrar: `127.0.0.1:${port}`,
        user: 'svc',
        domain: 'example.org',
        transport: 'udp',
        audio_port_range: [31_000, 32_000],
      },
      key: 'secret-4711',
      allowed_recipients: ['2*'],
    });
  const start = (body: object, as = developer) => bed.ask('POST', '/api/v1/comm/calls/start', as, { to: '200', ...body });
  const show = async (id: string) => (await bed.ask('GET', `/api/v1/comm/calls/${id}`, developer)).body;
  const ended = (id: string) =>
    until(
      () => show(id),
      ({ state }: { state: string }) => !OPEN.includes(state),
    );
  return { ...bed, accountOf, start, show, ended };
}

function testCalls(t: Test, newDatabase: NewDatabase): void {
  t.test('a call says a text, collects keys, records what is said behind it, and keeps the recording', async (t) => {
    const other = await telephone(t);
    const bed = await openCalls(t, newDatabase);
    const account_id = await bed.accountOf(other.port);
    const digits = { max: 4, timeout_seconds: 30 };
    const { status, body } = await bed.start({ account_id, say: 'Press your number.', digits, record: true });
    t.match({ status, body }, { status: 202, body: { call_id: /^call_/, state: 'calling' } });
    const invite = await other.next('INVITE');
    other.answer(invite, '180 Ringing');
    await until(
      () => bed.show(body.call_id),
      ({ state }: { state: string }) => state === 'ringing',
    );
    other.answer(invite, '200 OK', { body: other.sdp });
    await other.next('ACK');
    other.press(invite, [1, 2, 11]);
    // Recording begins behind the tone: what is said before it is not kept.
    await other.heardSound();
    const tone = Int16Array.from({ length: 8_000 }, (_, i) => 9_000 * Math.sin(i / 5));
    other.speak(invite, tone);
    await other.heardPackets(5);
    other.hangUp(invite);
    t.match(await bed.ended(body.call_id), {
      state: 'completed',
      sip_status: 200,
      digits: '12',
      recording_file_id: `${body.call_id}.wav`,
    });
    await until(
      () => bed.show(body.call_id),
      ({ transcript }: { transcript: string | null }) => transcript === 'Meter seven',
    );
    const sound = readWav(readFileSync(join(bed.dataDir, `${body.call_id}.wav`)));
    t.ok(sound !== undefined && sound.rate === 8_000 && sound.samples.length > 1_600, 'something was heard');
    t.ok(sound?.samples.some((sample) => sample > 8_000));
    const rows = await bed.storage.access<{ comm_calls: object }>().read(tenantScope('red'), (db) =>
      db
        .selectFrom('comm_calls')
        .selectAll()
        .where('tenant' as never, '=', 'red' as never)
        .execute(),
    );
    for (const text of [JSON.stringify(rows), bed.log.join(), JSON.stringify(bed.acts)])
      t.notMatch(text, /4711|"12"|Press your|Meter seven/);
  });

  t.test('calls that ring and calls that talk are hung up, by a person and by a node that stops', async (t) => {
    const other = await telephone(t);
    const bed = await openCalls(t, newDatabase);
    const account_id = await bed.accountOf(other.port);
    const first = (await bed.start({ account_id })).body.call_id;
    const invite = await other.next('INVITE');
    other.answer(invite, '180 Ringing');
    await until(
      () => bed.show(first),
      ({ state }: { state: string }) => state === 'ringing',
    );
    const hungUp = bed.ask('POST', `/api/v1/comm/calls/${first}/hangup`, developer);
    other.answer(await other.next('CANCEL'), '200 OK');
    other.answer(invite, '487 Request Terminated');
    t.match(await hungUp, { status: 200, body: { state: 'cancelled', sip_status: 487 } });
    const talks = (await bed.start({ account_id, say: 'Hello', record: true })).body.call_id;
    const second = await other.next('INVITE');
    other.answer(second, '200 OK', { body: other.sdp });
    await until(
      () => bed.show(talks),
      ({ state }: { state: string }) => state === 'talking',
    );
    const rings = (await bed.start({ account_id })).body.call_id;
    const third = await other.next('INVITE');
    other.answer(third, '180 Ringing');
    await until(
      () => bed.show(rings),
      ({ state }: { state: string }) => state === 'ringing',
    );
    const [isEnded] = [Promise.all([other.next('BYE'), other.next('CANCEL')])];
    const stopped = bed.stop();
    const [bye, cancel] = await isEnded;
    other.answer(bye, '200 OK');
    other.answer(cancel, '200 OK');
    other.answer(third, '487 Request Terminated');
    await stopped;
    const again = await openCalls(t, newDatabase, bed.databaseUrl);
    t.match(await again.show(talks), { state: 'cancelled' });
    t.match(await again.show(rings), { state: 'cancelled' });
  });

  t.test('what a killed node left has an end when it starts again', async (t) => {
    const bed = await openCalls(t, newDatabase);
    const account_id = await bed.accountOf(9);
    const id = (await bed.start({ account_id })).body.call_id;
    await bed.ask('POST', `/api/v1/comm/calls/${id}/hangup`, developer);
    await bed.storage
      .access<{ comm_calls: { tenant: string; id: string; state: string } }>()
      .writeUnit(tenantScope('red'), (db) => [
        db.updateTable('comm_calls').set({ state: 'talking' }).where('tenant', '=', 'red').where('id', '=', id),
      ]);
    await bed.stop();
    const again = await openCalls(t, newDatabase, bed.databaseUrl);
    t.match(await again.show(id), { state: 'failed', reason: 'the node stopped in the midst of the call' });
  });

  t.test('recipients, kinds of accounts, roles and tenants are held to', async (t) => {
    const bed = await openCalls(t, newDatabase);
    const account_id = await bed.accountOf(9);
    t.match(await bed.start({ account_id, to: '110' }), { status: 400, body: { error: 'recipient_not_allowed' } });
    t.match(await bed.start({ account_id, record: true }), { status: 400, body: { error: 'invalid_request' } });
    t.match(await bed.start({ account_id }, viewer), { status: 403 });
    t.match(await bed.start({ account_id }, stranger), { status: 404 });
    const sent = await bed.ask('POST', '/api/v1/comm/messages', developer, { account_id, to: '200', text: 'Hello' });
    t.match(sent, { status: 400, body: { error: 'account_cannot' } });
    bed.store('file-1', 'usr_dev', 'no sound');
    t.match(await bed.start({ account_id, file_id: 'file-1' }), { status: 400, body: { error: 'attachment_refused' } });
    t.equal((await bed.ask('GET', '/api/v1/comm/calls/call_1', admin)).status, 404);
    t.match((await bed.ask('GET', '/api/v1/comm/accounts', viewer)).body.data, [{ kind: 'sip', can: { calls: true } }]);
    const named = {
      kind: 'sip',
      name: 'b',
      settings: { registrar: 'sip.example.org', user: 'a', domain: 'b.c', transport: 'udp' },
      key: 'k',
    };
    t.match(
      (await bed.ask('POST', '/api/v1/comm/accounts', admin, named)).body,
      { error: 'unsafe_address' },
      'in the clear only where it is named',
    );
  });
}

onEachDatabase(testCalls, { timeoutMs: 120_000 });
