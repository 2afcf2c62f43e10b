/** How large a capability token may be: what a stranger sends is bounded before anything reads it. */

/** Characters of the token's text, its prefix included: it has to fit into a header beside others. */
export const MAX_TOKEN_LENGTH = 8_192;
/** Each block has a signature, whose check takes most of the time that a token takes. */
export const MAX_BLOCKS = 8;
/** Bytes of all blocks written as Datalog, at most: a token can repeat a long name at little cost of its own. */
export const MAX_PRINTED_LENGTH = 128 * 1024;
/** Names in one check, and characters of each. */
export const MAX_NAMES = 32;
export const MAX_NAME_LENGTH = 200;
export const MAX_LIFE_SECONDS = 365 * 24 * 3600;

/**
 * For Biscuit's own evaluation, which only gets checks of the forms that block-reader.ts takes: no rules, so facts and iterations do not grow, and
 * work that goes with the token's length. The time is a last resort, and longer than a busy machine may hold the process up.
 */
export const RUN_LIMITS = { max_facts: 64, max_iterations: 16, max_time_micro: 250_000 } as const;

/** A quote or a backslash would be written unescaped by the library that prints blocks; nothing that is named needs one. */
export const NAME_PATTERN = '^[^"\\\\\\u0000-\\u001f\\u007f]{1,200}$';
