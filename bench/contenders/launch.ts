/** How the servers of both sides are started where a condition of the machine is emulated (bench/matrix/): the words before theirs. */
export function launch(program: string, args: readonly string[]): { program: string; args: readonly string[] } {
  const words = JSON.parse(process.env['SVC_BENCH_LAUNCH'] ?? '[]') as string[];
  const [first = program, ...rest] = [...words, program];
  return { program: first, args: [...rest, ...args] };
}
