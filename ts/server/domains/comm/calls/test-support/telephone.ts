/** A telephone that a test plays, over UDP: it hears every message, answers as it is told, presses keys and speaks. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { on, once } from 'node:events';
import type { Test } from 'tap';
import { decodeG711, encodeG711, PCMU } from '../g711.ts';
import { headerOf, methodOf, parseSip, type SipMessage, statusOf, writeSip } from '../sip-message.ts';

export { readWav } from '../wav.ts';

const PACKET_SAMPLES = 160;
const HEAD_BYTES = 12;
const LOUD = 4_000;

interface Telephone {
  readonly port: number;
  /** The next request of a method that comes, whatever comes besides. */
  next(method: string): Promise<SipMessage>;
  /** Resolves when something loud was heard, and silence behind it. */
  heardSound(): Promise<void>;
  /** Resolves when so many more packets of voice came: what was sent before has come to the other side. */
  heardPackets(count: number): Promise<void>;
  /** How many came so far. */
  count(method: string): number;
  answer(request: SipMessage, status: string, more?: { tag?: string; body?: string }): void;
  /** The telephone says this of its voice. */
  readonly sdp: string;
  /** Each press is three packets of one time, as the last packet of a press comes thrice. */
  press(request: SipMessage, keys: readonly number[]): void;
  speak(request: SipMessage, samples: Int16Array): void;
  hangUp(invite: SipMessage, tag?: string): void;
}

export async function telephone(t: Test): Promise<Telephone> {
  const [signals, voice] = await Promise.all([bound(t), bound(t)]);
  const heard: SipMessage[] = [];
  const waiting: { method: string; take: (message: SipMessage) => void }[] = [];
  const all: string[] = [];
  let from: RemoteInfo | undefined;
  signals.on('message', (bytes, sender) => {
    const message = parseSip(bytes);
    if (message === undefined || statusOf(message) !== 0) return;
    from = sender;
    all.push(methodOf(message));
    const at = waiting.findIndex(({ method }) => method === methodOf(message));
    if (at < 0) heard.push(message);
    else waiting.splice(at, 1)[0]?.take(message);
  });
  const { port } = signals.address();
  const sdp = [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${voice.address().port} RTP/AVP 0 101`,
    'a=rtpmap:101 telephone-event/8000',
    '',
  ].join('\r\n');
  const send = (bytes: Buffer): void => signals.send(bytes, from?.port ?? 0, from?.address);
  let sequence = 1;
  let time = 1_000;
  const packet = (request: SipMessage, type: number, at: number, payload: Buffer): void => {
    const [, to = '0'] = /^m=audio (\d+)/m.exec(request.body) ?? [];
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = 0x80;
    head[1] = type;
    head.writeUInt16BE(sequence++, 2);
    head.writeUInt32BE(at, 4);
    head.writeUInt32BE(4711, 8);
    voice.send(Buffer.concat([head, payload]), Number(to), '127.0.0.1');
  };
  return {
    port,
    sdp,
    heardSound: async () => {
      let isBehind = false;
      for await (const [bytes] of on(voice, 'message')) {
        const isLoud = decodeG711(PCMU, (bytes as Buffer).subarray(HEAD_BYTES)).some((sample) => sample > LOUD);
        if (isBehind && !isLoud) return;
        isBehind = isLoud;
      }
    },
    heardPackets: async (count) => {
      for (let i = 0; i < count; i += 1) await once(voice, 'message');
    },
    count: (method) => all.filter((each) => each === method).length,
    next: async (method) => {
      const at = heard.findIndex((message) => methodOf(message) === method);
      if (at >= 0) return heard.splice(at, 1)[0] as SipMessage;
      return await new Promise<SipMessage>((take) => waiting.push({ method, take }));
    },
    answer: (request, status, { tag = 'phone', body = '' } = {}) => {
      const headers = request.headers
        .filter(([name]) => /^(via|from|to|call-id|cseq)$/i.test(name))
        .map(([name, value]) =>
          name === 'To' && !value.includes('tag=') ? ([name, `${value};tag=${tag}`] as const) : ([name, value] as const),
        );
      const type = body === '' ? [] : [['Content-Type', 'application/sdp'] as const];
      send(writeSip(`SIP/2.0 ${status}`, [...headers, ['Contact', `<sip:phone@127.0.0.1:${port}>`], ...type], body));
    },
    press: (request, keys) => {
      for (const key of keys) {
        time += 800;
        for (let i = 0; i < 3; i += 1) packet(request, 101, time, Buffer.from([key, 0x80, 3, 32]));
      }
    },
    speak: (request, samples) => {
      for (let at = 0; at < samples.length; at += PACKET_SAMPLES, time += PACKET_SAMPLES)
        packet(request, PCMU, time, encodeG711(PCMU, samples.subarray(at, at + PACKET_SAMPLES)));
    },
    hangUp: (invite, tag = 'phone') => {
      const to = headerOf(invite, 'From') ?? '';
      const own = `${headerOf(invite, 'To')};tag=${tag}`;
      const headers: [string, string][] = [
        ['Via', `SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bKphone${sequence++}`],
        ['From', own],
        ['To', to],
        ['Call-ID', headerOf(invite, 'Call-ID') ?? ''],
        ['CSeq', '1 BYE'],
      ];
      send(writeSip('BYE sip:svc SIP/2.0', headers));
    },
  };
}

async function bound(t: Test): Promise<Socket> {
  const socket = createSocket('udp4').on('error', () => undefined);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return socket;
}
