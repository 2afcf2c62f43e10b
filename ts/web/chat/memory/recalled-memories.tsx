/** The page shows what an answer was given of one’s memories, and what a model proposes to remember. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import type { ToolEvent } from '../thread/message.ts';
import { type NewMemory, recalled, remember } from './memories.ts';

export function RecalledMemories({ answerId }: { answerId: string }) {
  const memories = recalled.value.get(answerId);
  if (memories === undefined) return null;
  return (
    <details class="folded">
      <summary>{t('memory_recalled', { count: memories.length })}</summary>
      <ul>
        {memories.map(({ id, text }) => (
          <li key={id} class="breakable">
            {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Nothing is kept until the reader presses the button. */
export function MemoryProposal({ event }: { event: ToolEvent }) {
  const [isKept, setKept] = useState(false);
  const proposal = proposalOf(event);
  if (proposal === undefined) return null;
  return (
    <div class="tool-decision">
      <p class="breakable">{t('memory_proposed', { text: proposal.text })}</p>
      <div class="buttons">
        <Button
          look="main"
          disabled={isKept}
          onClick={() => {
            setKept(true);
            void remember(proposal);
          }}
        >
          {t('remember')}
        </Button>
      </div>
    </div>
  );
}

export function isProposal(event: ToolEvent): boolean {
  return proposalOf(event) !== undefined;
}

/** Undefined: the event is another one's, or has not the shape. */
function proposalOf({ tool, state, result }: ToolEvent): NewMemory | undefined {
  if (tool !== 'memory.remember' || state !== 'done') return undefined;
  const { text, kind, subject } = ((result ?? {}) as { proposal?: Record<string, unknown> }).proposal ?? {};
  if (typeof text !== 'string' || text === '') return undefined;
  return {
    text,
    ...(typeof kind === 'string' && { kind: kind as NonNullable<NewMemory['kind']> }),
    ...(typeof subject === 'string' && subject !== '' && { subject }),
  };
}
