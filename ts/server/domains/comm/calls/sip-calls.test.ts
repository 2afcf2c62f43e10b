/** Calls against sipp: each scenario ends as it is documented, and no dialog is left. */
import t, { type Test } from 'tap';
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../../platform/network/allowed-host.ts';
import { Phone, type PhoneOptions } from './phone.ts';
import { SipCall } from './sip-call.ts';
import { headerOf, methodOf, parseSip, type SipMessage, writeSip } from './sip-message.ts';
import type { SipTransport, TransportName } from './sip-transport.ts';
import { answerComes, asks, comes, invited, SDP, says, startSipp, whyNoProgram } from './test-support/sipp.ts';
import { telephone } from './test-support/telephone.ts';

t.setTimeout(300_000);

type Act = (phone: Phone, state: 'ringing' | 'talking') => void;

interface Scenario {
  readonly name: string;
  readonly steps: readonly string[];
  readonly end: string;
  readonly status?: number;
  readonly options?: Partial<PhoneOptions>;
  readonly transports?: readonly TransportName[];
  readonly act?: Act;
  readonly digits?: string;
}

const RING = says('180 Ringing');
const OK = says('200 OK', { body: SDP });
const OK_TO_REQUEST = says('200 OK', { tag: '' });
const HANG_UP_ON: Record<string, Act> = {
  ringing: (phone, state) => void (state === 'ringing' && phone.hangUp()),
  talking: (phone, state) => void (state === 'talking' && phone.hangUp()),
};
const BOTH: readonly TransportName[] = ['udp', 'tcp'];
const UDP: readonly TransportName[] = ['udp'];
/** A telephone holds so many packets back, so that late ones find their place. */
const MOST_HELD_BACK = 10;
const PACKET_SAMPLES = 160;
const quick = { sound: undefined, digits: undefined };
const CHALLENGE = 'WWW-Authenticate: Digest realm="test", nonce="abc123", algorithm=MD5, qop="auth"\n';
const challenges = [
  { name: 'a challenge', status: '401 Unauthorized', header: CHALLENGE, transports: BOTH },
  {
    name: 'a challenge of a proxy',
    status: '407 Proxy Authentication Required',
    header: CHALLENGE.replace('WWW', 'Proxy'),
    transports: UDP,
  },
];
const refused = (status: string): string[] => [invited, says(status), comes('ACK')];

