/** One thing that `npm run check` looks at. */
export interface Check {
  name: string;
  /** What a reader does when it fails. */
  remedy: string;
  run(): Promise<Outcome>;
}

export type Outcome =
  | { status: 'passed'; note?: string }
  | { status: 'failed'; output: string }
  | { status: 'skipped'; reason: string };
