/** Names and values of one thing. */
import type { ComponentChildren } from 'preact';

export interface Fact {
  name: string;
  value: ComponentChildren;
}

export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="fact-list">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
