/** Thoughts of an earlier turn, as the providers that sign them want them back: those that the provider itself has signed or hidden, untouched. */
import type { ChatMessage } from './chat-call.ts';
import type { Json } from './json.ts';
import { UnsupportedMember } from './kind.ts';

export function signedThoughts({ reasoning_details: details = [] }: ChatMessage): Json[] {
  return details.filter(({ signature, data }) => typeof signature === 'string' || typeof data === 'string');
}

/** How many tokens of thoughts an effort stands for, where a provider counts them. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 24_576, xhigh: 32_768 };

/** Undefined: as the model does by itself; 0: none. Throws UnsupportedMember for an effort that stands for no budget. */
export function thinkingTokens(call: {
  thinkingBudget: number | undefined;
  reasoningEffort: string | undefined;
  enableThinking: boolean | undefined;
}): number | undefined {
  if (call.enableThinking === false || call.reasoningEffort === 'none') return 0;
  if (call.thinkingBudget !== undefined) return call.thinkingBudget;
  if (call.reasoningEffort !== undefined) {
    if (!Object.hasOwn(BUDGETS, call.reasoningEffort))
      throw new UnsupportedMember('reasoning_effort', `the effort ${call.reasoningEffort.slice(0, 40)}`);
    return BUDGETS[call.reasoningEffort];
  }
  return call.enableThinking === true ? BUDGETS['medium'] : undefined;
}

/** Text of a message or of its parts. */
export function plainText(content: string | Json[] | null): string {
  if (content === null) return '';
  return typeof content === 'string'
    ? content
    : content.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n');
}

/** The arguments of a call as an object; they were checked to be JSON when they came. */
export function argumentsOf(text: string): Json {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : { value };
}
