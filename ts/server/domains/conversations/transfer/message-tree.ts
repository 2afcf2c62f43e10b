/** Brings the nodes of an imported tree into an order in which they can be stored. */
import { MAX_MESSAGES } from '../limits.ts';
import { type ImportedConversation, type ImportedNode, UNDATED } from './imported-conversation.ts';

type Messages = ImportedConversation['messages'];

/**
 * Nodes without a message are left out, and what follows them is attached to what stood before them. A parent that is not there, and a circle of
 * parents, make a node the first of a branch. A message without a time has that of its parent, and where none before it has one either, nobody knows when it
 * was said: its metadata say so.
 */
export function orderNodes(
  nodes: readonly ImportedNode[],
  createdAt: number,
  isCreatedAtKnown: boolean,
): { messages: Messages; kept: ReadonlyMap<string, string> } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map<string, number>();
  const dated = new Set<string>();
  const kept = new Map<string, string>();
  const ordered: Messages[number][] = [];
  for (const { id } of nodes) {
    for (const node of pathTo(id, byId, times)) {
      const before = node.parentId === undefined ? undefined : times.get(node.parentId);
      const ts = Math.max(node.message?.ts ?? 0, before ?? createdAt);
      times.set(node.id, ts);
      const isDated =
        node.message?.ts !== undefined || (before === undefined ? isCreatedAtKnown : dated.has(node.parentId ?? ''));
      if (isDated) dated.add(node.id);
      const parentId = (node.parentId === undefined ? undefined : kept.get(node.parentId)) ?? null;
      const undated = isDated ? {} : { metadata: { ...node.message?.metadata, ...UNDATED } };
      if (node.message !== undefined) ordered.push({ ...node.message, ...undated, id: node.id, parentId, ts });
      const shown = node.message === undefined ? parentId : node.id;
      if (shown !== null) kept.set(node.id, shown);
    }
  }
  // Sorting keeps the order of equal times, and no message is earlier than its parent.
  return { messages: ordered.sort((a, b) => a.ts - b.ts).slice(0, MAX_MESSAGES), kept };
}

/** The nodes from the first one that is not known yet down to this one. */
function pathTo(id: string, byId: ReadonlyMap<string, ImportedNode>, known: ReadonlyMap<string, number>): ImportedNode[] {
  const path: ImportedNode[] = [];
  const onPath = new Set<string>();
  for (let next = byId.get(id); next !== undefined && !known.has(next.id) && !onPath.has(next.id); ) {
    path.push(next);
    onPath.add(next.id);
    next = next.parentId === undefined ? undefined : byId.get(next.parentId);
  }
  return path.reverse();
}
