/**
 * Frames of a stored film as encoded images, with their true times. ffmpeg decodes them in a process that the server confines, turned upright and
 * scaled; the images are made of its pixels here, by sharp.
 */
import type { Sharp } from 'sharp';
import { hasImageLibrary, NO_IMAGE_LIBRARY } from '../../../platform/files/image-library.ts';
import { mediaError } from '../errors.ts';
import { startConfined } from '../programs/confined-program.ts';
import { findFfmpeg, frameArguments } from '../programs/ffmpeg.ts';
import type { MediaFacts } from '../sound/media-facts.ts';
import { ffmpegMissing } from '../sound/sound-reader.ts';
import { type FrameFormat, type FrameRequest, MOST_FRAMES, timesOf } from './frame-request.ts';

export interface Frame {
  /** Seconds from the beginning of the film. */
  time: number;
  width: number;
  height: number;
  mediaType: string;
  bytes: Buffer;
}

const DEFAULT_WIDTH = 1_280;
/** A picture of 8K has 33 million. */
const MOST_PIXELS = 36_000_000;
/** The images of one answer. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The last frame of a film begins at most so long before its end. */
const LAST_SECONDS = 2;
const limits = { memoryMiB: 1_536, cpuSeconds: 600, mostReasonBytes: 512 * 1024 };
/** A line of ffmpeg's filter showinfo. What a film says of itself never begins a line. */
const SHOWN = /^\[Parsed_showinfo_\d+ @ 0x[0-9a-f]+\] n: *\d+ pts: *-?\d+ pts_time: *(-?[\d.]+(?:e[+-]?\d+)?)/gm;

interface Place {
  facts: MediaFacts;
  picture: { width: number; height: number };
  width: number;
  height: number;
  format: FrameFormat;
  signal: AbortSignal;
}

/** Throws no_video_track, invalid_media, invalid_request, ffmpeg_missing and images_unavailable. */
export async function readFrames(facts: MediaFacts, request: FrameRequest, signal: AbortSignal): Promise<Frame[]> {
  const { picture } = facts;
  if (picture === undefined) throw mediaError('no_video_track', 'The file has no pictures that move.', { param: 'file' });
  if (!hasImageLibrary()) throw mediaError('images_unavailable', NO_IMAGE_LIBRARY);
  if (picture.width * picture.height > MOST_PIXELS || picture.width < 1 || picture.height < 1)
    throw mediaError('invalid_media', `The film has ${picture.width} × ${picture.height} pixels.`, { param: 'file' });
  const width = request.width ?? Math.min(picture.width, DEFAULT_WIDTH);
  const height = Math.max(1, Math.round((width * picture.height) / picture.width));
  if (width * height > MOST_PIXELS)
    throw mediaError('invalid_request', 'Frames of that width are too large.', { param: 'width' });
  const place: Place = { facts, picture, width, height, format: request.format, signal };
  const { wanted } = request;
  if (wanted.kind === 'scene') return await run(place, { from: 0, most: MOST_FRAMES, threshold: wanted.threshold });
  const frames: Frame[] = [];
  let sizeBytes = 0;
  for (const time of timesOf(wanted, facts.duration ?? 0)) {
    const frame = await frameAt(place, time);
    frames.push(frame);
    sizeBytes += frame.bytes.length;
    if (sizeBytes > MOST_BYTES) throw tooLarge();
  }
  return frames;
}

/** The first that begins at the time or behind it; within the last frame of the film, that one. */
async function frameAt(place: Place, time: number): Promise<Frame> {
  const [first] = await run(place, { from: time, most: 1 });
  if (first !== undefined) return first;
  const last = (await run(place, { from: Math.max(0, time - LAST_SECONDS), most: Number.POSITIVE_INFINITY, isLast: true })).at(
    -1,
  );
  if (last !== undefined) return last;
  throw mediaError('invalid_media', 'The film cannot be used: no picture can be decoded from it.', { param: 'file' });
}

interface Run {
  /** Seconds from the beginning. */
  from: number;
  most: number;
  threshold?: number;
  /** Keeps the last frame alone. */
  isLast?: boolean;
}

async function run(
  { facts, width, height, format, signal }: Place,
  { from, most, threshold, isLast = false }: Run,
): Promise<Frame[]> {
  const ffmpeg = findFfmpeg();
  if (ffmpeg === undefined) throw ffmpegMissing('Films cannot be decoded here');
  const args = frameArguments(facts.file, { from, width, height, threshold, nMost: Number.isFinite(most) ? most : undefined });
  const program = startConfined([ffmpeg, ...args], { ...limits, readable: [facts.file.path], signal });
  program.input.end();
  const images: Buffer[] = [];
  let lastPixels: Buffer | undefined;
  let nFrames = 0;
  let sizeBytes = 0;
  try {
    for await (const pixels of piecesOf(program.output, width * height * 3)) {
      nFrames++;
      if (isLast) lastPixels = pixels;
      else images.push(await encode(pixels, { width, height, format }));
      sizeBytes += images.at(-1)?.length ?? 0;
      if (sizeBytes > MOST_BYTES) throw tooLarge();
    }
    await program.exit;
    signal.throwIfAborted();
    const times = [...(await program.reason).matchAll(SHOWN)].map(([, seconds]) => from + Number(seconds));
    if (lastPixels !== undefined) images.push(await encode(lastPixels, { width, height, format }));
    const known = isLast ? times.slice(nFrames - 1, nFrames) : times;
    return images.map((bytes, i) => ({
      time: Math.max(0, Math.round((known[i] ?? from) * 1_000_000) / 1_000_000),
      width,
      height,
      mediaType: `image/${format}`,
      bytes,
    }));
  } finally {
    program.kill();
  }
}

/** Whole pieces of a stream; what is left at its end is of a frame that was cut. */
async function* piecesOf(output: AsyncIterable<unknown>, pieceBytes: number): AsyncGenerator<Buffer> {
  let piece = Buffer.alloc(pieceBytes);
  let nBytes = 0;
  for await (const chunk of output) {
    let rest = chunk as Buffer;
    while (rest.length > 0) {
      const taken = rest.copy(piece, nBytes);
      nBytes += taken;
      rest = rest.subarray(taken);
      if (nBytes < pieceBytes) continue;
      yield piece;
      piece = Buffer.alloc(pieceBytes);
      nBytes = 0;
    }
  }
}

async function encode(
  pixels: Buffer,
  { width, height, format }: { width: number; height: number; format: FrameFormat },
): Promise<Buffer> {
  // Imported here: most nodes are never asked for a frame.
  const { default: sharp } = await import('sharp');
  const image: Sharp = sharp(pixels, { raw: { width, height, channels: 3 } });
  if (format === 'png') return await image.png().toBuffer();
  return format === 'webp' ? await image.webp({ quality: 85 }).toBuffer() : await image.jpeg({ quality: 85 }).toBuffer();
}

function tooLarge(): Error {
  return mediaError('invalid_request', `The frames come to more than ${MOST_BYTES} bytes; ask for fewer or smaller ones.`, {
    param: 'width',
  });
}
