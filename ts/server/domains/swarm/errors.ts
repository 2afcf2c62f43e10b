/** Refusals of the swarm module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const swarmErrors = defineErrors('swarm', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  goal_not_found: [404, 'There is no such goal of the caller.', 'List them: `svc goal list`.'],
  swarm_not_found: [404, 'There is no such swarm in the tenant.', 'List them: GET /api/v1/swarm/swarms.'],
  schedule_not_found: [404, 'There is no such schedule of the caller.', 'List them: `svc schedule list`.'],
  schedule_limit: [409, 'The caller has as many schedules as one may have.', 'Remove one: `svc schedule rm ID`.'],
  step_not_found: [404, 'The goal has no such step.', 'Look at its plan: `svc goal show ID`.'],
  wrong_state: [409, 'The goal is in a state in which that cannot be done; `state` names it.', 'Look at it: `svc goal show ID`.'],
  plan_changed: [409, 'The plan is another one than the one that was approved.', 'Look at it again, and approve its hash.'],
  forbidden: [403, 'A goal works for an account, and the caller has none.', 'Use a key, a token or a session of an account.'],
  insufficient_scope: [
    403,
    'The credential lacks a scope that goals need; `detail` names it.',
    'Use a credential that has it: `svc key create`.',
  ],
  second_person_needed: [
    403,
    'The tenant has plans approved by a second person.',
    'Have an administrator approve it: `svc goal approve ID HASH`.',
  ],
  delegation_over: [403, 'The account or the credential that the goal was made with is there no more.', 'Make the goal again.'],
  plan_failed: [
    502,
    'No plan was made; `detail` says why.',
    'Say the goal in other words, or name a model that holds to schemas.',
  ],
});

export const swarmError = swarmErrors.error;
