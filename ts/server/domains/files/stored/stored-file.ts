/** A file that was stored by OpenAI's routes. */
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';

export const PURPOSES = ['assistants', 'user_data', 'media'] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface StoredFile {
  readonly id: string;
  /** Of the uploader. */
  readonly subject: string;
  /** Id of the credential that it was stored with; undefined: the caller had none, or nobody noted it. */
  readonly credential: string | undefined;
  readonly fileName: string;
  readonly purpose: Purpose;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Milliseconds since 1970, as expiresAt. */
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

const FILE_ID = /^file-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** Later ones are greater. */
export function newFileId(): string {
  return fileIdOf(newTimeOrderedId());
}

export function fileIdOf(timeOrderedId: string): string {
  return `file-${timeOrderedId.replaceAll('-', '')}`;
}

/** Of the document that has no file of its own and goes by this id; undefined: the text is no id. */
export function documentIdOf(fileId: string): string | undefined {
  const parts = FILE_ID.exec(fileId)?.slice(1);
  return parts?.join('-');
}
