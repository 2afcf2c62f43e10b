/** Hears stored recordings and films by the module media, where it runs. */
import { JobFailedError } from '../../../platform/jobs/index.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { BlobStore } from '../../files/index.ts';
import { type BackgroundHearing, mediaErrors, type SaidPiece } from '../../media/index.ts';

export interface Hearing {
  /** The account that the seconds count for. */
  owner: string | undefined;
  signal: AbortSignal;
  onSeconds(done: number): void;
}

export interface Recordings {
  canHear(): Promise<boolean>;
  /** Undefined: nothing here hears it, or it has no sound. Throws JobFailedError for what is no recording. */
  hear(scope: TenantScope, sha256: string, hearing: Hearing): Promise<readonly SaidPiece[] | undefined>;
}

/** They say that nobody hears here; the file stays without text. */
const DEAF = ['no_speech_model', 'no_audio_track', 'ffmpeg_missing', 'speech_model_unusable'];
/** Another attempt would not change them. */
const FINAL = ['invalid_media', 'media_too_long'];

export function recordingsOf(hearing: () => BackgroundHearing | undefined, blobs: BlobStore): Recordings {
  return {
    canHear: async () => (await hearing()?.canHear()) === true,
    hear: async (scope, sha256, { owner, signal, onSeconds }) => {
      const media = hearing();
      if (media === undefined) return undefined;
      try {
        const path = await blobs.open(scope, sha256);
        const folder = blobs.derivedFolder(scope, sha256);
        return await media.hear({ tenant: scope.tenant, user: owner, key: undefined }, path, { folder, signal, onSeconds });
      } catch (error) {
        if (!mediaErrors.has(error)) throw error;
        if (DEAF.includes(error.code)) return undefined;
        if (FINAL.includes(error.code))
          throw new JobFailedError(error.code, error.message, mediaErrors.rows[error.code][2], error);
        throw error;
      }
    },
  };
}
