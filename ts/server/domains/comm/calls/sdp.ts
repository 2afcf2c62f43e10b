/** Two sides agree about the voice of a call: an offer of both laws and of keys, and the answer to it (RFC 3264, RFC 4566). */
import { isIP } from 'node:net';
import { type Codec, PCMA, PCMU } from './g711.ts';

export interface VoiceAddress {
  readonly host: string;
  readonly port: number;
}

export interface VoiceAnswer extends VoiceAddress {
  readonly codec: Codec;
  /** The payload type of keys (RFC 4733); undefined: the other side sends none. */
  readonly keysType: number | undefined;
}

const KEYS_TYPE = 101;

export function voiceOffer({ host, port }: VoiceAddress, session: number): string {
  const family = isIP(host) === 6 ? 'IP6' : 'IP4';
  return [
    'v=0',
    `o=- ${session} 1 IN ${family} ${host}`,
    's=svc',
    `c=IN ${family} ${host}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${PCMU} ${PCMA} ${KEYS_TYPE}`,
    `a=rtpmap:${PCMU} PCMU/8000`,
    `a=rtpmap:${PCMA} PCMA/8000`,
    `a=rtpmap:${KEYS_TYPE} telephone-event/8000`,
    `a=fmtp:${KEYS_TYPE} 0-15`,
    'a=ptime:20',
    'a=sendrecv',
    '',
  ].join('\r\n');
}

/** Undefined: there is no voice in it that both speak. */
export function readVoiceAnswer(sdp: string): VoiceAnswer | undefined {
  const lines = sdp.split(/\r?\n/);
  const first = lines.findIndex((line) => line.startsWith('m='));
  if (first < 0) return undefined;
  const next = lines.findIndex((line, at) => at > first && line.startsWith('m='));
  const media = lines.slice(first, next < 0 ? undefined : next);
  const [, port = '0', types = ''] = /^m=audio (\d{1,5})(?:\/\d+)? RTP\/AVPF? ([\d ]+)$/.exec((media[0] ?? '').trim()) ?? [];
  const at = [...media, ...lines.slice(0, first)].map((line) => /^c=IN IP[46] ([^\s/]+)/.exec(line)?.[1]);
  const host = at.find((found) => found !== undefined) ?? '';
  const offered = types.split(' ').map(Number);
  const codec = offered.find((type): type is Codec => type === PCMU || type === PCMA);
  if (codec === undefined || Number(port) === 0 || Number(port) > 65_535 || isIP(host) === 0) return undefined;
  const keys = media
    .map((line) => /^a=rtpmap:(\d{1,3}) telephone-event\/8000/i.exec(line)?.[1])
    .find((found) => found !== undefined);
  return { host, port: Number(port), codec, keysType: keys === undefined ? undefined : Number(keys) };
}
