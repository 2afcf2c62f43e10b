/** Kinds of files that are kept and not indexed, each with the sentence that says so. */
import { STORED_DETAILS } from '../../extraction/extraction-result.ts';

const MEDIA =
  'is stored and not indexed: nobody speaks in it, or this node had no speech model (`svc models pull whisper-base`). `svc kb rebuild` hears it then; or add a transcript as a document of its own.';

const details: Readonly<Record<string, string>> = {
  rtf: STORED_DETAILS.rtf,
  image: STORED_DETAILS.image_without_text,
  audio: `Audio ${MEDIA}`,
  video: `Video ${MEDIA}`,
};

/** Recordings in which nobody was heard: since nobody speaks, or since nothing could hear. */
export const UNHEARD_KINDS: readonly string[] = ['audio', 'video'];
export const STORED_KINDS: readonly string[] = Object.keys(details);

export function isStoredKind(kind: string): boolean {
  return Object.hasOwn(details, kind);
}

/** Tells the state of documents of this kind, as answers show it. */
export function stateOf(kind: string): { state: 'indexed' | 'stored'; detail?: string } {
  const detail = isStoredKind(kind) ? details[kind] : undefined;
  return detail === undefined ? { state: 'indexed' } : { state: 'stored', detail };
}

/** Tells what of the file was not read, as answers show it: left out where nothing was. */
export function warningsOf(warnings: readonly string[] = []): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}