const scenarios: Scenario[] = [
  {
    name: 'a call that says all and hangs up',
    steps: [invited, RING, OK, comes('ACK'), comes('BYE'), OK_TO_REQUEST],
    end: 'completed',
    status: 200,
    transports: BOTH,
  },
  {
    name: 'an answer without ringing',
    steps: [invited, OK, comes('ACK'), comes('BYE'), OK_TO_REQUEST],
    end: 'completed',
    status: 200,
  },
  { name: 'busy', steps: refused('486 Busy Here'), end: 'busy', status: 486, transports: BOTH },
  { name: 'busy everywhere', steps: refused('600 Busy Everywhere'), end: 'busy', status: 600 },
  { name: 'declined', steps: [invited, RING, says('603 Decline'), comes('ACK')], end: 'declined', status: 603 },
  { name: 'forbidden', steps: refused('403 Forbidden'), end: 'declined', status: 403 },
  { name: 'unavailable', steps: refused('480 Temporarily Unavailable'), end: 'no_answer', status: 480 },
  { name: 'request timeout', steps: refused('408 Request Timeout'), end: 'no_answer', status: 408 },
  { name: 'not found', steps: refused('404 Not Found'), end: 'failed', status: 404 },
  {
    name: 'moved',
    steps: [invited, says('302 Moved', { more: 'Contact: <sip:elsewhere@127.0.0.1:9>\n' }), comes('ACK')],
    end: 'failed',
    status: 302,
  },
  { name: 'a server error', steps: refused('503 Service Unavailable'), end: 'failed', status: 503, transports: BOTH },
  {
    name: 'no codec in common',
    steps: [
      invited,
      says('200 OK', { body: SDP.replace('RTP/AVP 0 101', 'RTP/AVP 9') }),
      comes('ACK'),
      comes('BYE'),
      OK_TO_REQUEST,
    ],
    end: 'failed',
    status: 200,
  },
  {
    name: 'an answer without a description',
    steps: [invited, says('200 OK'), comes('ACK'), comes('BYE'), OK_TO_REQUEST],
    end: 'failed',
    status: 200,
  },
  ...challenges.map(
    ({ name, status, header, transports }): Scenario => ({
      name,
      steps: [invited, says(status, { more: header }), comes('ACK'), invited, OK, comes('ACK'), comes('BYE'), OK_TO_REQUEST],
      end: 'completed',
      status: 200,
      transports,
    }),
  ),
  {
    name: 'a wrong password is not tried twice',
    steps: [
      invited,
      says('401 Unauthorized', { more: CHALLENGE }),
      comes('ACK'),
      invited,
      says('401 Unauthorized', { more: CHALLENGE }),
      comes('ACK'),
    ],
    end: 'failed',
    status: 401,
  },
  {
    name: 'a nonce that went stale',
    steps: [
      invited,
      says('401 Unauthorized', { more: CHALLENGE }),
      comes('ACK'),
      invited,
      says('401 Unauthorized', { more: CHALLENGE.replace('qop', 'stale=true, qop') }),
      comes('ACK'),
      invited,
      OK,
      comes('ACK'),
      comes('BYE'),
      OK_TO_REQUEST,
    ],
    end: 'completed',
    status: 200,
  },
  {
    name: 'a BYE that is refused',
    steps: [invited, OK, comes('ACK'), comes('BYE'), says('481 Call Does Not Exist', { tag: '' })],
    end: 'completed',
    status: 200,
  },
  {
    name: 'the other side hangs up',
    steps: [invited, OK, comes('ACK'), asks('BYE'), answerComes(200)],
    end: 'completed',
    status: 200,
    options: { isRecorded: true },
    transports: BOTH,
  },
  {
    name: 'both hang up',
    steps: [
      invited,
      OK,
      comes('ACK'),
      comes('BYE'),
      asks('BYE', 7),
      answerComes(200),
      says('200 OK', { tag: '', cseq: '2 BYE' }),
    ],
    end: 'completed',
    status: 200,
  },
  {
    name: 'hung up while it rings',
    steps: [
      invited,
      RING,
      comes('CANCEL'),
      OK_TO_REQUEST,
      says('487 Request Terminated', { tag: '', cseq: '1 INVITE' }),
      comes('ACK'),
    ],
    end: 'cancelled',
    status: 487,
    act: HANG_UP_ON['ringing'] as Act,
    transports: BOTH,
  },
  {
    name: 'nobody answers',
    steps: [
      invited,
      RING,
      comes('CANCEL'),
      OK_TO_REQUEST,
      says('487 Request Terminated', { tag: '', cseq: '1 INVITE' }),
      comes('ACK'),
    ],
    end: 'no_answer',
    status: 487,
    options: { ringSeconds: 1 },
  },
  {
    name: 'a 200 that crosses the CANCEL gets ACK and BYE',
    steps: [
      invited,
      RING,
      comes('CANCEL'),
      says('200 OK', { body: SDP, cseq: '1 INVITE', tag: 'a' }),
      comes('ACK'),
      comes('BYE'),
      says('200 OK', { tag: '', cseq: '2 BYE' }),
    ],
    end: 'cancelled',
    status: 200,
    act: HANG_UP_ON['ringing'] as Act,
    transports: BOTH,
  },
  {
    name: 'hung up while talking',
    steps: [invited, OK, comes('ACK'), comes('BYE'), OK_TO_REQUEST],
    end: 'cancelled',
    status: 200,
    options: { isRecorded: true },
    act: HANG_UP_ON['talking'] as Act,
  },
  {
    name: 'the time limit ends the call',
    steps: [invited, OK, comes('ACK'), comes('BYE'), OK_TO_REQUEST],
    end: 'completed',
    status: 200,
    options: { isRecorded: true, maxSeconds: 1 },
  },
  {
    name: 'another description in the midst is refused, and the call goes on',
    steps: [invited, OK, comes('ACK'), asks('INVITE', 1, SDP), answerComes(488), asks('BYE', 2), answerComes(200)],
    end: 'completed',
    status: 200,
    options: { isRecorded: true },
  },
  {
    name: 'a question in the midst is answered',
    steps: [invited, OK, comes('ACK'), asks('OPTIONS', 1), answerComes(200), asks('BYE', 2), answerComes(200)],
    end: 'completed',
    status: 200,
    options: { isRecorded: true },
  },
];

function phoneTo(t: Test, port: number, transport: TransportName, options: Partial<PhoneOptions>, act?: Act): Phone {
  const policy = new AddressPolicy({ trusted: [], allowed: allowedHostsOf('test', 'http://127.0.0.1', '') });
  const phone: Phone = new Phone({
    settings: {
      registrar: `127.0.0.1:${port}`,
      user: 'svc',
      domain: 'example.org',
      transport,
      audio_port_range: [30_000, 31_000],
    },
    password: 'secret',
    to: '200',
    ...quick,
    isRecorded: false,
    maxSeconds: 20,
    ringSeconds: 20,
    policy,
    timeoutMs: 2_000,
    now: Date.now,
    onState: (state) => act?.(phone, state),
    ...options,
  });
  t.teardown(() => phone.abandon());
  return phone;
}

for (const { name, steps, end, status, options = {}, transports = UDP, act } of scenarios)
  for (const transport of transports)
    t.test(`${name}, over ${transport}`, { skip: whyNoProgram('sipp') }, async (t) => {
      const sipp = await startSipp(t, steps, transport);
      const phone = phoneTo(t, sipp.port, transport, options, act);
      t.match(await phone.run(), { end, status });
      const { isWhole, errors } = await sipp.ended;
      t.ok(isWhole, `the whole scenario happened ${errors.slice(0, 2_000)}`);
      phone.abandon();
      await phone.gone;
    });

