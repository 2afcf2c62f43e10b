/** An answer that is whole, or that ended early and can be continued. */
import { useMemo } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Notice } from '../../design/notice.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { isWriting } from '../compare/compare.ts';
import { continueAnswer, isCutShort, regenerate } from '../thread/answer-question.ts';
import { type AnswerFacts, citationsOf, factsOf, type Message } from '../thread/message.ts';
import { shared } from '../thread/shown-thread.ts';
import { AnswerSources } from './answer-sources.tsx';
import { BranchSwitch } from './branch-switch.tsx';
import { MarkdownText } from './markdown-text.tsx';
import { quoteAnswer } from './quote.ts';
import { Reasoning } from './reasoning.tsx';
import { ToolCalls } from './tool-calls.tsx';
import { UnindexedFiles } from './unindexed-files.tsx';

export function AnswerMessage({ message }: { message: Message }) {
  const facts = factsOf(message);
  const citations = useMemo(() => citationsOf(message.citations), [message.citations]);
  const isBusy = isWriting.value;
  const isOwn = shared.value === undefined;
  return (
    <article class="message answer" id={`m-${message.id}`} aria-label={t('answer')}>
      <Reasoning text={typeof facts.reasoning === 'string' ? facts.reasoning : ''} />
      <MarkdownText text={message.content} citations={citations} />
      {Array.isArray(facts.tool_calls) && <ToolCalls calls={facts.tool_calls} />}
      <AnswerSources citations={citations} />
      <UnindexedFiles found={facts.unindexed} />
      {facts.ended === 'broken' && <Notice tone="warn">{t('answer_broken')}</Notice>}
      <div class="message-bar">
        <BranchSwitch message={message} />
        <Button size="small" icon="copy" label={t('copy')} onClick={() => copyText(message.content)} />
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
