/** Largest request body, bytes (128 MB). */
export const maxBodyBytes = 128 * 1024 * 1024;

/** Of what the tokenizer alone reads, bytes: its answers are several times as large. */
export const maxTokenizerBodyBytes = 8 * 1024 * 1024;
