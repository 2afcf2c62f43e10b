import { escapeHtml } from '../../ts/server/platform/text/escape-html.ts';
import { figure } from '../report.ts';
import type { TrialResult } from '../runner.ts';
import { describeBound } from '../trial.ts';
import type { Verdict } from '../verdict.ts';

const noRival = 'no rival';

/** A trial's table, with an empty element after it that the page's script fills with plots. */
export function trialSection({ trial, verdicts }: TrialResult): string {
  const head = [
    'figure',
    'unit',
    trial.ours ?? 'svc',
    trial.rival ?? noRival,
    'ratio (lowest to highest)',
    'of',
    'goal',
    'verdict',
  ];
  return `<section>
<h2>${escapeHtml(trial.name)}</h2>
<p>${escapeHtml(trial.summary)}</p>
<div class="table"><table>
<thead><tr>${head.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('')}</tr></thead>
<tbody>
${verdicts.map((verdict) => row(verdict, trial)).join('\n')}
</tbody>
</table></div>
<div class="plots"></div>
</section>`;
}

function row(verdict: Verdict, trial: TrialResult['trial']): string {
  const { goal, ours, rival, holds } = verdict;
  const result = holds === undefined ? 'open' : holds ? 'held' : 'missed';
  const cells = [goal.unit, figure(ours), figure(rival), ratio(verdict), reference(verdict, trial), describeBound(goal)];
  return `<tr class="${result}"><th scope="row">${escapeHtml(goal.figure)}</th>${cells
    .map((cell) => `<td>${escapeHtml(cell)}</td>`)
    .join('')}<td class="verdict">${verdictText(verdict)}</td></tr>`;
}

function verdictText({ goal, holds }: Verdict): string {
  if (goal.atLeast === undefined && goal.atMost === undefined) return '';
  return holds === undefined ? 'not measured' : holds ? 'held' : 'missed';
}

function ratio({ ratio, ratioLow, ratioHigh }: Verdict): string {
  if (ratio === undefined) return '-';
  return `${ratio.toFixed(2)} (${ratioLow?.toFixed(2)} to ${ratioHigh?.toFixed(2)})`;
}

/** What the ratio is a ratio of. */
function reference({ goal, reference }: Verdict, { rival, ceiling }: TrialResult['trial']): string {
  if (goal.against === undefined) return '-';
  if (goal.against === 'rival') return rival ?? noRival;
  return `${goal.against === 'ceiling' ? ceiling : goal.against.baseline}: ${figure(reference)}`;
}
