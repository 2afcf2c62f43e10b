/** Tells the state of a message or a call that goes out. */
import { t } from '../i18n/language.ts';
import { Badge, type Tone } from './badge.tsx';

const TONES = {
  queued: 'accent',
  sending: 'accent',
  sent: 'good',
  failed: 'danger',
  outcome_unknown: 'warn',
  calling: 'accent',
  ringing: 'accent',
  talking: 'accent',
  completed: 'good',
  busy: 'warn',
  no_answer: 'warn',
  declined: 'warn',
  cancelled: 'neutral',
} as const satisfies Record<string, Tone>;
type SentState = keyof typeof TONES;

const ENDED: ReadonlySet<string> = new Set(Object.keys(TONES).filter((state) => TONES[state as SentState] !== 'accent'));

export function SentBadge({ state }: { state: SentState }) {
  return <Badge tone={TONES[state] ?? 'neutral'}>{t(`sent_${state}`)}</Badge>;
}

export function isOnItsWay(state: SentState): boolean {
  return !ENDED.has(state);
}
