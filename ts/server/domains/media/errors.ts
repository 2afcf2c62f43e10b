/** Every refusal of the module, with the status that its routes answer for it. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';

export const mediaErrors = defineErrors('media', {
  invalid_request: [
    400,
    'A field of the form is missing, unknown or out of range; the sentence names it.',
    'Correct that field.',
  ],
  invalid_media: [
    400,
    'The file is no recording that can be decoded; the sentence says why.',
    'Send WAV, MP3, FLAC, Ogg, MP4, WebM, AIFF or AAC.',
  ],
  no_audio_track: [400, 'The file has no sound.', 'Send a file with an audio track.'],
  no_video_track: [400, 'The file has no pictures that move.', 'Send a film.'],
  invalid_language: [
    400,
    'The language is none that speech models know.',
    'Send a code of two letters, for example `de`, or none: the model then finds out.',
  ],
  file_not_found: [404, 'The caller has no stored file of this id.', 'Name one of GET /v1/files.'],
  file_elsewhere: [409, 'The bytes of the file lie on another node, which does not share them.', 'Ask there.'],
  model_not_found: [404, 'No speech model of that name is installed.', 'List them: GET /v1/models, capability `transcription`.'],
  voice_not_found: [404, 'The node has no voice of that name.', 'List them: GET /api/v1/tts/voices.'],
  no_voice_for_language: [
    422,
    'No voice of the node speaks the language.',
    'Name a voice, or have one installed: espeak-ng speaks a hundred.',
  ],
  media_too_long: [422, 'The recording is longer than media.max_seconds.', 'Cut it, or raise media.max_seconds.'],
  diarization_unavailable: [
    422,
    'Speakers are told apart by a model that marks turns, or by two channels that differ, and here is neither.',
    'Record each speaker on a channel, use a model of tinydiarize (its name has `tdrz`), or leave the speakers out.',
  ],
  model_cannot_see: [422, 'The model reads no images.', 'Name a chat model whose capabilities list `vision`: GET /v1/models.'],
  client_closed: [499, 'The client went away before the answer; nobody reads this.', 'Ask again, and wait for the answer.'],
  queue_full: [429, 'Too much work of this kind is under way.', 'Retry after the time in Retry-After.'],
  internal: [500, 'A defect of the server.', 'Retry, then report it with the request id.'],
  no_speech_model: [503, 'No speech model is installed.', 'Install one: `svc models pull whisper-base`.'],
  images_unavailable: [503, 'This installation writes no images.', 'Have an administrator install the package svc.'],
  answer_failed: [503, 'The chat model gave no answer; the sentence says why.', 'Name another model, or ask with fewer frames.'],
  no_voice: [503, 'No engine of voices is installed.', 'Have an administrator install espeak-ng, or libflite1 for English.'],
  ffmpeg_missing: [
    503,
    'The work needs ffmpeg, which is not installed on the node.',
    'Have an administrator install it; the sentence has the command.',
  ],
  speech_model_unusable: [
    503,
    'The speech model cannot be loaded.',
    'Run `svc models verify`, or use another model; `svc doctor` tells whether the native library is there.',
  ],
  voice_unusable: [
    503,
    'The files of the voice cannot be used; the log has the reason, and so has the list of voices where a file is damaged.',
    'Name another voice, or put whole files of Pocket TTS or Qwen3-TTS into media.voices_dir.',
  ],
  out_of_memory: [503, 'The speech model or voice does not fit into memory.', 'Use a smaller one.'],
  storage_unavailable: [
    503,
    'The recording cannot be stored for as long as it is decoded, or its use cannot be recorded.',
    'Look at the free space of the data folder, and retry.',
  ],
  deadline_exceeded: [504, 'The request ran past X-Request-Timeout.', 'Give it more time, or send a shorter recording.'],
});

export type MediaErrorCode = CodeOf<typeof mediaErrors>;
export const mediaError = mediaErrors.error;

const commonErrors = [
  'invalid_request',
  'client_closed',
  'queue_full',
  'internal',
  'ffmpeg_missing',
  'storage_unavailable',
  'deadline_exceeded',
] as const;

/** Turning a recording into text fails with these. */
export const hearingErrors = [
  ...commonErrors,
  'invalid_media',
  'media_too_long',
  'no_audio_track',
  'invalid_language',
  'model_not_found',
  'diarization_unavailable',
  'no_speech_model',
  'speech_model_unusable',
  'out_of_memory',
] as const;

/** Reading a text aloud fails with these. */
export const speakingErrors = [
  ...commonErrors,
  'voice_not_found',
  'no_voice_for_language',
  'no_voice',
  'voice_unusable',
  'out_of_memory',
] as const;

/** Taking frames out of a film, and asking about them, fails with these. */
export const watchingErrors = [
  ...hearingErrors,
  'no_video_track',
  'images_unavailable',
  'file_not_found',
  'file_elsewhere',
] as const;
