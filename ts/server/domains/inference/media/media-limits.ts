/** The limits of what a request may bring beside its text. Everything here is counted before anything is decoded. */

export const maxMediaParts = 64;

/** The pixels of one image, and of all images of a request: a few bytes can stand for any number of pixels. */
export const maxImagePixels = 64_000_000;
export const maxRequestPixels = 256_000_000;
/** Longer side by shorter side. Projectors make no sense of more, and some blow such an image up to a square. */
export const maxImageRatio = 200;

/** The length of all sounds of a request together, seconds. */
export const maxSoundSeconds = 15 * 60;
/** Sounds are kept as one number for each moment: more channels are mixed, other rates resampled. */
export const maxSoundChannels = 8;
export const soundRates = { least: 4_000, most: 192_000 } as const;
