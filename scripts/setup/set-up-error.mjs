/** A failure that the person at the keyboard can act on: shown as one line, without a stack trace. */
export class SetUpError extends Error {
  name = 'SetUpError';
}
