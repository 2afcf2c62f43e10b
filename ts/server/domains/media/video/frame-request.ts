/** Says which frames of a film are asked for, and as what. */
import Type from 'typebox';
import { type FormFields, wrong } from '../form/form-fields.ts';

export const MOST_FRAMES = 64;
const FRAME_FORMATS = ['jpeg', 'png', 'webp'] as const;
export type FrameFormat = (typeof FRAME_FORMATS)[number];

type WantedFrames =
  | { kind: 'times'; times: number[] }
  | { kind: 'interval'; everySeconds: number }
  | { kind: 'count'; count: number }
  /** How different a picture is from the one before, 0 to 1. */
  | { kind: 'scene'; threshold: number };

export interface FrameRequest {
  wanted: WantedFrames;
  /** Undefined: as in the film, up to a default. */
  width: number | undefined;
  format: FrameFormat;
}

const LEAST_WIDTH = 16;
const MOST_WIDTH = 3_840;
const MOST_SECONDS = 1_000_000;
const WAYS = ['times', 'times[]', 'every_seconds', 'count', 'scene'];

/** The fields of a form, for the reference. */
export const frameFields = {
  times: Type.Optional(Type.Array(Type.Number({ minimum: 0 }), { description: 'Seconds; several fields, or one with commas.' })),
  every_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_FRAMES, description: 'Spread evenly over the film.' })),
  scene: Type.Optional(
    Type.Number({ minimum: 0.01, maximum: 1, description: 'A frame where the picture changes by more than this share.' }),
  ),
  width: Type.Optional(Type.Integer({ minimum: LEAST_WIDTH, maximum: MOST_WIDTH })),
  format: Type.Optional(Type.Enum([...FRAME_FORMATS], { description: 'jpeg by default.' })),
};

/** Throws invalid_request. @param defaultCount where the form says nothing */
export function readFrameRequest(fields: FormFields, defaultCount: number): FrameRequest {
  return {
    wanted: readWanted(fields, defaultCount),
    width: fields.integer('width', LEAST_WIDTH, MOST_WIDTH),
    format: fields.choice('format', FRAME_FORMATS) ?? 'jpeg',
  };
}

function readWanted(fields: FormFields, defaultCount: number): WantedFrames {
  const given = WAYS.filter((name) => fields.list(name.replace('[]', '')).length > 0 && !name.endsWith('[]'));
  if (given.length > 1) throw wrong(given[1] ?? '', `The form has ${given.join(' and ')}; send one of them.`);
  const everySeconds = fields.number('every_seconds', 0.001, MOST_SECONDS);
  if (everySeconds !== undefined) return { kind: 'interval', everySeconds };
  const threshold = fields.number('scene', 0.01, 1);
  if (threshold !== undefined) return { kind: 'scene', threshold };
  const times = fields.list('times').map(secondsOf);
  if (times.length > MOST_FRAMES) throw tooMany('times', times.length);
  if (times.length > 0) return { kind: 'times', times };
  return { kind: 'count', count: fields.integer('count', 1, MOST_FRAMES) ?? defaultCount };
}

function secondsOf(text: string): number {
  const seconds = /^\d{1,7}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MOST_SECONDS) return seconds;
  throw wrong('times', 'times must be seconds from 0.');
}

/** Throws invalid_request for times behind the end, and for more frames than one answer has. */
export function timesOf(wanted: Exclude<WantedFrames, { kind: 'scene' }>, duration: number): number[] {
  if (wanted.kind === 'count') return Array.from({ length: wanted.count }, (_, i) => (duration * (i + 0.5)) / wanted.count);
  if (wanted.kind === 'interval') {
    const n = Math.max(1, Math.ceil(duration / wanted.everySeconds));
    if (n > MOST_FRAMES) throw tooMany('every_seconds', n);
    return Array.from({ length: n }, (_, i) => i * wanted.everySeconds);
  }
  const late = wanted.times.find((time) => time > duration);
  if (late !== undefined) throw wrong('times', `The film lasts ${duration} seconds, and ${late} is behind its end.`);
  return wanted.times;
}

function tooMany(param: string, n: number): Error {
  return wrong(param, `${param} asks for ${n} frames, and ${MOST_FRAMES} are the most.`);
}
