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
  /** Present where the voice is made of files. */
  files?: VoiceFiles;
}

export type VoiceEngineName = 'espeak-ng' | 'flite' | 'gguf';

/** Absolute paths inside of the folder of voices. */
export interface VoiceFiles {
  model: string;
  projector: string;
  /** A recording of whoever it shall sound like. */
  sample?: string;
  /** The same text is spoken the same way. */
  seed: number;
}

/** The members of a voice that its engine knows. */
export type VoiceMaking = Omit<Voice, 'id' | 'name' | 'language'>;

/** A file of the folder says this of a voice's making. */
export interface DescribedVoice {
  language: string;
  model: string;
  mmproj?: string;
  sample?: string;
  seed?: number;
}

/** One channel of 16 bits. */
export interface SpokenPiece {
  rate: number;
  samples: Int16Array;
}

export interface SpeakingOptions {
  /** 1: as the voice was made; 2: twice as fast. */
  speed: number;
  signal: AbortSignal;
  tenant: string;
  /** Nobody waits for it: others' work goes first. */
  isBackground: boolean;
}

export interface VoiceEngine {
  readonly name: VoiceEngineName;
  /** Empty where the engine is not installed. */
  voices(): Promise<Voice[]>;
  /** Completes a voice that a file describes. Throws an Error whose message says what is amiss with the file. */
  describe(folder: string, described: DescribedVoice): Promise<VoiceMaking>;
  /** One sentence of plain text, piece by piece as it is made. Throws an Error whose message goes to the log alone. */
  speak(voice: Voice, text: string, options: SpeakingOptions): AsyncGenerator<SpokenPiece>;
}

/** No model can be taken for an option, or for a path. */
const MODEL = /^[a-z0-9]+(?:[-_+][a-z0-9]+)*$/i;

/** A described voice of an engine that the machine has installed, and that has models of its own. Throws an Error that says what is amiss. */
export async function installedVoice(
  engine: VoiceEngine,
  { model, language: _language, ...others }: DescribedVoice,
): Promise<VoiceMaking> {
  const [base] = await engine.voices();
  if (base === undefined) throw new Error(`no engine ${engine.name} is installed`);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new Error(`voices of ${engine.name} have no ${other}`);
  if (!MODEL.test(model)) throw new Error(`${engine.name} has no model ${model}`);
  return { engine: engine.name, model, sampleRate: base.sampleRate, license: base.license };
}
