/** Reads what a projector file says of the images and sounds that it takes. Keys: tools/mtmd/clip-impl.h of llama.cpp. */
import { findBoolean, findNumber, findString, type GgufMetadata } from '../../../../platform/gguf/gguf-value.ts';

export interface ProjectorFacts {
  hears: boolean;
  /** Pixels of the largest image that it makes use of; 0: it sees nothing. */
  imagePixels: number;
}

/** These make every image as large as their encoder's only size. Twice as much on each side leaves them something to average. */
const ofOneSize = ['mlp', 'mlp_norm', 'ldp', 'ldpv2', 'gemma3', 'janus_pro', 'cogvlm', 'adapter'];
const spareSides = 2;

/** llama.cpp's own limits, where the file names none: tiles of the encoder's size, and tokens of merged patches. */
const defaultTiles = 16;
const defaultTokens = 4096;
const defaultMerge = 2;

const limits = { least: 256 * 256, most: 32_000_000 };

export function projectorFacts(metadata: GgufMetadata): ProjectorFacts {
  const sees = findBoolean(metadata, 'clip.has_vision_encoder') ?? false;
  const pixels = Math.max(limits.least, Math.min(limits.most, usefulPixels(metadata)));
  return { hears: findBoolean(metadata, 'clip.has_audio_encoder') ?? false, imagePixels: sees ? pixels : 0 };
}

function usefulPixels(metadata: GgufMetadata): number {
  const number = (key: string) => findNumber(metadata, `clip.vision.${key}`) ?? 0;
  const side = number('image_size');
  const type = findString(metadata, 'clip.vision.projector_type') ?? findString(metadata, 'clip.projector_type') ?? '';
  const grid = largestOfGrid(metadata);
  if (ofOneSize.includes(type) && grid === 0) return (spareSides * side) ** 2;
  const merge = number('spatial_merge_size') || number('projector.scale_factor') || defaultMerge;
  return Math.max(
    number('image_max_pixels') || defaultTokens * (number('patch_size') * merge) ** 2,
    number('preproc_image_size') ** 2,
    grid,
    side ** 2 * (number('preproc_max_tiles') || defaultTiles),
  );
}

/** Pairs of width and height. */
function largestOfGrid(metadata: GgufMetadata): number {
  const grid = metadata.get('clip.vision.image_grid_pinpoints');
  if (grid?.type !== 'array') return 0;
  const sides = [...(grid.values ?? [])].map(Number);
  return sides.reduce((most, side, index) => (index % 2 === 1 ? Math.max(most, side * (sides[index - 1] ?? 0)) : most), 0);
}
