/** Settings of uploads, which the module adds to its own. */
import Type from 'typebox';
import { integerSchema, setting } from '../../../platform/config/setting.ts';
import type { UploadLimits } from './upload-service.ts';

const GIB = 1024 ** 3;
const HOUR_MS = 3_600_000;

export const uploadSettings = {
  'data.shared_files': setting(
    Type.Boolean(),
    true,
    'On PostgreSQL, keep the bytes of files in the database too, so that every node has them; false where one node alone uses it.',
  ),
  'data.max_file_bytes': setting(integerSchema(1, 1024 * GIB), 2 * GIB, 'Bytes of one uploaded file.'),
  'data.tenant_file_bytes': setting(
    integerSchema(1, Number.MAX_SAFE_INTEGER),
    50 * GIB,
    'Bytes that the files and open uploads of one tenant may take together.',
  ),
  'data.account_conversation_bytes': setting(
    integerSchema(1, Number.MAX_SAFE_INTEGER),
    2 * GIB,
    'Bytes that the files of all conversations of one account may take together; they count for data.tenant_file_bytes too.',
  ),
  'data.tenant_uploads': setting(integerSchema(1, 100_000), 1_000, 'Uploads that one tenant may have open at a time.'),
  'data.upload_hours': setting(
    integerSchema(1, 8_760),
    24,
    'Hours without a byte after which an upload that is not complete is removed.',
  ),
} as const;

type Numbers = Exclude<keyof typeof uploadSettings, 'data.shared_files' | 'data.account_conversation_bytes'>;

export function uploadLimits(settings: Readonly<Record<Numbers, number>>): UploadLimits {
  return {
    maxFileBytes: settings['data.max_file_bytes'],
    maxTenantBytes: settings['data.tenant_file_bytes'],
    maxOpenUploads: settings['data.tenant_uploads'],
    expiryMs: settings['data.upload_hours'] * HOUR_MS,
  };
}
