/**
 * One call that goes out: the transactions of INVITE, CANCEL and BYE and the dialog between them (RFC 3261 sections 9, 12, 13, 15, 17). A call that is
 * to end ends in every state: before an answer by CANCEL, behind it by BYE, and a 200 that crosses a CANCEL gets its ACK and a BYE.
 */
import { randomBytes } from 'node:crypto';
import { answerChallenge } from './sip-digest.ts';
import { cseqOf, headerOf, methodOf, parameterOf, type SipMessage, statusOf, uriOf, valuesOf, writeSip } from './sip-message.ts';
import type { SipTransport } from './sip-transport.ts';

export type CallEnd = 'completed' | 'busy' | 'no_answer' | 'declined' | 'failed' | 'cancelled';

interface SipCallOptions {
  readonly transport: SipTransport;
  readonly user: string;
  readonly password: string;
  readonly domain: string;
  /** The number or name that is called, or a whole `sip:` address. */
  readonly to: string;
  readonly offer: string;
  readonly ringMs: number;
  onRinging(): void;
  /** The answer's body. What throws ends the call as failed. */
  onAnswer(sdp: string): void;
  /** Called once. `status`: the last final status of the INVITE; undefined: none came. */
  onEnd(end: CallEnd, status: number | undefined): void;
  /** Called once, when nothing more can come that would have to be answered. */
  onGone(): void;
}

interface Dialog {
  /** The value has the tag of the other side. */
  readonly to: string;
  readonly target: string;
  readonly routes: readonly string[];
  readonly ack: Buffer;
}

/** A request is repeated until something answers it. */
interface Pending {
  readonly branch: string;
  readonly method: string;
  readonly message: Buffer;
  timer: NodeJS.Timeout | undefined;
  intervalMs: number;
  deadline: NodeJS.Timeout;
}

/** RFC 3261 section 17.1.1.1. */
const T1_MS = 500;
const T2_MS = 4_000;
const TRANSACTION_MS = 64 * T1_MS;
/** A call that forks further than this leaves the others to the limits of whoever answered. */
const MOST_FORKS = 16;
/** So many of the other side's last requests are known when they come again. */
const MOST_ANSWERED = 64;
const ALLOW = 'INVITE, ACK, CANCEL, BYE, OPTIONS';
const ENDS: Readonly<Record<number, CallEnd>> = {
  403: 'declined',
  408: 'no_answer',
  480: 'no_answer',
  486: 'busy',
  487: 'cancelled',
  600: 'busy',
  603: 'declined',
};

export class SipCall {
  readonly #options: SipCallOptions;
  readonly #callId = randomBytes(12).toString('hex');
  readonly #from: string;
  readonly #to: string;
  readonly #uri: string;
  #cseq = 1;
  /** The answer to a challenge, for requests of one method. */
  #authorization: { readonly method: string; readonly name: string; readonly value: string } | undefined;
  #wasByeAuthorized = false;
  #invite: Pending | undefined;
  #inviteMessage = { branch: '', cseq: 1 };
  #others: Pending[] = [];
  #isProvisional = false;
  #dialog: Dialog | undefined;
  /** One call may make further dialogs where it forks: each got a BYE. */
  readonly #forks = new Map<string, Dialog>();
  /** Set: it is to end so, whatever comes. */
  #wanted: CallEnd | undefined;
  #isCancelled = false;
  #isOver = false;
  #status: number | undefined;
  #ring: NodeJS.Timeout | undefined;
  #linger: NodeJS.Timeout | undefined;
  readonly #answered = new Map<string, Buffer>();

  constructor(options: SipCallOptions) {
    const { user, domain, to } = options;
    this.#options = options;
    this.#from = `<sip:${user}@${domain}>;tag=${randomBytes(6).toString('hex')}`;
    this.#uri = /^sips?:/.test(to) ? to : `sip:${to}@${domain}`;
    this.#to = `<${this.#uri}>`;
  }

  start(): void {
    const { transport, ringMs } = this.#options;
    transport.onMessage = (message) => this.#receive(message);
    transport.onEnd = () => this.#lost();
    this.#ring = setTimeout(() => this.end('no_answer'), ringMs);
    this.#sendInvite();
  }

