/** The bytes of a recording or film that became a document: browsers play them from any place on (ranges, RFC 9110 section 14). */
import { open } from 'node:fs/promises';
import Type from 'typebox';
import { fileKindOf, HEAD_BYTES } from '../../../extraction/file-kind.ts';
import type { Reply } from '../../../platform/http/route.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { BlobStore } from '../../files/index.ts';
import { knowledgeError } from '../errors.ts';
import type { StoredDocument } from '../knowledge-base.ts';

export const RecordingBytes = { 200: Type.Unsafe<never>({ type: 'string', format: 'binary' }) };

/** Opens the recording of a document. Throws KnowledgeError `document_not_found` for another one, and DomainError `file_elsewhere`. */
export async function recordingReply(
  blobs: Pick<BlobStore, 'open'>,
  scope: TenantScope,
  { kind, sha256 }: StoredDocument,
): Promise<Reply> {
  if (!/^(audio|video)(-transcript)?$/.test(kind))
    throw knowledgeError('document_not_found', 'The document is no recording and no film.');
  const file = await open(await blobs.open(scope, sha256));
  try {
    const head = fileKindOf((await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)).buffer);
    const headers = {
      'content-type': head.kind === 'media' ? head.mediaType : 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
    };
    return { kind: 'file', headers, file, etag: `"${sha256}"` };
  } catch (error) {
    await file.close();
    throw error;
  }
}
