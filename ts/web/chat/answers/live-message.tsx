/** The answer that is being written. Its text is drawn outside of the component tree, a frame at a time. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n/language.ts';
import { loadRenderer, renderer } from '../markdown/renderer.ts';
import { announce } from './announcer.tsx';
import type { LiveAnswer } from './live-answer.ts';
import { Reasoning } from './reasoning.tsx';
import { ToolCalls } from './tool-calls.tsx';
import { ToolEvents } from './tool-events.tsx';

interface Facts {
  reasoning: string;
  nCalls: number;
  /** Characters of their names and arguments, which come bit by bit. */
  callsLength: number;
  /** Another list with each event. */
  toolEvents: LiveAnswer['toolEvents'];
  hasText: boolean;
}

function factsOf({ reasoning, toolCalls, toolEvents, hasText }: LiveAnswer): Facts {
  const callsLength = toolCalls.reduce((sum, { name, args }) => sum + name.length + args.length, 0);
  return { reasoning, nCalls: toolCalls.length, callsLength, toolEvents, hasText };
}

function isSame(a: Facts, b: Facts): boolean {
  const areSameCalls = a.nCalls === b.nCalls && a.callsLength === b.callsLength && a.toolEvents === b.toolEvents;
  return a.reasoning === b.reasoning && areSameCalls && a.hasText === b.hasText;
}

export function LiveMessage({ answer }: { answer: LiveAnswer }) {
  const root = useRef<HTMLDivElement>(null);
  const [facts, setFacts] = useState<Facts>(() => factsOf(answer));
  const drawing = renderer.value;
  useLayoutEffect(() => {
    if (root.current === null) return;
    const element = root.current;
    element.replaceChildren();
    if (drawing === undefined) loadRenderer();
    const view = drawing === undefined ? element : new drawing.GrowingMarkdown(element, announce);
    const draw = (text: string): void => {
      if (text !== '') view.append(text);
      const now = factsOf(answer);
      // The same object draws nothing: text alone must not draw the component again.
      setFacts((known) => (isSame(known, now) ? known : now));
    };
    return answer.listen(draw);
  }, [answer, drawing]);
  useEffect(() => {
    announce(t('answer_begins'));
  }, [answer]);
  const isWaiting = !facts.hasText && facts.reasoning === '' && facts.nCalls === 0 && facts.toolEvents.length === 0;
  return (
    <article class="message answer" aria-label={t('answer')} aria-busy="true">
      <Reasoning text={facts.reasoning} isLive />
      {isWaiting && (
        <p class="waiting">
          <span class="dots" aria-hidden="true" />
          <span class="unseen">{t('waiting')}</span>
        </p>
      )}
      <ToolEvents events={facts.toolEvents} isLive />
      <div class={drawing === undefined ? 'prose unread' : 'prose'} ref={root} />
      {facts.nCalls > 0 && <ToolCalls calls={[...answer.toolCalls]} />}
    </article>
  );
}
