/** Refusals of the cluster's routes. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const clusterErrors = defineErrors('cluster', {
  node_not_found: [404, 'No node of this cluster has that id.', 'List the nodes: `svc node list`.'],
  node_is_running: [409, 'The node runs, and would be back at its next heartbeat.', 'Stop it first.'],
  node_unreachable: [
    503,
    'The node does not answer, and did not do it.',
    'See whether it runs and reaches the database, then ask again.',
  ],
});
