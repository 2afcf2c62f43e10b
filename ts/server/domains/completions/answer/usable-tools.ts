/** The tools of a request, as far as the model that answers can be given them: a tool that need not be called does not fail a chat. */
import {
  type ChatPrompt,
  type CompletionRequest,
  estimatePromptTokens,
  type ModelCard,
  type PromptMeter,
  promptBytes,
} from '../../inference/index.ts';

/** The reason why tools are left out, as the header X-Svc-Tools-Ignored says it. */
export type ToolsIgnored = 'unsupported' | 'too_long';

/** Tokens that a call takes, at least: a context that has less left beside the tools is of no use with them. */
const LEAST_ANSWER = 64;

/** Undefined: the model gets them all. Nothing is left out where a call is forced. */
export async function ignoredTools(
  { prompt, media, maxTokens = LEAST_ANSWER }: CompletionRequest['job'],
  card: Pick<ModelCard, 'capabilities' | 'state'>,
  meter: () => PromptMeter,
): Promise<ToolsIgnored | undefined> {
  if (prompt.kind !== 'chat' || prompt.toolsJson === undefined || isForced(prompt)) return undefined;
  if (!card.capabilities.tools) return 'unsupported';
  // A provider judges for itself what it takes.
  if (card.state === 'remote') return undefined;
  const counting = meter();
  const nContext = await counting.contextTokens();
  // A token is a byte at least.
  if (nContext === undefined || promptBytes(prompt) + LEAST_ANSWER <= nContext) return undefined;
  // What is queued can be read once, and the model is to read it.
  const nPrompt = isQueued(prompt) ? estimatePromptTokens(prompt) : await counting.countPrompt(prompt, media);
  return nPrompt + Math.min(maxTokens, LEAST_ANSWER) > nContext ? 'too_long' : undefined;
}

export function isForced(prompt: CompletionRequest['job']['prompt']): boolean {
  return prompt.kind === 'chat' && prompt.toolChoice === 'required';
}

export function withoutTools(request: CompletionRequest, why: ToolsIgnored): CompletionRequest {
  const { toolSchemas: _, ...job } = request.job;
  const prompt = job.prompt.kind === 'chat' ? promptWithoutTools(job.prompt) : job.prompt;
  return { ...request, needsTools: false, toolsIgnored: why, job: { ...job, prompt } };
}

export function promptWithoutTools({ toolsJson: _, toolChoice: __, parallelToolCalls: ___, ...prompt }: ChatPrompt): ChatPrompt {
  return prompt;
}

function isQueued({ messagesJson, toolsJson, templateKwargsJson }: ChatPrompt): boolean {
  return [messagesJson, toolsJson, templateKwargsJson].some((text) => typeof text === 'object' && 'sizeBytes' in text);
}
