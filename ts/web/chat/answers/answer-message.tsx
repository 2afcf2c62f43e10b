/** An answer that is whole, or that ended early and can be continued. */
import { useMemo } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Notice } from '../../design/notice.tsx';
import { formatClock, formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { isWriting } from '../compare/compare.ts';
import { focusComposer } from '../composer/composer-focus.ts';
import { draft, setDraft } from '../composer/draft.ts';
import { showCitation } from '../markdown/citation-choice.ts';
import { RecalledMemories } from '../memory/recalled-memories.tsx';
import { readAloud } from '../speech/reading.ts';
import { continueAnswer, isCutShort, regenerate } from '../thread/answer-question.ts';
import {
  type AnswerFacts,
  type Citation,
  citationsOf,
  factsOf,
  type Message,
  toolEventsOf,
  unindexedOf,
  unsupportedOf,
} from '../thread/message.ts';
import { shared } from '../thread/shown-thread.ts';
import { BranchSwitch } from './branch-switch.tsx';
import { MarkdownText } from './markdown-text.tsx';
import { Reasoning } from './reasoning.tsx';
import { ToolCalls } from './tool-calls.tsx';
import { ToolEvents } from './tool-events.tsx';

export function AnswerMessage({ message }: { message: Message }) {
  const facts = factsOf(message);
  const citations = useMemo(() => citationsOf(message.citations), [message.citations]);
  const isBusy = isWriting.value;
  const isOwn = shared.value === undefined;
  return (
    <article class="message answer" id={`m-${message.id}`} aria-label={t('answer')}>
      <Reasoning text={typeof facts.reasoning === 'string' ? facts.reasoning : ''} />
      <ToolEvents events={toolEventsOf(facts.tool_events)} />
      <MarkdownText text={message.content} citations={citations} />
      {Array.isArray(facts.tool_calls) && <ToolCalls calls={facts.tool_calls} />}
      <RecalledMemories answerId={message.id} />
      <AnswerSources citations={citations} />
      <UnsupportedClaims citations={citations} />
      <UnindexedFiles found={facts.unindexed} />
      {facts.ended === 'broken' && <Notice tone="warn">{t('answer_broken')}</Notice>}
      <div class="message-bar">
        <BranchSwitch message={message} />
        <Button size="small" icon="copy" label={t('copy')} onClick={() => copyText(message.content)} />
        <Button size="small" icon="speaker" label={t('read_aloud')} onClick={() => void readAloud(message.id)} />
        {isOwn && (
          <>
            <Button size="small" icon="quote" label={t('quote')} onClick={() => quoteAnswer(message)} />
            <Button
              size="small"
              icon="refresh"
              label={t('regenerate')}
              disabled={isBusy}
              onClick={() => void regenerate(message)}
            />
          </>
        )}
        {isOwn && isCutShort(message) && (
          <Button size="small" icon="play" disabled={isBusy} onClick={() => void continueAnswer(message)}>
            {t('continue')}
          </Button>
        )}
        <span class="facts">{[message.model, ...factTexts(facts)].filter(Boolean).join(' · ')}</span>
      </div>
    </article>
  );
}

function factTexts({ completion_tokens, tokens_per_second, ended }: AnswerFacts): string[] {
  const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
  return [
    ...(isNumber(completion_tokens) ? [t('tokens', { count: completion_tokens })] : []),
    ...(isNumber(tokens_per_second) ? [t('tokens_per_second', { rate: formatNumber(tokens_per_second, 1) })] : []),
    ...(ended === 'stopped' ? [t('stopped')] : []),
  ];
}

/** Documents that an answer stands on, below it. */
function AnswerSources({ citations }: { citations: readonly Citation[] }) {
  if (citations.length === 0) return null;
  return (
    <ul class="sources" aria-label={t('sources')}>
      {citations.map((citation) => (
        <li key={citation.n}>
          <button type="button" class="source" onClick={() => showCitation(citation)}>
            <span class="citation-number">{citation.n}</span>
            {citation.source}
            {citation.page !== undefined && <span class="quiet">{t('page', { n: citation.page })}</span>}
            {typeof citation.start_seconds === 'number' && <span class="quiet">{formatClock(citation.start_seconds)}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Says in words what the text marks. */
function UnsupportedClaims({ citations }: { citations: readonly Citation[] }) {
  const texts = new Set(citations.flatMap(unsupportedOf).map(({ text }) => `“${text}”`));
  if (texts.size === 0) return null;
  return <Notice tone="warn">{t('unsupported_detail', { texts: [...texts].join(', ') })}</Notice>;
}

/** Files of the knowledge bases that an answer was looked up in, and that no search finds: what they say cannot be in it. */
function UnindexedFiles({ found }: { found: unknown }) {
  const unindexed = unindexedOf(found);
  if (unindexed === undefined || unindexed.count === 0) return null;
  const { count, files } = unindexed;
  return (
    <Notice>
      <details class="unindexed">
        <summary>{t('unindexed_count', { count })}</summary>
        <ul>
          {files.map(({ source, detail }) => (
            <li key={source} class="breakable">
              <strong>{source}</strong> <span class="quiet">{detail}</span>
            </li>
          ))}
        </ul>
      </details>
    </Notice>
  );
}

const MAX_LENGTH = 1_000;

/** Puts what is marked of an answer, or its beginning, into the message that is being written. */
function quoteAnswer(message: Message): void {
  const text = (markedIn(message.id) || message.content).trim();
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()} …` : text;
  const quoted = cut
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  setDraft(`${draft.value === '' ? '' : `${draft.value}\n\n`}${quoted}\n\n`);
  setTimeout(focusComposer);
}

function markedIn(id: string): string {
  const selection = getSelection();
  const article = document.getElementById(`m-${id}`);
  const isInside =
    selection?.anchorNode != null && article?.contains(selection.anchorNode) && article.contains(selection.focusNode);
  return isInside ? selection.toString() : '';
}
