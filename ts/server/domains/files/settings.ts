/** Settings of the module. They have the names of the one that it was in before. */
import Type from 'typebox';
import { integerSchema, type SettingValues, setting } from '../../platform/config/setting.ts';
import { hostMemory } from '../../platform/host-memory.ts';
import type { ExtractorOptions } from './reading/extractor.ts';
import type { UploadLimits } from './uploads/upload-service.ts';

const GIB = 1024 ** 3;
const HOUR_MS = 3_600_000;
/** Files that may wait to be read. */
const MAX_QUEUE = 1_000;

export const filesSettings = {
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
  'data.tenant_uploads': setting(integerSchema(1, 100_000), 1_000, 'Uploads that one tenant may have open at a time.'),
  'data.upload_hours': setting(
    integerSchema(1, 8_760),
    24,
    'Hours without a byte after which an upload that is not complete is removed.',
  ),
  'data.extraction_threads': setting(
    integerSchema(2, 64),
    2,
    'Files that are read at the same time; one tenant has all of them but one, so that a slow file does not hold up others.',
  ),
  'data.extraction_seconds': setting(
    integerSchema(1, 86_400),
    120,
    'Seconds after which a file that is still being read is refused.',
  ),
  'data.extraction_memory_mb': setting(
    integerSchema(0, 1_048_576),
    0,
    'MiB of memory for one file that is being read; 0 for an eighth of the machine, from 256 to 1536.',
  ),
} as const;

type FilesSettings = SettingValues<typeof filesSettings>;

export function uploadLimits(settings: FilesSettings): UploadLimits {
  return {
    maxFileBytes: settings['data.max_file_bytes'],
    maxTenantBytes: settings['data.tenant_file_bytes'],
    maxOpenUploads: settings['data.tenant_uploads'],
    expiryMs: settings['data.upload_hours'] * HOUR_MS,
  };
}

export function extractorOptions(settings: FilesSettings): ExtractorOptions {
  const memoryMb = settings['data.extraction_memory_mb'];
  return {
    nThreads: settings['data.extraction_threads'],
    timeoutMs: settings['data.extraction_seconds'] * 1000,
    maxMemoryMb: memoryMb === 0 ? defaultMemoryMb() : memoryMb,
    maxQueue: MAX_QUEUE,
  };
}

function defaultMemoryMb(): number {
  return Math.min(1536, Math.max(256, Math.floor(hostMemory() / 2 ** 20 / 8)));
}
