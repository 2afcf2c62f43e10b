/** Tools and thinking of every foreign API -> their part of the engine's prompt. */
import type { ChatPrompt } from '../../inference/index.ts';
import type { ToolUse } from './tools.ts';

type ChatPromptPart = Partial<ChatPrompt>;

export function promptTools({ tools, choice, isSingle }: ToolUse, parallel: boolean | null | undefined): ChatPromptPart {
  if (tools.length === 0) return {};
  const parallelToolCalls = isSingle ? false : (parallel ?? undefined);
  return {
    toolsJson: JSON.stringify(tools),
    toolChoice: choice,
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  };
}

export function promptThinking(
  effort: string | null | undefined,
  kwargs: Record<string, unknown> | null | undefined,
): ChatPromptPart {
  const asked = effort === 'none' ? false : kwargs?.['enable_thinking'];
  return {
    ...(typeof asked === 'boolean' ? { enableThinking: asked } : {}),
    ...(kwargs ? { templateKwargsJson: JSON.stringify(kwargs) } : {}),
  };
}
