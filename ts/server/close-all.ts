/** Closes one part after the other; one that fails keeps none of the others open. Throws what failed, at the end. */
export async function closeAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of parts) await close().catch((error: unknown) => errors.push(error));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, 'several parts of the node did not close');
}
