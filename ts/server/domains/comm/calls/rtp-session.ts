/** The voice of a call: packets of 20 ms in both directions, symmetric (RFC 4961), and keys that the other side presses (RFC 4733). */
import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { decodeG711, encodeG711 } from './g711.ts';
import type { VoiceAddress, VoiceAnswer } from './sdp.ts';

export const CALL_RATE = 8_000;
const PACKET_SAMPLES = 160;
const PACKET_MS = 20;
const HEAD_BYTES = 12;
const KEYS = '0123456789*#ABCD';
/** A packet that comes further from the last packet than that is a new beginning, and no gap. */
const MAX_GAP_SAMPLES = 10 * CALL_RATE;

interface RtpOptions {
  /** The address is this side's. */
  readonly host: string;
  readonly ports: readonly [first: number, last: number];
  readonly now: () => number;
}

export class RtpSession {
  readonly address: VoiceAddress;
  readonly #socket: Socket;
  readonly #now: () => number;
  readonly #ssrc = randomBytes(4).readUInt32BE();
  #sequence = randomInt(0x8000);
  #timestamp = randomInt(0x8000_0000);
  #answer: VoiceAnswer | undefined;
  /** Packets came from there: a translator of addresses may have changed what the answer says. */
  #source: VoiceAddress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nSent = 0;
  #playing: { samples: Int16Array; at: number; done: () => void } | undefined;
  #lastKeyAt: number | undefined;
  #recorded: Int16Array[] | undefined;
  #nRecorded = 0;
  #nMostRecorded = 0;
  #recordedTo: number | undefined;
  onKey: (key: string) => void = () => undefined;

  private constructor(socket: Socket, address: VoiceAddress, now: () => number) {
    this.#socket = socket;
    this.address = address;
    this.#now = now;
    socket.on('error', () => undefined).on('message', (packet, from) => this.#hear(packet, from));
  }

  /** Takes an even port of the range that is free. Throws where there is none. */
  static async open({ host, ports: [first, last], now }: RtpOptions): Promise<RtpSession> {
    const even = Array.from(
      { length: Math.floor(last / 2) - Math.ceil(first / 2) + 1 },
      (_, i) => 2 * (Math.ceil(first / 2) + i),
    );
    const start = randomInt(Math.max(1, even.length));
    for (const port of [...even.slice(start), ...even.slice(0, start)]) {
      const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
      socket.bind(port, host);
      const isBound = await once(socket, 'listening').then(
        () => true,
        () => false,
      );
      if (isBound) return new RtpSession(socket, { host, port }, now);
      socket.close();
    }
    throw new Error('no port of audio_port_range is free');
  }

  /** Sends from now on: silence, where nothing is played. */
  begin(answer: VoiceAnswer): void {
    this.#answer = answer;
    const startedAt = this.#now();
    this.#timer = setInterval(() => {
      // By the clock, so that a late timer makes up for it.
      const nDue = Math.floor((this.#now() - startedAt) / PACKET_MS) + 1;
      while (this.#nSent < nDue) this.#sendNext(answer);
    }, PACKET_MS);
  }

  /** @param samples of CALL_RATE. Resolves when the last one was sent, or the session is closed. */
  play(samples: Int16Array): Promise<void> {
    this.#playing?.done();
    return new Promise((done) => {
      this.#playing = { samples, at: 0, done };
    });
  }

  /** Keeps what is heard from now on. */
  record(maxSeconds: number): void {
    this.#recorded = [];
    this.#nMostRecorded = maxSeconds * CALL_RATE;
  }

  recording(): Int16Array {
    const whole = new Int16Array(this.#nRecorded);
    let at = 0;
    for (const piece of this.#recorded ?? []) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#playing?.done();
    this.#playing = undefined;
    this.#socket.close();
  }

  #sendNext({ codec, host, port }: VoiceAnswer): void {
    const packet = new Int16Array(PACKET_SAMPLES);
    const playing = this.#playing;
    if (playing !== undefined) {
      packet.set(playing.samples.subarray(playing.at, playing.at + PACKET_SAMPLES));
      playing.at += PACKET_SAMPLES;
    }
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = 0x80;
    head[1] = codec | (this.#nSent === 0 ? 0x80 : 0);
    head.writeUInt16BE(this.#sequence, 2);
    head.writeUInt32BE(this.#timestamp, 4);
    head.writeUInt32BE(this.#ssrc, 8);
    const to = this.#source ?? { host, port };
    this.#socket.send(Buffer.concat([head, encodeG711(codec, packet)]), to.port, to.host, () => undefined);
    this.#nSent += 1;
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + PACKET_SAMPLES) >>> 0;
    if (playing !== undefined && playing.at >= playing.samples.length) {
      this.#playing = undefined;
      playing.done();
    }
  }

  #hear(packet: Buffer, from: RemoteInfo): void {
    const answer = this.#answer;
    if (answer === undefined || packet.length < HEAD_BYTES || (packet[0] ?? 0) >> 6 !== 2) return;
    // Only the host of the answer may say where it really sends from.
    if (from.address !== answer.host) return;
    this.#source ??= { host: from.address, port: from.port };
    if (from.port !== this.#source.port) return;
    const [flags = 0, second = 0] = packet;
    const type = second & 0x7f;
    let start = HEAD_BYTES + 4 * (flags & 0x0f);
    if (flags & 0x10 && packet.length >= start + 4) start += 4 + 4 * packet.readUInt16BE(start + 2);
    const padding = flags & 0x20 ? (packet.at(-1) ?? 0) : 0;
    const payload = packet.subarray(start, Math.max(start, packet.length - padding));
    const timestamp = packet.readUInt32BE(4);
    if (type === answer.keysType) this.#hearKey(payload, timestamp);
    else if (type === answer.codec) this.#keep(decodeG711(answer.codec, payload), timestamp);
  }

  /** All packets of one press have the time of its beginning. */
  #hearKey([event = 255]: Buffer, timestamp: number): void {
    const key = KEYS[event];
    if (key === undefined || timestamp === this.#lastKeyAt) return;
    this.#lastKeyAt = timestamp;
    this.onKey(key);
  }

  /** Keeps the order of time: what comes late is lost, and what is missing is silence. */
  #keep(samples: Int16Array, timestamp: number): void {
    if (this.#recorded === undefined) return;
    const gap = this.#recordedTo === undefined ? 0 : (timestamp - this.#recordedTo) | 0;
    if (gap < 0 && gap > -MAX_GAP_SAMPLES) return;
    const silence = gap > 0 && gap < MAX_GAP_SAMPLES ? gap : 0;
    this.#recordedTo = (timestamp + samples.length) >>> 0;
    for (const piece of [new Int16Array(silence), samples]) {
      const kept = piece.subarray(0, Math.max(0, this.#nMostRecorded - this.#nRecorded));
      if (kept.length > 0) this.#recorded.push(kept);
      this.#nRecorded += kept.length;
    }
  }
}
