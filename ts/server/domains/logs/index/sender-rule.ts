/** A tenant reads lines by their senders: what a line says of itself grants nothing, the address of its sender does. */
import { AddressList } from '../../../platform/network/address-list.ts';

export interface SenderRule {
  /** Sources in their order: the first network that has the address says whose it is. */
  sources: readonly { network: string; tenant?: string | undefined }[];
  tenant: string;
}

const MOST_KNOWN = 10_000;

/** Undefined: every sender counts. */
export function senderTest(rule: SenderRule | undefined): (address: string) => boolean {
  if (rule === undefined) return () => true;
  const { sources, tenant } = rule;
  const lists = sources.map((source) => ({ networks: new AddressList([source.network]), tenant: source.tenant }));
  const known = new Map<string, boolean>();
  return (address) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const isOwn = lists.find(({ networks }) => networks.has(address))?.tenant === tenant;
    if (known.size < MOST_KNOWN) known.set(address, isOwn);
    return isOwn;
  };
}
