/** Recordings that become text, of a model that says the same in each window and computes what one of its shape does. */
export type SpeechLoad = { kind: 'speech' } & SpeechTask;

export type SpeechTask =
  /** So many recordings at once, each so long. */
  | { task: 'files'; files: number; seconds: number }
  /** A short recording by itself, and behind a long one that has begun. */
  | { task: 'behind'; shortSeconds: number; longSeconds: number }
  /** A chat stream by itself, and beside recordings. */
  | { task: 'chat'; files: number; tokens: number }
  /** Clients that go away in the middle. */
  | { task: 'cancel'; times: number }
  /** Memory after a few recordings, and after many. */
  | { task: 'many'; few: number; many: number }
  /** Memory beside a minute, and beside hours. */
  | { task: 'long'; hours: number };

export type SpeechSide = 'svc' | 'whisper-server';

/** The job of a client's process. */
export interface SpeechJob {
  side: SpeechSide;
  url: string;
  pid: number;
  load: SpeechLoad;
  seed: number;
}

/** Models by what they are for: speed is measured with whisper's tiny, memory with one that takes a moment. */
export const SPEECH_MODELS = { speed: 'speech-speed', memory: 'speech-memory' } as const;
