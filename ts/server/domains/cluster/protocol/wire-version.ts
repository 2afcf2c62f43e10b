/**
 * The version of what nodes say to each other on their links. A node speaks its own and the one before, so a cluster is updated node by node: 1 is JSON
 * alone, 2 has frames (`platform/wire/cluster.fbs`) for what is sent often or is large.
 */
export const WIRE_VERSION = 2;
export const WIRE_BEFORE = 1;

/** A request names the version that it is made in, and an answer the newest that its node speaks. */
export const WIRE_HEADER = 'x-svc-wire';
/** An answer of the link itself, and of nothing behind it. */
export const LINK_HEADER = 'x-svc-link';
/** An answer has this field while its node does not reach its database. */
export const AWAY_HEADER = 'x-svc-database-away';

/** The version of a request; undefined: this node does not speak it. */
export function spokenVersion(field: unknown): number | undefined {
  return [WIRE_VERSION, WIRE_BEFORE].find((version) => String(version) === field);
}

/** The version in which a node is asked that answers with this field; one without it speaks nothing newer than the version before. */
export function versionFor(field: string | undefined): number {
  return Number(field) >= WIRE_VERSION ? WIRE_VERSION : WIRE_BEFORE;
}

/** Whether a node whose newest version that is speaks one that this node speaks. */
export function sharesVersion(newest: number): boolean {
  return newest >= WIRE_BEFORE && newest <= WIRE_VERSION + 1;
}

/** The answer of a node that was asked in a version that it does not speak. */
export function wireRefusal(asked: unknown): string {
  const known = [...new Set([WIRE_BEFORE, WIRE_VERSION])].join(' and ');
  const version = /^\d{1,6}$/.test(String(asked)) ? String(asked) : 'another one';
  return `It speaks the wire versions ${known}, and was asked in ${version}: controllers and edge nodes are updated first, then the others.`;
}
