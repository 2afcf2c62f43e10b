/** A word about the state of something. */
export type Tone = 'neutral' | 'good' | 'warn' | 'danger' | 'accent';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
