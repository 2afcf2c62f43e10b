/** A call as a whole: the way to the server, the voice, and what is played, asked for and recorded while it lasts. */
import { isIP } from 'node:net';
import Type from 'typebox';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { CALL_RATE, RtpSession } from './rtp-session.ts';
import { readVoiceAnswer, voiceOffer } from './sdp.ts';
import { type CallEnd, SipCall } from './sip-call.ts';
import { openTransport, type SipTransport, TRANSPORTS, type TransportName } from './sip-transport.ts';

export interface SipSettings {
  readonly registrar: string;
  readonly user: string;
  readonly domain: string;
  readonly transport?: TransportName;
  readonly audio_port_range?: readonly [number, number];
}

const Host = '[A-Za-z0-9.-]{1,253}';
export const SipSettingsShape = Type.Object(
  {
    registrar: Type.String({ pattern: `^${Host}(:[0-9]{1,5})?$` }),
    user: Type.String({ pattern: '^[A-Za-z0-9._+-]{1,100}$' }),
    domain: Type.String({ pattern: `^${Host}$` }),
    transport: Type.Optional(Type.Enum([...TRANSPORTS])),
    audio_port_range: Type.Optional(Type.Array(Type.Integer({ minimum: 1024, maximum: 65_534 }), { minItems: 2, maxItems: 2 })),
  },
  { additionalProperties: false },
);

/** A call asks for this with the keys of the telephone. */
export interface DigitsAsked {
  readonly max: number;
  readonly timeout_seconds: number;
  readonly end?: string | undefined;
}

export interface PhoneOptions {
  readonly settings: SipSettings;
  readonly password: string;
  readonly to: string;
  /** The samples have CALL_RATE; undefined: nothing is played. */
  readonly sound: Int16Array | undefined;
  readonly digits: DigitsAsked | undefined;
  readonly isRecorded: boolean;
  readonly maxSeconds: number;
  readonly ringSeconds: number;
  readonly policy: AddressPolicy;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly ca?: string | undefined;
  onState(state: 'ringing' | 'talking'): void;
}

export interface CallOutcome {
  readonly end: CallEnd;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly digits: string;
  /** The samples have CALL_RATE; there are none where nothing was recorded. */
  readonly recording: Int16Array;
  readonly talkedMs: number;
}

const DEFAULT_PORTS = [20_000, 29_998] as const;
const TONE_HZ = 1_000;
const TONE_SECONDS = 0.4;
/** A telephone holds what it hears back for as long, so that late packets find their place: a BYE takes that away. */
const HELD_BACK_SECONDS = 0.3;

