/** The form of a transcription, as OpenAI's clients send it. */
import { type FormFields, readLanguage, SERVICE_TIERS, wrong } from '../form/form-fields.ts';

export const RESPONSE_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export interface TranscriptionForm {
  model: string;
  language: string | undefined;
  prompt: string | undefined;
  temperature: number;
  format: ResponseFormat;
  hasWords: boolean;
  hasSegments: boolean;
  hasLogprobs: boolean;
  isStreamed: boolean;
  skipsSilence: boolean;
  isBackground: boolean;
}

const LISTS = ['timestamp_granularities', 'timestamp_granularities[]', 'include', 'include[]'];
/** Fields that say nothing to the models of this node, and whose default is what they do. */
const IDLE = [
  'chunking_strategy',
  'chunking_strategy[type]',
  'chunking_strategy[prefix_padding_ms]',
  'chunking_strategy[silence_duration_ms]',
  'chunking_strategy[threshold]',
  'user',
];

/** Throws invalid_request and invalid_language. */
export function readTranscriptionForm(fields: FormFields, isLanguage: (code: string) => boolean): TranscriptionForm {
  const known = ['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', 'vad', 'service_tier'];
  fields.refuseOthers([...known, ...LISTS, ...IDLE]);
  const format = fields.choice('response_format', RESPONSE_FORMATS) ?? 'json';
  const granularities = fields.listOf('timestamp_granularities', ['word', 'segment']);
  if (granularities.length > 0 && format !== 'verbose_json')
    throw wrong('timestamp_granularities', 'timestamp_granularities needs response_format verbose_json.');
  const hasLogprobs = fields.listOf('include', ['logprobs']).length > 0;
  if (hasLogprobs && format !== 'json') throw wrong('include', 'include logprobs needs response_format json.');
  const isStreamed = fields.boolean('stream', false);
  if (isStreamed && !['json', 'text', 'diarized_json'].includes(format))
    throw wrong('stream', 'A stream needs response_format json, text or diarized_json.');
  return {
    model: fields.text('model', 512) ?? '',
    language: readLanguage(fields, isLanguage),
    prompt: fields.text('prompt'),
    temperature: fields.number('temperature', 0, 1) ?? 0,
    format,
    hasWords: granularities.includes('word'),
    hasSegments: granularities.length === 0 || granularities.includes('segment'),
    hasLogprobs,
    isStreamed,
    skipsSilence: fields.boolean('vad', true),
    isBackground: fields.choice('service_tier', SERVICE_TIERS) === 'flex',
  };
}
