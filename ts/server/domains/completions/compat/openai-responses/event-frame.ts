/** One event of a response's stream, as the client reads it. */
export function eventFrame(type: string, sequence: number, members: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;
}