export class Phone {
  readonly #options: PhoneOptions;
  #call: SipCall | undefined;
  #transport: SipTransport | undefined;
  #isEnding = false;
  readonly gone: Promise<void>;
  #markGone: () => void = () => undefined;

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.gone = new Promise((done) => {
      this.#markGone = done;
    });
  }

  /** Resolves when the call has ended; never rejects for what the network or the other side does. */
  async run(): Promise<CallOutcome> {
    const { settings, policy, timeoutMs, now } = this.#options;
    const nothing = { status: undefined, digits: '', recording: new Int16Array(), talkedMs: 0 };
    const url = sipAddress(settings);
    let rtp: RtpSession;
    try {
      policy.check(url);
      const { transport = 'tls' } = settings;
      const address = { transport, host: url.hostname, port: Number(url.port), lookup: policy.lookupFor(url) };
      this.#transport = await openTransport({ ...address, timeoutMs, ca: this.#options.ca });
      const [first = DEFAULT_PORTS[0], last = DEFAULT_PORTS[1]] = settings.audio_port_range ?? DEFAULT_PORTS;
      rtp = await RtpSession.open({ host: this.#transport.host, ports: [first, last], now });
    } catch (error) {
      this.#transport?.close();
      this.#markGone();
      return { ...nothing, end: 'failed', reason: `the telephone server cannot be reached: ${String((error as Error).message)}` };
    }
    if (this.#isEnding) {
      rtp.close();
      this.#transport.close();
      this.#markGone();
      return { ...nothing, end: 'cancelled', reason: undefined };
    }
    return await this.#converse(this.#transport, rtp);
  }

  hangUp(): void {
    this.#isEnding = true;
    this.#call?.end();
  }

  /** Ends without waiting for the other side to repeat anything. */
  abandon(): void {
    this.#isEnding = true;
    this.#call?.abandon();
  }

  async #converse(transport: SipTransport, rtp: RtpSession): Promise<CallOutcome> {
    const { settings, password, to, ringSeconds, maxSeconds, onState, now } = this.#options;
    let digits = '';
    let reason: string | undefined;
    let answeredAt: number | undefined;
    let limit: NodeJS.Timeout | undefined;
    const { end, status } = await new Promise<Pick<CallOutcome, 'end' | 'status'>>((resolve) => {
      const call = new SipCall({
        transport,
        password,
        user: settings.user,
        domain: settings.domain,
        to,
        ringMs: ringSeconds * 1000,
        offer: voiceOffer(rtp.address, Math.floor(now() / 1000)),
        onRinging: () => onState('ringing'),
        onAnswer: (sdp) => {
          const answer = readVoiceAnswer(sdp);
          reason = answer === undefined ? 'the other side speaks none of PCMU and PCMA' : this.#unsafe(answer.host);
          if (answer === undefined || reason !== undefined) throw new Error(reason);
          answeredAt = now();
          limit = setTimeout(() => call.end('completed'), maxSeconds * 1000);
          onState('talking');
          rtp.begin(answer);
          this.#act(rtp, (key) => {
            digits += key;
          }).then(
            () => call.end('completed'),
            () => call.end('failed'),
          );
        },
        onEnd: (how, last) => resolve({ end: how, status: last }),
        onGone: () => this.#markGone(),
      });
      this.#call = call;
      call.start();
    });
    clearTimeout(limit);
    const recording = rtp.recording();
    rtp.close();
    return { end, status, reason, digits, recording, talkedMs: answeredAt === undefined ? 0 : now() - answeredAt };
  }

  /** Resolves when there is nothing more to do: then the call is hung up. */
  async #act(rtp: RtpSession, onKey: (key: string) => void): Promise<void> {
    const { sound, digits, isRecorded, maxSeconds } = this.#options;
    const keys = digits === undefined ? undefined : collect(rtp, digits, onKey);
    if (sound !== undefined) await rtp.play(sound);
    keys?.begin();
    await keys?.done;
    if (!isRecorded) {
      if (sound !== undefined && keys === undefined) await rtp.play(new Int16Array(HELD_BACK_SECONDS * CALL_RATE));
      return;
    }
    // Whoever is recorded was told, and hears the beginning.
    await rtp.play(tone());
    rtp.record(maxSeconds);
    // The other side hangs up, or the limit does.
    await new Promise(() => undefined);
  }

  /** Says that the voice would go inside the network. */
  #unsafe(host: string): string | undefined {
    try {
      this.#options.policy.check(hostUrl(host, 0, this.#options.settings.transport ?? 'tls'));
      return undefined;
    } catch (error) {
      return String((error as Error).message);
    }
  }
}

/** Keys count from the first sound on; the time limit counts when all was heard. */
function collect(rtp: RtpSession, { max, timeout_seconds: seconds, end = '#' }: DigitsAsked, onKey: (key: string) => void) {
  let n = 0;
  let timer: NodeJS.Timeout | undefined;
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let hasBegun = false;
  const wait = (): void => {
    clearTimeout(timer);
    if (hasBegun) timer = setTimeout(finish, seconds * 1000);
  };
  rtp.onKey = (key) => {
    if (n >= max || key === end) return finish();
    onKey(key);
    n += 1;
    if (n >= max) finish();
    else wait();
  };
  const begin = (): void => {
    hasBegun = true;
    wait();
  };
  return { begin, done: done.finally(() => clearTimeout(timer)) };
}

function tone(): Int16Array {
  return Int16Array.from(
    { length: TONE_SECONDS * CALL_RATE },
    (_, i) => 8_000 * Math.sin((2 * Math.PI * TONE_HZ * i) / CALL_RATE),
  );
}

/** The server of an account, judged as a host is: what is spoken in the clear is named by the operator, as plain HTTP is. */
export function sipAddress({ registrar, transport = 'tls' }: SipSettings): URL {
  const [host = '', port = transport === 'tls' ? '5061' : '5060'] = registrar.split(':');
  return hostUrl(host, Number(port), transport);
}

function hostUrl(host: string, port: number, transport: TransportName): URL {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return new URL(`${transport === 'tls' ? 'https' : 'http'}://${name}${port === 0 ? '' : `:${port}`}`);
}
