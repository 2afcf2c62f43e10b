/** How a request switches a role, on this node or on another. */
import Type, { type Static } from 'typebox';
import type { Role } from '../module/module-names.ts';
import type { Node } from './node.ts';

export const RoleSwitch = Type.Object({
  enabled: Type.Boolean(),
  force: Type.Optional(
    Type.Boolean({ description: 'Also the role data of a node that alone has knowledge bases; they stay on its disk.' }),
  ),
});

/** Whether a switch on this node, which nobody forces, leaves knowledge bases where nobody finds them. */
export async function losesDocuments(
  node: Pick<Node, 'holdsDocuments'>,
  role: Role,
  { enabled, force = false }: Static<typeof RoleSwitch>,
): Promise<boolean> {
  return role === 'data' && !enabled && !force && (await node.holdsDocuments());
}