t.test('an INVITE, an ACK and a BYE that were lost are sent again', async (t) => {
  const other = await telephone(t);
  const phone = phoneTo(t, other.port, 'udp', { sound: new Int16Array(1_600) });
  const run = phone.run();
  await other.next('INVITE');
  const invite = await other.next('INVITE');
  other.answer(invite, '200 OK', { body: other.sdp });
  await other.next('ACK');
  other.answer(invite, '200 OK', { body: other.sdp });
  await other.next('ACK');
  await other.next('BYE');
  other.answer(await other.next('BYE'), '200 OK');
  t.match(await run, { end: 'completed', status: 200 });
});

t.test('a call that is hung up before anything was heard ends at once, and is cancelled when it rings after all', async (t) => {
  const other = await telephone(t);
  const phone = phoneTo(t, other.port, 'udp', {});
  const run = phone.run();
  const invite = await other.next('INVITE');
  phone.hangUp();
  t.match(await run, { end: 'cancelled', status: undefined });
  other.answer(invite, '180 Ringing');
  other.answer(await other.next('CANCEL'), '200 OK');
  other.answer(invite, '487 Request Terminated');
  await other.next('ACK');
});

t.test('a refusal that comes again gets its ACK again', async (t) => {
  const other = await telephone(t);
  const run = phoneTo(t, other.port, 'udp', {}).run();
  const invite = await other.next('INVITE');
  other.answer(invite, '486 Busy Here');
  await other.next('ACK');
  t.match(await run, { end: 'busy', status: 486 });
  other.answer(invite, '486 Busy Here');
  await other.next('ACK');
  t.equal(other.count('ACK'), 2);
});

t.test('a second telephone that answers the same call is hung up, and the first one talks on', async (t) => {
  const other = await telephone(t);
  const phone = phoneTo(t, other.port, 'udp', { isRecorded: true });
  const run = phone.run();
  const invite = await other.next('INVITE');
  other.answer(invite, '200 OK', { body: other.sdp, tag: 'one' });
  await other.next('ACK');
  other.answer(invite, '200 OK', { body: other.sdp, tag: 'two' });
  t.match(await other.next('ACK'), { headers: { length: Number } });
  const bye = await other.next('BYE');
  t.match(JSON.stringify(bye.headers), /tag=two/);
  other.answer(bye, '200 OK');
  other.hangUp(invite, 'one');
  t.match(await run, { end: 'completed', status: 200 });
});

t.test('a voice inside the network that nobody named is refused, and the call ends', async (t) => {
  const other = await telephone(t);
  const run = phoneTo(t, other.port, 'udp', {}).run();
  const invite = await other.next('INVITE');
  other.answer(invite, '200 OK', { body: other.sdp.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 10.1.2.3') });
  await other.next('ACK');
  other.answer(await other.next('BYE'), '200 OK');
  t.match(await run, { end: 'failed', reason: /10\.1\.2\.3/ });
});

t.test('what was played is followed by silence, which the other side hears out before the BYE', async (t) => {
  const other = await telephone(t);
  const sound = new Int16Array(10 * PACKET_SAMPLES).fill(9_000);
  const run = phoneTo(t, other.port, 'udp', { sound }).run();
  const invite = await other.next('INVITE');
  const packets = other.heardPackets(10 + MOST_HELD_BACK);
  other.answer(invite, '200 OK', { body: other.sdp });
  other.answer(await other.next('BYE'), '200 OK');
  t.match(await run, { end: 'completed', status: 200 });
  await packets;
});

t.test('of very many telephones that take a call, one is heard and a few others are told that it is over', (t) => {
  const sent: SipMessage[] = [];
  const read = (bytes: Buffer) => parseSip(bytes) as SipMessage;
  const nothing = () => undefined;
  const place = { host: '127.0.0.1', port: 5060, remoteHost: '127.0.0.1' };
  const does = { send: (message: Buffer) => void sent.push(read(message)), onMessage: nothing, onEnd: nothing, close: nothing };
  const transport: SipTransport = { name: 'tcp', isReliable: true, ...place, ...does };
  const own = { user: 'ann', password: '', domain: 'example.org', to: '1', offer: SDP, ringMs: 60_000 };
  const call = new SipCall({ transport, ...own, onRinging: nothing, onAnswer: nothing, onEnd: nothing, onGone: nothing });
  call.start();
  const of = (name: string) => [name, headerOf(sent[0] as SipMessage, name) ?? ''] as const;
  for (let i = 0; i < 1_000; i++) {
    const to = ['To', `${of('To')[1]};tag=${i}`] as const;
    const headers = [of('Via'), of('From'), to, of('Call-ID'), of('CSeq'), ['Contact', '<sip:1@127.0.0.1:5062>'] as const];
    transport.onMessage(read(writeSip('SIP/2.0 200 OK', headers)));
  }
  const nEnded = sent.filter((message) => methodOf(message) === 'BYE').length;
  t.ok(nEnded > 0 && nEnded <= 16, `${nEnded} were told`);
  call.abandon();
  t.end();
});
