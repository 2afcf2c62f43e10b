/** Largest request body, bytes (128 MB). */
export const maxBodyBytes = 128 * 1024 * 1024;
