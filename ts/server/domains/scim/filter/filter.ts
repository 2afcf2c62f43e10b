/** A filter as a tree (RFC 7644 section 3.4.2.2). */

export const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Operator = (typeof OPERATORS)[number];
export type FilterValue = string | number | boolean | null;

export type Filter =
  | { kind: 'compare'; path: string; operator: Operator; value: FilterValue }
  | { kind: 'present'; path: string }
  | { kind: 'and' | 'or'; left: Filter; right: Filter }
  | { kind: 'not'; filter: Filter }
  /** Elements of a list of which one element has to match: `emails[type eq "work"]`. */
  | { kind: 'element'; path: string; filter: Filter };
