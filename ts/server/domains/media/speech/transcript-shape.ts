/** A transcript as this server's own API writes it. */
import Type, { type Static } from 'typebox';
import type { Reply } from '../../../platform/http/route.ts';
import { named } from '../../../platform/schema/named.ts';
import { type HeardSegment, type Transcript, textOf } from './transcript.ts';

const Segment = Type.Object({
  id: Type.Integer(),
  start: Type.Number({ description: 'Seconds from the beginning, as all times.' }),
  end: Type.Number(),
  text: Type.String(),
  speaker: Type.Optional(Type.String({ description: 'A is on the left channel, B on the right.' })),
  avg_logprob: Type.Number(),
  no_speech_prob: Type.Number(),
  words: Type.Optional(
    Type.Array(Type.Object({ word: Type.String(), start: Type.Number(), end: Type.Number(), probability: Type.Number() })),
  ),
});

export const TranscriptShape = named(
  'SpeechTranscript',
  Type.Object({
    text: Type.String(),
    language: Type.String({ description: 'Its code.' }),
    duration: Type.Number(),
    speech_seconds: Type.Number({ description: 'Of the recording, those in which somebody speaks.' }),
    model: Type.String(),
    segments: Type.Array(Segment),
    usage: Type.Object({ type: Type.Literal('duration'), seconds: Type.Number() }),
  }),
);

export const TranscriptEvent = named(
  'SpeechTranscriptEvent',
  Type.Union([
    Segment,
    Type.Object({
      done_seconds: Type.Number(),
      total_seconds: Type.Union([Type.Number(), Type.Null()], { description: 'null: the file does not say.' }),
    }),
    TranscriptShape,
    Type.Object({ error: Type.String(), detail: Type.String(), path: Type.String() }),
  ]),
);

export function plainText(body: string, type = 'text/plain'): Reply {
  return { kind: 'bytes', status: 200, headers: { 'content-type': `${type}; charset=utf-8` }, body };
}

export function transcriptBody(transcript: Transcript, hasWords: boolean): Static<typeof TranscriptShape> {
  const { segments, language, duration, speechSeconds, model } = transcript;
  return {
    text: textOf(segments),
    language,
    duration,
    speech_seconds: speechSeconds,
    model,
    segments: segments.map((segment, id) => segmentBody(segment, id, hasWords)),
    usage: { type: 'duration', seconds: duration },
  };
}

export function segmentBody(segment: HeardSegment, id: number, hasWords: boolean): Static<typeof Segment> {
  const { begin, end, text, speaker, avgLogprob, noSpeechProb, words } = segment;
  return {
    id,
    start: begin,
    end,
    text: text.trim(),
    ...(speaker !== undefined && { speaker }),
    avg_logprob: avgLogprob,
    no_speech_prob: noSpeechProb,
    ...(hasWords && {
      words: words.map((word) => ({
        word: word.text.trim(),
        start: word.begin,
        end: word.end,
        probability: word.probability,
      })),
    }),
  };
}
