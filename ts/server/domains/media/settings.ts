/** Settings of the media module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const mediaSettings = {
  'media.speech_model': setting(
    textSchema,
    '',
    'Speech model that answers where a request names none, or one of OpenAI’s; empty: the largest of those that are installed.',
  ),
  'media.max_seconds': setting(
    integerSchema(1, 1_000_000),
    14_400,
    'Longest recording, in seconds; longer ones answer 422 media_too_long.',
  ),
  'media.max_jobs': setting(
    integerSchema(1, 10_000),
    32,
    'Recordings of one speech model that may be under way at once, of which a tenant may have half; further ones answer 429 queue_full.',
  ),
  'media.idle_unload_seconds': setting(
    integerSchema(0, 31_536_000),
    600,
    'A speech model that nobody used for so long leaves the memory; 0: it stays.',
  ),
} as const;
