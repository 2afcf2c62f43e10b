/** What metering tells other modules. */
import Type from 'typebox';
import { EventType } from '../../platform/events/index.ts';

/** Its name is that of what the money is spent on. */
export const budgetExceeded = new EventType(
  'cloud.budget-exceeded',
  Type.Object({ of: Type.String(), id: Type.String(), limit: Type.Integer(), used: Type.Integer(), resets_at: Type.String() }),
);
