/** What a client library threw; fails when it threw nothing. */
interface Refusal {
  status: number | undefined;
  code: string | null | undefined;
  error: unknown;
}

export async function refusalOf(request: Promise<unknown>): Promise<Refusal> {
  const outcome = await request.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if ('answer' in outcome) throw new Error(`refusal expected, got ${JSON.stringify(outcome.answer)}`);
  const { status, code } = outcome.error as Partial<Refusal>;
  return { status, code, error: outcome.error };
}
