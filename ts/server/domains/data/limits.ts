/** Bounds of what is taken in. Characters are UTF-16 units. */
export const LEAST_TEXT = 20;
export const MAX_SOURCE = 1_000;
export const MAX_TITLE = 500;
export const MAX_TAGS = 32;
export const MAX_TAG = 100;
/** A larger text is indexed in the background, bytes of UTF-8. */
export const INLINE_BYTES = 256 * 1024;
/** Of one row of what waits to be indexed. */
export const PART_CHARACTERS = 512 * 1024;
/** Of a search. */
export const MAX_QUERY = 10_000;
export const MAX_TOP_K = 100;
export const MAX_BASES = 16;
/** A larger file is read and indexed in the background. */
export const INLINE_FILE_BYTES = 4 * 1024 * 1024;