  /** Ends the call as far as this side can; `onEnd` tells when it has. */
  end(as: CallEnd = 'cancelled'): void {
    if (this.#isOver || this.#wanted !== undefined) return;
    this.#wanted = as;
    if (this.#dialog !== undefined) {
      this.#bye(this.#dialog);
      return;
    }
    if (this.#isProvisional) this.#cancel();
    // A CANCEL may not go before a provisional answer (section 9.1): it goes when one comes after all.
    else this.#over(as);
  }

  /** Nothing is waited for any more. */
  abandon(): void {
    this.#over(this.#wanted ?? 'failed');
    this.#gone();
  }

  #sendInvite(): void {
    const { offer } = this.#options;
    const branch = newBranch();
    this.#inviteMessage = { branch, cseq: this.#cseq };
    this.#isProvisional = false;
    const message = this.#request('INVITE', { branch, cseq: this.#cseq, uri: this.#uri, to: this.#to, body: offer });
    this.#invite = this.#repeat('INVITE', branch, message, () => this.#inviteTimedOut());
  }

  #request(
    method: string,
    about: { branch: string; cseq: number; uri: string; to: string; routes?: readonly string[]; body?: string },
  ): Buffer {
    const { transport, user } = this.#options;
    const { branch, cseq, uri, to, routes = [], body = '' } = about;
    const own = `${transport.host.includes(':') ? `[${transport.host}]` : transport.host}:${transport.port}`;
    const authorization = this.#authorization?.method === method ? this.#authorization : undefined;
    return writeSip(
      `${method} ${uri} SIP/2.0`,
      [
        ['Via', `SIP/2.0/${transport.name.toUpperCase()} ${own};branch=${branch};rport`],
        ['Max-Forwards', '70'],
        ...routes.map((route) => ['Route', route] as const),
        ['From', this.#from],
        ['To', to],
        ['Call-ID', this.#callId],
        ['CSeq', `${cseq} ${method}`],
        ...(authorization === undefined ? [] : [[authorization.name, authorization.value] as const]),
        ...(method === 'INVITE'
          ? ([
              ['Contact', `<sip:${user}@${own};transport=${transport.name}>`],
              ['Allow', ALLOW],
              ['User-Agent', 'svc'],
              ['Content-Type', 'application/sdp'],
            ] as const)
          : []),
      ],
      body,
    );
  }

  #repeat(method: string, branch: string, message: Buffer, onTimeout: () => void): Pending {
    const { transport } = this.#options;
    const pending: Pending = {
      method,
      branch,
      message,
      timer: undefined,
      intervalMs: T1_MS,
      deadline: setTimeout(() => {
        this.#settle(pending);
        onTimeout();
      }, TRANSACTION_MS),
    };
    const again = (): void => {
      pending.timer = setTimeout(() => {
        transport.send(message);
        pending.intervalMs = method === 'INVITE' ? pending.intervalMs * 2 : Math.min(T2_MS, pending.intervalMs * 2);
        again();
      }, pending.intervalMs);
    };
    transport.send(message);
    if (!transport.isReliable) again();
    return pending;
  }

  #settle(pending: Pending | undefined): void {
    clearTimeout(pending?.timer);
    clearTimeout(pending?.deadline);
    this.#others = this.#others.filter((other) => other !== pending);
  }

