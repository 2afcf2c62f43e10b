/** The record of a soak: it has each fault and each request, and tells each violation at once. */
import type { ClusterNode } from './nodes.ts';

/** A fault while it lasts; `name` stands in the report. */
interface FaultSpan {
  readonly name: string;
  /** Undefined: it is nobody's alone. */
  readonly node: ClusterNode | undefined;
  /** Milliseconds since the start. */
  readonly from: number;
  to: number;
}

interface Asked {
  readonly what: string;
  readonly node: ClusterNode;
  readonly from: number;
  readonly to: number;
  /** `ok`, or how else it ended: the code of a refusal or of an error frame, `broken`, `cut`. */
  readonly end: string;
}

/** A node that was killed is there again before it knows all others; one that was cut off has to find them. */
const BACK_MS = 10_000;

export class SoakRecord {
  readonly faults: FaultSpan[] = [];
  readonly asked: Asked[] = [];
  nViolations = 0;
  nNotJudged = 0;
  readonly #startedAt = performance.now();
  readonly #onLine: (line: string) => void;
  readonly #wereScarceSince: (from: number) => boolean;

  /** `wereScarceSince`: whether this machine had too few processors since then. */
  constructor(onLine: (line: string) => void, wereScarceSince: (from: number) => boolean) {
    this.#onLine = onLine;
    this.#wereScarceSince = wereScarceSince;
  }

  now(): number {
    return performance.now() - this.#startedAt;
  }

  /** A fault that lasts until `end()` of it. */
  begin(name: string, node?: ClusterNode): { end(): void } {
    const span: FaultSpan = { name, node, from: this.now(), to: Number.POSITIVE_INFINITY };
    this.faults.push(span);
    return {
      end: () => {
        span.to = this.now();
      },
    };
  }

  /** Whether that node had one of these faults in the time, or shortly before it. */
  had(node: ClusterNode, from: number, to: number, names: readonly string[]): boolean {
    return this.faults.some(
      (span) => span.node === node && names.includes(span.name) && span.from <= to && span.to + BACK_MS >= from,
    );
  }

  violate(what: string): void {
    this.nViolations += 1;
    this.#tell('violation', what);
  }

  /** Something was not done in its time, which began at `from`: a violation, unless the machine had no processor for it. */
  missed(what: string, from: number): void {
    const isJudged = !this.#wereScarceSince(from);
    if (isJudged) this.nViolations += 1;
    else this.nNotJudged += 1;
    this.#tell(isJudged ? 'violation' : 'not judged', what);
  }

  #tell(kind: string, what: string): void {
    this.#onLine(`${kind} at ${(this.now() / 1000).toFixed(1)} s: ${what}${this.#meanwhile()}`);
  }

  #meanwhile(): string {
    const open = this.faults.filter(({ to }) => to + BACK_MS >= this.now());
    return open.length === 0 ? '' : ` [${open.map((span) => textOf(span)).join('; ')}]`;
  }

  /** A line for each kind of fault: how often, and how the requests ended that were open meanwhile. */
  lines(): string[] {
    const names = [...new Set(this.faults.map(({ name }) => name))];
    return names.map((name) => {
      const spans = this.faults.filter((span) => span.name === name);
      const asked = this.asked.filter(({ from, to }) => spans.some((span) => span.from <= to && span.to >= from));
      const slowest = Math.max(0, ...asked.map(({ from, to }) => to - from));
      return `${name}: ${spans.length} times, ${asked.length} requests open meanwhile (${endsOf(asked)}), the slowest ${(slowest / 1000).toFixed(1)} s`;
    });
  }
}

function textOf({ name, node, from, to }: FaultSpan): string {
  const end = Number.isFinite(to) ? `${(to / 1000).toFixed(1)}` : '';
  return `${name}${node === undefined ? '' : ` of ${node.name}`} ${(from / 1000).toFixed(1)}-${end}`;
}

export function endsOf(asked: readonly Asked[]): string {
  const counts = new Map<string, number>();
  for (const { end } of asked) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].map(([end, count]) => `${end} ${count}`).join(', ');
}
