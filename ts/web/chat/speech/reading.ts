/** Reads an answer aloud: the first sentence is heard while the node speaks the next ones. */
import { signal } from '@preact/signals';
import { Refusal } from '../../../client/refusal.ts';
import { type Answer, call, request } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { language, t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { spokenPieces } from './spoken-text.ts';

type Voice = Answer<'GET /api/v1/tts/voices'>['voices'][number];

interface Reading {
  messageId: string;
  isPaused: boolean;
  /** The number of the piece, from 1. */
  piece: number;
  nPieces: number;
}

export const SPEEDS = [0.75, 1, 1.25, 1.5, 2] as const;
const STORED_AT = 'svc.reading-speed';

export const reading = signal<Reading | undefined>(undefined);
export const speed = signal(storedSpeed());

let player: Player | undefined;
let voices: Promise<readonly Voice[]> | undefined;

function storedSpeed(): number {
  const stored = Number(localStorage.getItem(STORED_AT));
  return SPEEDS.find((each) => each === stored) ?? 1;
}

/** Ends what was being read. */
export async function readAloud(messageId: string): Promise<void> {
  stopReading();
  const prose = document.querySelector(`#m-${CSS.escape(messageId)} .prose`);
  const pieces = prose === null ? [] : spokenPieces(prose, language());
  if (pieces.length === 0) return showToast(t('nothing_to_read'));
  reading.value = { messageId, isPaused: false, piece: 1, nPieces: pieces.length };
  const own = new Player(pieces);
  player = own;
  try {
    await own.play();
  } catch (error) {
    if (!own.isStopped) showToast(isSilent(error) ? t('no_voices') : explain(error));
  } finally {
    if (player === own) stopReading();
  }
}

function isSilent(error: unknown): boolean {
  return error instanceof Refusal && ['no_voice', 'module_unavailable'].includes(error.code ?? '');
}

export function stopReading(): void {
  player?.stop();
  player = undefined;
  reading.value = undefined;
}

export function togglePause(): void {
  if (reading.value === undefined) return;
  reading.value = { ...reading.value, isPaused: !reading.value.isPaused };
  player?.setPaused(reading.value.isPaused);
}

export function skipPiece(): void {
  player?.skip();
}

export function setSpeed(value: number): void {
  speed.value = value;
  localStorage.setItem(STORED_AT, String(value));
  player?.setSpeed(value);
}

/** Speaks pieces one after the other, and fetches the next one meanwhile. */
class Player {
  readonly #pieces: readonly string[];
  readonly #audio = new Audio();
  readonly #stopping = new AbortController();
  #isPaused = false;
  /** Ends the piece that is heard. */
  #finish: () => void = () => undefined;

  constructor(pieces: readonly string[]) {
    this.#pieces = pieces;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves at the end, or once it is stopped. Throws Refusal. */
  async play(): Promise<void> {
    let next = this.#fetch(0);
    for (let i = 0; i < this.#pieces.length && !this.isStopped; i++) {
      const sound = await next;
      next = this.#fetch(i + 1);
      // It is waited for in the next turn, which does not come where the reader stops.
      next.catch(() => undefined);
      if (reading.value !== undefined) reading.value = { ...reading.value, piece: i + 1 };
      if (sound !== undefined && !this.isStopped) await this.#speak(sound);
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#finish();
  }

  skip(): void {
    this.#finish();
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#audio.pause();
    else this.#start();
  }

  setSpeed(value: number): void {
    this.#audio.playbackRate = value;
  }

  async #speak(sound: Blob): Promise<void> {
    const address = URL.createObjectURL(sound);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#finish = resolve;
        this.#audio.onended = () => resolve();
        this.#audio.onerror = () => reject(new Error(t('cannot_play')));
        this.#audio.src = address;
        this.#audio.playbackRate = speed.value;
        if (!this.#isPaused) this.#start();
      });
    } finally {
      this.#audio.onerror = null;
      this.#audio.pause();
      URL.revokeObjectURL(address);
    }
  }

  /** A pause that comes before the sound does is no failure, and what cannot be played is told by its own event. */
  #start(): void {
    this.#audio.play().catch(() => undefined);
  }

  /** WAV, which needs no ffmpeg on the node. Undefined behind the last piece. */
  async #fetch(i: number): Promise<Blob | undefined> {
    const text = this.#pieces[i];
    if (text === undefined) return undefined;
    const { signal: stopping } = this.#stopping;
    const spoken = await voiceLanguage();
    const body = { text, format: 'wav' as const, language: spoken };
    return await (await request('POST /api/v1/tts/synthesize', { body, signal: stopping })).blob();
  }
}

/** The language of the page where a voice speaks it; undefined: the default voice. */
async function voiceLanguage(): Promise<string | undefined> {
  voices ??= call('GET /api/v1/tts/voices').then(({ voices: found }) => found);
  // What failed is asked again by the next reading.
  voices.catch(() => {
    voices = undefined;
  });
  const own = language();
  return (await voices).some(({ language: spoken }) => spoken.split('-')[0] === own) ? own : undefined;
}
