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
    'A speech model or voice that nobody used for so long leaves the memory; 0: it stays.',
  ),
  'media.voices_dir': setting(
    textSchema,
    '',
    'Folder of voices: a JSON file for each, with engine, model, language, name and license, and GGUF files of those that speak. Empty: the voices of the installed engines alone.',
  ),
  'media.voice': setting(
    textSchema,
    '',
    'Voice that speaks where a request names none, or one of OpenAI’s; empty: the first of the folder, else one for English.',
  ),
  'media.max_speech_characters': setting(
    integerSchema(1, 1_000_000),
    4_096,
    'Longest text of /v1/audio/speech, in characters; longer ones answer 400 invalid_request.',
  ),
  'media.max_synthesis_characters': setting(
    integerSchema(1, 1_000_000),
    100_000,
    'Longest text of /api/v1/tts/synthesize, in characters.',
  ),
  'media.max_texts': setting(
    integerSchema(1, 10_000),
    32,
    'Texts that may be read aloud at once; further ones answer 429 queue_full.',
  ),
} as const;
