/** A transcript as OpenAI's API writes it. */
import { deflateSync } from 'node:zlib';
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { type HeardSegment, type Transcript, textOf } from '../speech/transcript.ts';

const DurationUsage = Type.Object({ type: Type.Literal('duration'), seconds: Type.Number() });

const Logprob = Type.Object({ token: Type.String(), bytes: Type.Array(Type.Integer()), logprob: Type.Number() });

export const Transcription = named(
  'Transcription',
  Type.Object({ text: Type.String(), logprobs: Type.Optional(Type.Array(Logprob)), usage: DurationUsage }),
);

const Segment = Type.Object({
  id: Type.Integer(),
  seek: Type.Integer({ description: 'Where it begins, in hundredths of a second.' }),
  start: Type.Number(),
  end: Type.Number(),
  text: Type.String(),
  tokens: Type.Array(Type.Integer()),
  temperature: Type.Number(),
  avg_logprob: Type.Number(),
  compression_ratio: Type.Number(),
  no_speech_prob: Type.Number(),
});

const Word = Type.Object({ word: Type.String(), start: Type.Number(), end: Type.Number() });

export const VerboseTranscription = named(
  'VerboseTranscription',
  Type.Object({
    task: Type.Enum(['transcribe', 'translate']),
    language: Type.String({ description: 'Its English name.' }),
    duration: Type.Number(),
    text: Type.String(),
    segments: Type.Optional(Type.Array(Segment)),
    words: Type.Optional(Type.Array(Word)),
    usage: DurationUsage,
  }),
);

const DiarizedSegment = Type.Object({
  type: Type.Literal('transcript.text.segment'),
  id: Type.String(),
  start: Type.Number(),
  end: Type.Number(),
  speaker: Type.String({ description: 'A is on the left channel, B on the right.' }),
  text: Type.String(),
});

export const DiarizedTranscription = named(
  'DiarizedTranscription',
  Type.Object({
    task: Type.Literal('transcribe'),
    duration: Type.Number(),
    text: Type.String(),
    segments: Type.Array(DiarizedSegment),
    usage: DurationUsage,
  }),
);

export const TranscriptionEvent = named(
  'TranscriptionEvent',
  Type.Union([
    Type.Object({
      type: Type.Literal('transcript.text.delta'),
      delta: Type.String(),
      logprobs: Type.Optional(Type.Array(Logprob)),
    }),
    Type.Object({
      type: Type.Literal('transcript.text.done'),
      text: Type.String(),
      logprobs: Type.Optional(Type.Array(Logprob)),
      usage: DurationUsage,
    }),
    DiarizedSegment,
    Type.Object({ error: Type.Object({}), detail: Type.String() }),
  ]),
);

export function plainBody({ segments, duration }: Transcript, hasLogprobs: boolean): Static<typeof Transcription> {
  return {
    text: textOf(segments),
    ...(hasLogprobs && { logprobs: segments.flatMap(logprobsOf) }),
    usage: { type: 'duration', seconds: duration },
  };
}

export function diarizedBody({ segments, duration }: Transcript): Static<typeof DiarizedTranscription> {
  return {
    task: 'transcribe',
    duration,
    text: textOf(segments),
    segments: segments.map(diarizedSegment),
    usage: { type: 'duration', seconds: duration },
  };
}

export function diarizedSegment({ begin, end, speaker = 'A', text }: HeardSegment, id: number): Static<typeof DiarizedSegment> {
  return { type: 'transcript.text.segment', id: `seg_${id}`, start: begin, end, speaker, text };
}

interface VerboseOptions {
  task: 'transcribe' | 'translate';
  /** The English name of a language by its code. */
  languageName(code: string): string;
  temperature: number;
  hasSegments: boolean;
  hasWords: boolean;
}

export function verboseBody(transcript: Transcript, options: VerboseOptions): Static<typeof VerboseTranscription> {
  const { segments, duration } = transcript;
  const { task, languageName, temperature, hasSegments, hasWords } = options;
  const words = segments.flatMap((segment) => segment.words);
  return {
    task,
    language: task === 'translate' ? 'english' : languageName(transcript.language),
    duration,
    text: textOf(segments),
    ...(hasSegments && { segments: segments.map((segment, id) => segmentBody(segment, id, temperature)) }),
    ...(hasWords && { words: words.map(({ text, begin, end }) => ({ word: text.trim(), start: begin, end })) }),
    usage: { type: 'duration', seconds: duration },
  };
}

function segmentBody(segment: HeardSegment, id: number, temperature: number): Static<typeof Segment> {
  const { text, begin, end, tokens, avgLogprob, noSpeechProb } = segment;
  return {
    id,
    seek: Math.round(begin * 100),
    start: begin,
    end,
    text,
    tokens,
    temperature,
    avg_logprob: avgLogprob,
    compression_ratio: compressionRatio(text),
    no_speech_prob: noSpeechProb,
  };
}

/** A text that repeats itself packs well: OpenAI's measure of a model that goes round in circles. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

export function logprobsOf({ texts, logprobs }: HeardSegment): Static<typeof Logprob>[] {
  return texts.flatMap((bytes, i) =>
    bytes.length === 0 ? [] : [{ token: Buffer.from(bytes).toString(), bytes: [...bytes], logprob: logprobs[i] ?? 0 }],
  );
}
