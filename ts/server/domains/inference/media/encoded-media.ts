/** Images and sounds as a request brings them, and as the engine takes them. */
import type { QueuedBytes } from '../../../native/llama-shapes.ts';

export type EncodedMedia = EncodedImage | EncodedSound;

interface Encoded {
  bytes: Uint8Array | QueuedBytes;
  /** The member of the request, for refusals. */
  param: string;
}

export interface EncodedImage extends Encoded {
  kind: 'image';
  /** The size as its header says; an image that turns out larger is not decoded. */
  width: number;
  height: number;
}

export interface EncodedSound extends Encoded {
  kind: 'audio';
  format: SoundFormat;
}

export const soundFormats = ['wav', 'mp3'] as const;
export type SoundFormat = (typeof soundFormats)[number];

/** The media that the projector of a model makes use of. */
export interface ProjectorInput {
  /** Larger images are made smaller, with their proportions; 0: it sees nothing. */
  imagePixels: number;
  /** Samples a second; 0: it hears nothing. */
  soundRate: number;
}
