/** The events that webhooks can be told of: the documented list. */
import type { EventType } from '../../platform/events/index.ts';
import { jobDone, jobFailed } from '../../platform/jobs/index.ts';
import { cloudEvents } from '../cloud/index.ts';
import { commEvents } from '../comm/index.ts';
import { edgeEvents, goalEnded, schedulePaused } from '../edge/index.ts';
import { identityEvents } from '../identity/index.ts';
import { inferenceEvents } from '../inference/index.ts';
import { iotEvents } from '../iot/index.ts';
import { logsEvents } from '../logs/index.ts';
import { meteringEvents } from '../metering/index.ts';

interface CatalogueEvent {
  type: EventType;
  meaning: string;
  /** It concerns no tenant: only superadmins may ask for it. */
  isOfNode: boolean;
}

const ofTenant = (type: EventType, meaning: string): CatalogueEvent => ({ type, meaning, isOfNode: false });
const ofNode = (type: EventType, meaning: string): CatalogueEvent => ({ type, meaning, isOfNode: true });

export const CATALOGUE: readonly CatalogueEvent[] = [
  ofTenant(identityEvents.keyCreated, 'An API key was made, or took the place of another one.'),
  ofTenant(identityEvents.keyRevoked, 'An API key was revoked or replaced.'),
  ofTenant(identityEvents.userCreated, 'An account was made.'),
  ofTenant(identityEvents.userDeleted, 'An account was deleted, with its keys and sessions.'),
  ofTenant(identityEvents.tenantDeleted, 'A tenant was deleted; told to the tenant of the caller.'),
  ofTenant(identityEvents.accessDenied, 'A caller with a credential was denied something.'),
  ofTenant(jobDone, 'A background job ended well.'),
  ofTenant(jobFailed, 'A background job failed for good.'),
  ofTenant(inferenceEvents.modelPulled, 'A model was pulled into the library.'),
  ofTenant(
    meteringEvents.budgetExceeded,
    'A request was refused since the money of the month is used up; told once a month for each budget.',
  ),
  ofTenant(edgeEvents.approvalRequested, 'A call of a tool waits for somebody to approve it.'),
  ofTenant(goalEnded, 'A goal is done, failed or was cancelled.'),
  ofTenant(schedulePaused, 'A schedule was paused: it failed five times in a row.'),
  ofTenant(iotEvents.readingBad, 'A variable of a device has no value, or one that is none; told once a minute at most.'),
  ofTenant(commEvents.messageNotSent, 'No provider accepted a message, or nobody knows whether one did.'),
  ofNode(cloudEvents.backendUnhealthy, 'A provider refuses the key of this node, cannot be reached, or takes no more requests.'),
  ofNode(inferenceEvents.modelLoaded, 'A model was loaded into memory.'),
  ofNode(inferenceEvents.modelUnloaded, 'A model left memory.'),
  ofNode(logsEvents.incidentOpened, 'Rules found something in collected lines: an incident began, or was opened again.'),
  ofNode(logsEvents.incidentChanged, 'An incident was acknowledged, closed or opened again by somebody.'),
];

const byName = new Map(CATALOGUE.map((event) => [event.type.name, event]));

export const EVENT_NAMES: readonly string[] = [...byName.keys()];

/** Whether one of the names is of an event that concerns no tenant. */
export function includesNodeEvents(names: readonly string[]): boolean {
  return names.some((name) => byName.get(name)?.isOfNode);
}
