/**
 * Members of a chat that one kind or another has no word for. A kind names those that it says; any other one that is asked for is refused by
 * its name, so that none is ever dropped in silence.
 */
import type { Sampling } from '../../../native/llama-shapes.ts';
import type { ChatCall, ChatMessage } from './chat-call.ts';
import { isObject, type Json } from './json.ts';
import { UnsupportedMember } from './kind.ts';

interface Check {
  /** The client writes it so. */
  readonly member: string;
  readonly words: string;
  isAsked(call: ChatCall): boolean;
}

const CHECKS = {
  marks: { member: 'cache_control', words: 'marks of the prompt cache', isAsked: hasMarks },
  uncached: {
    member: 'cache_prompt',
    words: 'a prompt outside of its cache',
    isAsked: ({ cachePrompt }) => cachePrompt === false,
  },
  choices: { member: 'n', words: 'several choices', isAsked: ({ n }) => n > 1 },
  logprobs: { member: 'logprobs', words: 'log probabilities', isAsked: ({ topLogprobs }) => topLogprobs !== undefined },
  bias: { member: 'logit_bias', words: 'a bias of tokens', isAsked: ({ logitBias }) => logitBias !== undefined },
  grammar: { member: 'grammar', words: 'a grammar', isAsked: ({ grammar }) => grammar !== undefined },
  schema: { member: 'response_format', words: 'a JSON schema', isAsked: ({ jsonSchema }) => jsonSchema !== undefined },
  templates: {
    member: 'chat_template_kwargs',
    words: 'members of a chat template',
    isAsked: ({ templateKwargs }) => templateKwargs !== undefined,
  },
  effort: {
    member: 'reasoning_effort',
    words: 'an effort of thoughts',
    isAsked: ({ reasoningEffort: effort }) => effort !== undefined,
  },
  budget: {
    member: 'thinking.budget_tokens',
    words: 'a budget of thoughts',
    isAsked: ({ thinkingBudget }) => thinkingBudget !== undefined,
  },
  singleCalls: {
    member: 'parallel_tool_calls',
    words: 'one call at a time',
    isAsked: ({ parallelToolCalls, tools }) => parallelToolCalls === false && tools.length > 0,
  },
  forcedCalls: {
    member: 'tool_choice',
    words: 'a call that must be made',
    isAsked: ({ toolChoice, tools }) => toolChoice === 'required' && tools.length > 0,
  },
  withheldCalls: {
    member: 'tool_choice',
    words: 'tools that may not be called',
    isAsked: ({ toolChoice, tools }) => toolChoice === 'none' && tools.length > 0,
  },
  strictTools: {
    member: 'tools.function.strict',
    words: 'arguments that follow their schema to the letter',
    isAsked: ({ tools }) => tools.some(({ isStrict }) => isStrict),
  },
  tier: { member: 'service_tier', words: 'a service tier', isAsked: ({ priority }) => priority !== 0 },
  drafts: {
    member: 'speculative.n_max',
    words: 'limits of drafts',
    isAsked: ({ nDraftMax, draftSource }) => nDraftMax !== undefined || draftSource !== undefined,
  },
  names: { member: 'messages.name', words: 'names of those who speak', isAsked: ({ messages }) => messages.some(hasName) },
  sounds: { member: 'messages', words: 'sounds', isAsked: ({ media }) => media.some(({ kind }) => kind === 'audio') },
  avif: { member: 'messages', words: 'AVIF', isAsked: ({ media }) => media.some(({ format }) => format === 'image/avif') },
  details: { member: 'messages.image_url.detail', words: 'how closely an image is read', isAsked: hasDetail },
  systemMedia: { member: 'messages', words: 'media of the system', isAsked: ({ messages }) => hasMedia(messages, 'system') },
  resultMedia: { member: 'messages', words: 'media of tools', isAsked: ({ messages }) => hasMedia(messages, 'tool') },
} as const satisfies Record<string, Check>;

export type MemberName = keyof typeof CHECKS;

/** Throws UnsupportedMember for what is asked for and is not among `known`, and so for samplers. */
export function requireKnown(call: ChatCall, known: readonly MemberName[], sampling: readonly (keyof Sampling)[]): void {
  for (const [name, { member, words, isAsked }] of Object.entries<Check>(CHECKS))
    if (!(known as readonly string[]).includes(name) && isAsked(call)) throw new UnsupportedMember(member, words);
  for (const [name, value] of Object.entries(call.sampling)) {
    if (value === undefined || (sampling as readonly string[]).includes(name)) continue;
    const member = wireName(name);
    throw new UnsupportedMember(member, `the sampler ${member}`);
  }
}

export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A mark of the prompt cache, wherever it may stand. */
export function markOf({ cache_control: mark }: Json): Json | undefined {
  return isObject(mark) ? mark : undefined;
}

function hasMarks({ messages, tools, cacheControl }: ChatCall): boolean {
  const isMarked = (one: object): boolean => markOf(one as Json) !== undefined;
  return (
    cacheControl !== undefined ||
    tools.some((tool) => tool.cacheControl !== undefined) ||
    messages.some((message) => isMarked(message) || partsOf(message).some(isMarked) || (message.tool_calls ?? []).some(isMarked))
  );
}

/** A result has the name of its function there. */
function hasName({ role, name }: ChatMessage): boolean {
  return name !== undefined && role !== 'tool';
}

function hasDetail({ messages }: ChatCall): boolean {
  return messages.some((message) =>
    partsOf(message).some((part) => isObject(part['image_url']) && 'detail' in part['image_url']),
  );
}

function hasMedia(messages: readonly ChatMessage[], role: ChatMessage['role']): boolean {
  return messages.some((message) => message.role === role && partsOf(message).some(({ type }) => type !== 'text'));
}

function partsOf({ content }: ChatMessage): Json[] {
  return Array.isArray(content) ? content : [];
}
