/**
 * The events that inference tells other modules, through the outbox. Models are the node's, not a tenant's; the account that pulled one is a
 * tenant's.
 */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

const Model = Type.Object({ model: Type.String() });

export const modelLoaded = new EventType('inference.model-loaded', Model);
export const modelUnloaded = new EventType('inference.model-unloaded', Model);
export const modelPulled = new EventType('inference.model-pulled', Type.Object({ model: Type.String(), job: Type.String() }));
