/** A voice, and the port of the engines that have some. */

export interface Voice {
  id: string;
  name: string;
  /** BCP 47, for example `de` or `en-gb`. */
  language: string;
  engine: VoiceEngineName;
  /** The name that the engine has for it. */
  model: string;
  /** The engine's own rate; answers have SPEECH_RATE. */
  sampleRate: number;
  license: string;
}

export type VoiceEngineName = 'espeak-ng' | 'flite';

/** One channel of 16 bits. */
export interface SpokenPiece {
  rate: number;
  samples: Int16Array;
}

export interface SpeakingOptions {
  /** 1: as the voice was made; 2: twice as fast. */
  speed: number;
  signal: AbortSignal;
}

export interface VoiceEngine {
  readonly name: VoiceEngineName;
  /** Empty where the engine is not installed. */
  voices(): Promise<Voice[]>;
  /** One sentence of plain text, piece by piece as it is made. Throws an Error whose message goes to the log alone. */
  speak(model: string, text: string, options: SpeakingOptions): AsyncGenerator<SpokenPiece>;
}