  #receive(message: SipMessage): void {
    if (headerOf(message, 'Call-ID') !== this.#callId) {
      this.#refuseForeign(message);
      return;
    }
    if (statusOf(message) === 0) {
      this.#asked(message);
      return;
    }
    if (methodOf(message) === 'INVITE') {
      this.#invited(message);
      return;
    }
    const branch = parameterOf(headerOf(message, 'Via') ?? '', 'branch');
    const pending = this.#others.find((other) => other.branch === branch && other.method === methodOf(message));
    if (pending === undefined || statusOf(message) < 200) return;
    this.#settle(pending);
    if (pending.method === 'BYE') this.#byeAnswered(message);
  }

  /** A response to the INVITE. */
  #invited(message: SipMessage): void {
    const status = statusOf(message);
    if (status >= 200 && status < 300) {
      this.#accepted(message);
      return;
    }
    const { branch, cseq } = this.#inviteMessage;
    const isCurrent = parameterOf(headerOf(message, 'Via') ?? '', 'branch') === branch && cseqOf(message)[0] === cseq;
    if (status < 200) {
      if (!isCurrent) return;
      if (this.#isOver) {
        if (this.#wanted !== undefined) this.#cancel();
        return;
      }
      clearTimeout(this.#invite?.timer);
      // From here on it rings as long as it may: the limit is ours.
      if (!this.#isCancelled) clearTimeout(this.#invite?.deadline);
      this.#isProvisional = true;
      if (this.#wanted !== undefined) this.#cancel();
      else if (status > 100) this.#options.onRinging();
      return;
    }
    if (!isCurrent) return;
    // Also for a repetition, which says that the first ACK was lost.
    const to = headerOf(message, 'To') ?? this.#to;
    this.#options.transport.send(this.#request('ACK', { branch, cseq, uri: this.#uri, to }));
    if (this.#isOver || this.#dialog !== undefined) return;
    this.#settle(this.#invite);
    if ((status === 401 || status === 407) && this.#wanted === undefined && this.#authorize(message, 'INVITE', this.#uri)) {
      this.#cseq += 1;
      this.#sendInvite();
      return;
    }
    this.#status = status;
    this.#over(this.#wanted ?? ENDS[status] ?? 'failed');
  }

  /** True: it is a challenge that was not answered yet. */
  #authorize(message: SipMessage, method: string, uri: string): boolean {
    const { user, password } = this.#options;
    const isProxy = statusOf(message) === 407;
    const challenges = message.headers
      .filter(([name]) => name.toLowerCase() === (isProxy ? 'proxy-authenticate' : 'www-authenticate'))
      .map(([, value]) => value);
    const isStale = challenges.some((challenge) => /stale\s*=\s*"?true/i.test(challenge));
    if (this.#authorization !== undefined && !isStale && method === 'INVITE') return false;
    const answer = answerChallenge(challenges, { method, uri, user, password });
    if (answer === undefined) return false;
    this.#authorization = { method, name: isProxy ? 'Proxy-Authorization' : 'Authorization', value: answer };
    return true;
  }

  #accepted(message: SipMessage): void {
    const tag = parameterOf(headerOf(message, 'To') ?? '', 'tag');
    const known = parameterOf(this.#dialog?.to ?? '', 'tag') === tag ? this.#dialog : this.#forks.get(tag);
    // A repetition says that the ACK was lost.
    if (known !== undefined) {
      this.#options.transport.send(known.ack);
      return;
    }
    if (this.#forks.size >= MOST_FORKS) return;
    const dialog = this.#dialogOf(message);
    this.#options.transport.send(dialog.ack);
    if (this.#dialog !== undefined || this.#isOver) {
      this.#forks.set(tag, dialog);
      this.#bye(dialog);
      return;
    }
    clearTimeout(this.#ring);
    this.#settle(this.#invite);
    this.#dialog = dialog;
    this.#status = statusOf(message);
    // It crossed the CANCEL: there is a call, which ends as any other.
    if (this.#wanted !== undefined) {
      this.#bye(dialog);
      return;
    }
    try {
      this.#options.onAnswer(message.body);
    } catch {
      this.end('failed');
    }
  }

  #dialogOf(message: SipMessage): Dialog {
    const to = headerOf(message, 'To') ?? this.#to;
    const target = uriOf(valuesOf(message, 'Contact')[0] ?? `<${this.#uri}>`);
    const routes = valuesOf(message, 'Record-Route').toReversed();
    const [cseq] = cseqOf(message);
    // The ACK of a 200 is a transaction of its own (section 13.2.2.4).
    const ack = this.#request('ACK', { branch: newBranch(), cseq, ...requestLine(target, routes), to });
    return { to, target, routes, ack };
  }

  #cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    const { branch, cseq } = this.#inviteMessage;
    const message = this.#request('CANCEL', { branch, cseq, uri: this.#uri, to: this.#to });
    // Where the INVITE has no final answer in time, nobody waits for one any more (section 9.1).
    this.#others.push(this.#repeat('CANCEL', branch, message, () => this.#over(this.#wanted ?? 'cancelled')));
    clearTimeout(this.#invite?.deadline);
    if (this.#invite !== undefined && !this.#isOver)
      this.#invite.deadline = setTimeout(() => this.#over(this.#wanted ?? 'cancelled'), TRANSACTION_MS);
  }

  #bye({ to, target, routes }: Dialog): void {
    this.#cseq += 1;
    const branch = newBranch();
    const message = this.#request('BYE', { branch, cseq: this.#cseq, ...requestLine(target, routes), to });
    this.#others.push(this.#repeat('BYE', branch, message, () => this.#over(this.#wanted ?? 'completed')));
  }

  #byeAnswered(message: SipMessage): void {
    const status = statusOf(message);
    const isAsked = (status === 401 || status === 407) && this.#dialog !== undefined && !this.#isOver;
    if (isAsked && !this.#wasByeAuthorized && this.#authorize(message, 'BYE', this.#dialog?.target ?? '')) {
      this.#wasByeAuthorized = true;
      this.#bye(this.#dialog as Dialog);
      return;
    }
    this.#over(this.#wanted ?? 'completed');
  }

  /** A request of the other side. */
  #asked(message: SipMessage): void {
    const method = methodOf(message);
    if (method === 'ACK') return;
    const key = `${headerOf(message, 'CSeq')} ${parameterOf(headerOf(message, 'Via') ?? '', 'branch')}`;
    const before = this.#answered.get(key);
    if (before !== undefined) {
      this.#options.transport.send(before);
      return;
    }
    const tag = parameterOf(headerOf(message, 'From') ?? '', 'tag');
    const isOurs = parameterOf(this.#dialog?.to ?? '', 'tag') === tag || this.#forks.has(tag);
    const status = isOurs ? statusFor(method) : '481 Call/Transaction Does Not Exist';
    const answer = answerTo(message, status);
    const [oldest] = this.#answered.keys();
    if (oldest !== undefined && this.#answered.size >= MOST_ANSWERED) this.#answered.delete(oldest);
    this.#answered.set(key, answer);
    this.#options.transport.send(answer);
    const isMain = isOurs && !this.#forks.has(tag);
    if (method !== 'BYE' || !isMain) return;
    // Where both hang up at once, each BYE is answered, and either ends the call.
    this.#over(this.#wanted ?? 'completed');
  }

  /** Answers a request that belongs to no call of this connection. */
  #refuseForeign(message: SipMessage): void {
    if (statusOf(message) !== 0 || methodOf(message) === 'ACK') return;
    const status = methodOf(message) === 'OPTIONS' ? '200 OK' : '481 Call/Transaction Does Not Exist';
    this.#options.transport.send(answerTo(message, status));
  }

  #inviteTimedOut(): void {
    if (this.#isProvisional) return;
    this.#over(this.#wanted ?? 'no_answer');
  }

  #lost(): void {
    this.#over(this.#dialog === undefined ? (this.#wanted ?? 'failed') : 'completed');
    this.#gone();
  }

  /** The call has its end. What may still come is answered for as long as the other side may repeat it. */
  #over(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#ring);
    this.#settle(this.#invite);
    this.#linger = setTimeout(() => this.#gone(), TRANSACTION_MS);
    this.#linger.unref();
    this.#options.onEnd(end, this.#status);
  }

  #gone(): void {
    if (this.#linger === undefined) return;
    clearTimeout(this.#linger);
    this.#linger = undefined;
    for (const pending of [this.#invite, ...this.#others]) this.#settle(pending);
    this.#options.transport.close();
    this.#options.onGone();
  }
}

function newBranch(): string {
  return `z9hG4bK${randomBytes(8).toString('hex')}`;
}

/** A strict router wants its own address as the request's, and the target as the last route (section 12.2.1.1). */
function requestLine(target: string, routes: readonly string[]): { uri: string; routes: readonly string[] } {
  const [first, ...rest] = routes;
  if (first === undefined || /;\s*lr\b/i.test(first)) return { uri: target, routes };
  return { uri: uriOf(first), routes: [...rest, `<${target}>`] };
}

/** Voices stay as they were agreed: what would change them is refused, and the call goes on. */
function statusFor(method: string): string {
  if (method === 'BYE' || method === 'OPTIONS' || method === 'INFO') return '200 OK';
  return method === 'INVITE' || method === 'UPDATE' ? '488 Not Acceptable Here' : '405 Method Not Allowed';
}

function answerTo(message: SipMessage, status: string): Buffer {
  const copied = message.headers.filter(([name]) => /^(via|from|to|call-id|cseq|record-route)$/i.test(name));
  return writeSip(`SIP/2.0 ${status}`, [...copied, ['Allow', ALLOW]]);
}
