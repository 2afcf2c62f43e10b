/** Refusals of the memory module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const memoryErrors = defineErrors('memory', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  memory_not_found: [404, 'The caller has no such memory.', 'List them: `svc memory list`.'],
  memory_is_secret: [
    422,
    'The text holds a password, a key or a token, and those are never remembered.',
    'Leave the secret out of the text.',
  ],
  memories_full: [
    409,
    'There are as many memories as are kept.',
    'Forget some, or ask an administrator to raise `memory.most_memories`.',
  ],
  dream_not_found: [404, 'The caller has no such dream.', 'List them: GET /api/v1/memory/dreams.'],
  dream_running: [409, 'A dream about the same memories has not ended.', 'Wait for it: GET /api/v1/memory/dreams.'],
  dream_undo_expired: [409, 'The dream ended more than `memory.undo_days` ago.', 'Correct the memories one by one.'],
  series_not_found: [404, 'The tenant has no such series.', 'List them: GET /api/v1/memory/series.'],
  series_not_regular: [
    422,
    'The series has fewer than three points, or more gaps than points.',
    'Wait until it is longer, or give values at regular times.',
  ],
  no_world_model: [
    422,
    'There is no such memory file, or it has no world model of the series.',
    'Have one made: POST /api/v1/memory/forecasts.',
  ],
  forecast_model_load_failed: [
    422,
    'The world model of the file cannot be read; `deprecated_error` has the code of releases before.',
    'Have it made again: POST /api/v1/memory/forecasts with another file.',
  ],
  nslot_load_failed: [
    422,
    'The slots of the file cannot be read.',
    'Have them made again: POST /api/v1/memory/forecasts with `slots` and another file.',
  ],
  forecasts_busy: [503, 'As many forecasts are made as there is room for.', 'Ask again in a moment.'],
  memory_file_not_found: [404, 'The tenant has no such memory file.', 'List them: GET /api/v1/exmm/models.'],
  memory_section_not_found: [
    404,
    'The memory file has no such section that the caller reaches.',
    'List them: GET /api/v1/exmm/models and /api/v1/exmm/shard with `file`.',
  ],
  memory_file_invalid: [
    422,
    'The memory file is damaged, is none, or is too large; the sentence says why.',
    'Have it made again, or take it from a backup.',
  ],
  memory_file_pinned: [
    409,
    'The memory file is pinned as master memory, which nobody changes.',
    'Name another file, or ask a superadmin to unpin it.',
  ],
  memory_file_changed: [409, 'The memory file has another SHA-256.', 'Look at the file, and name the SHA-256 that it has.'],
  memory_files_full: [409, 'There are as many memory files as are made.', 'Remove some, or name one that is there.'],
  memory_files_busy: [503, 'As many memory files are read as there is room for.', 'Ask again in a moment.'],
  memory_changed: [409, 'The memory was changed or forgotten meanwhile.', 'Read it again, and repeat the change.'],
  tenant_memory_denied: [
    403,
    'Memories of the whole tenant are made, changed and forgotten by those alone whom `memory.tenant_writers` names.',
    'Ask an administrator, or keep it as a memory of your own.',
  ],
});

export const memoryError = memoryErrors.error;

export function memoryNotFound(id: string) {
  return memoryError('memory_not_found', `There is no memory ${id}.`);
}
