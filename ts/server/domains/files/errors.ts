/** Every refusal of the module, with the status that routes answer for it. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const fileErrors = defineErrors('files', {
  invalid_request: [
    400,
    'A member or header of the request is missing, of the wrong type or out of range; the sentence names it.',
    'Correct that member or header.',
  ],
  chunk_size_mismatch: [
    400,
    'The chunk has another length than `chunk_size`, or than what is left for the last one.',
    'Send chunks of `chunk_size` bytes, and what is left as the last one.',
  ],
  invalid_media: [
    400,
    'The file is neither a recording nor a film; the sentence says why.',
    'Send WAV, MP3, FLAC, Ogg, MP4, WebM, AIFF or AAC.',
  ],
  forbidden: [403, 'The request names another tenant than the caller’s own.', 'Name your own tenant.'],
  upload_not_found: [
    404,
    'The caller has no upload of this id: it was cancelled, has expired or never was.',
    'Begin the upload again.',
  ],
  upload_incomplete: [409, 'Chunks are missing; `missing` lists the first of them.', 'Send those, then finalize it again.'],
  upload_busy: [409, 'Another request sends this chunk, or finalizes this upload, at this moment.', 'Retry after it.'],
  upload_finished: [409, 'The upload is complete and takes no more chunks.', 'Begin another upload.'],
  upload_offset_mismatch: [409, 'The upload is at another offset.', 'Ask for it with HEAD.'],
  chunk_conflict: [409, 'Other bytes were received for this chunk before.', 'Cancel the upload, and start it anew.'],
  file_elsewhere: [409, 'The bytes of the file lie on another node, which does not share them.', 'Ask there.'],
  upload_elsewhere: [409, 'The bytes of this upload lie on another node.', 'Send it there.'],
  tus_version_unsupported: [412, 'The request names no version of tus that is served.', 'Send `Tus-Resumable: 1.0.0`.'],
  upload_too_large: [413, 'The file is larger than a file may be.', 'Split the file, or have the limit raised.'],
  unsupported_media_type: [
    415,
    'The bytes have another type than tus sends.',
    'Send `Content-Type: application/offset+octet-stream`.',
  ],
  checksum_mismatch: [422, 'The bytes have another checksum than was sent with them.', 'Send them again.'],
  upload_locked: [423, 'Another request appends to this upload at this moment.', 'Retry after it.'],
  tus_checksum_mismatch: [
    460,
    'The bytes have another checksum than was sent with them, and were thrown away.',
    'Send them again.',
  ],
  upload_quota_exceeded: [
    429,
    'The tenant’s files and uploads would take more space than it has.',
    'Delete documents or cancel uploads.',
  ],
  too_many_uploads: [429, 'The tenant has as many open uploads as it may have.', 'Finalize or cancel some.'],
  queue_full: [429, 'Too many documents of the tenant wait to be indexed.', 'Retry later.'],
  ffmpeg_missing: [
    503,
    'The node has no ffmpeg, which reads what is neither WAV nor MP3.',
    'Have an administrator install it; the sentence has the command.',
  ],
  media_unavailable: [503, 'No module of this node reads recordings.', 'Have an administrator switch the role media on.'],
  disk_full: [507, 'The disk of the server is full.', 'An administrator has to make space.'],
  storage_unavailable: [503, 'The database does not take the request now.', 'Retry after the time in Retry-After.'],
});

type UploadErrorCode = CodeOf<typeof fileErrors>;

export const uploadError = fileErrors.error;

export function uploadNotFound(): DomainError<UploadErrorCode> {
  return uploadError('upload_not_found', 'You have no upload of this id; it may have expired.');
}
