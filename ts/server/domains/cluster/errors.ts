/** Refusals of the cluster's routes. */
import { defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const clusterErrors = defineErrors('cluster', {
  node_not_found: [404, 'No node of this cluster has that id.', 'List the nodes: `svc node list`.'],
  node_is_running: [409, 'The node runs, and would be back at its next heartbeat.', 'Stop it first.'],
  join_token_invalid: [
    400,
    'The token of the cluster is none, was used, or has expired.',
    'Make a new one on a controller: `svc node token`.',
  ],
  join_failed: [
    502,
    'The controller that the token names cannot be joined; the sentence says why.',
    'See that its cluster.listen can be reached.',
  ],
  node_id_taken: [
    409,
    'A node with the id of this one is in the cluster already.',
    'In a copy of a data folder delete node.json and the folder cluster; remove a node that was there before (`svc node rm`). Then take a new token.',
  ],
  controller_needs_database: [
    409,
    'Controllers share a PostgreSQL database, and a machine that joins with a token is none.',
    'Leave the role out, or start the machine with the database.url of the other controllers.',
  ],
  already_member: [409, 'The node belongs to a cluster already.', 'Ask its controllers: `svc node list`.'],
  not_listening: [
    409,
    'The node has no cluster.listen, so no other node can reach it.',
    'Set cluster.listen and start it again.',
  ],
  database_is_shared: [
    409,
    'The node has a PostgreSQL database: nodes that share one need no token.',
    'Start it with the database.url of the others, or without one.',
  ],
  data_role_holds_data: [
    409,
    'Knowledge bases lie on this node alone, and nobody would find them.',
    'Export them or delete them, or say `force`: they stay on its disk.',
  ],
  not_a_member: [
    409,
    'The node did not join by a token.',
    'Stop it, take database.url away, and forget it on another node: `svc node rm`.',
  ],
  wire_version_refused: [
    409,
    'The other node is of a version that does not speak with this one.',
    'Update controllers and edge nodes first, then the others: `svc node list` shows which is next.',
  ],
  ask_a_controller: [421, 'The node works for a cluster, whose controllers look after it.', 'Ask a controller.'],
  not_a_standby: [
    409,
    'The node is no standby, or has no snapshot yet.',
    'Join one for the role data: `svc node token --roles data`, on a controller with SQLite.',
  ],
  replica_behind: [
    409,
    'The primary had commits that the standby lacks; the two numbers say how many.',
    'Bring it up to date first (`svc node sync`), or send `{"force": true}` and lose them.',
  ],
  replica_failed: [
    503,
    'The standby did not take the snapshot; the sentence says why.',
    'See that it runs and has room on its disk, then ask again.',
  ],
  node_unreachable: [
    503,
    'The node does not answer, and did not do it.',
    'See whether it runs and reaches the database, then ask again.',
  ],
});

export function notStandby(node: string): DomainError {
  return clusterErrors.error('not_a_standby', `The node ${node} is no standby of this one.`);
}

export function controllerNeedsDatabase(): DomainError {
  return clusterErrors.error(
    'controller_needs_database',
    'The role controller is for nodes that share the database: one that joined with a token leads nothing.',
  );
}
