/** What a server said it keeps, written down by its clients: after a kill all of it must be there. */
import type OpenAI from 'openai';

export interface Acknowledged {
  /** Whole responses, as the client got them. */
  responses: Map<string, OpenAI.Responses.Response>;
  /** Background responses, which are jobs, with the number of the last event that arrived. */
  background: Map<string, number>;
  /** Ids of the messages of each conversation, in the order in which they were acknowledged. */
  conversations: Map<string, string[]>;
  /** Tenants, each written together with its line of the audit log. */
  tenants: Set<string>;
}

export function nothingAcknowledged(): Acknowledged {
  return { responses: new Map(), background: new Map(), conversations: new Map(), tenants: new Set() };
}

export function countOf({ responses, background, conversations, tenants }: Acknowledged): number {
  const nMessages = [...conversations.values()].reduce((sum, messages) => sum + messages.length, 0);
  return responses.size + background.size + nMessages + tenants.size;
}
