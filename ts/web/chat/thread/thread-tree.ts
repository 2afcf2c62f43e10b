/** Messages form a tree: a question that is asked anew and an answer that is given anew are branches. */

export interface TreeMessage {
  readonly id: string;
  readonly parent_id: string | null;
  readonly seq: number;
}

/** The path goes from the first message to `leafId`. A message whose parent is unknown begins it; a cycle ends it. */
export function pathTo<M extends TreeMessage>(messages: ReadonlyMap<string, M>, leafId: string | undefined): M[] {
  const path: M[] = [];
  const seen = new Set<string>();
  let id: string | null | undefined = leafId;
  while (id != null && !seen.has(id)) {
    const message = messages.get(id);
    if (message === undefined) break;
    seen.add(id);
    path.push(message);
    id = message.parent_id;
  }
  return path.reverse();
}

/** Messages that answer or follow the same one, oldest first, the given one among them. */
export function siblingsOf<M extends TreeMessage>(messages: ReadonlyMap<string, M>, message: M): M[] {
  return [...messages.values()].filter(({ parent_id }) => parent_id === message.parent_id).sort((a, b) => a.seq - b.seq);
}

/** The end of the branch that was written to last below a message. */
export function latestLeaf<M extends TreeMessage>(messages: ReadonlyMap<string, M>, id: string): string {
  const children = new Map<string, M>();
  for (const message of messages.values()) {
    if (message.parent_id === null) continue;
    const known = children.get(message.parent_id);
    if (known === undefined || known.seq < message.seq) children.set(message.parent_id, message);
  }
  let leaf = id;
  for (let steps = 0; steps <= messages.size; steps++) {
    const next = children.get(leaf);
    if (next === undefined) break;
    leaf = next.id;
  }
  return leaf;
}
