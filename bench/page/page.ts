/** One HTML page for one run: works from the file system, asks the network for nothing, and shows its tables without scripts. */

import { escapeHtml } from '../../ts/server/platform/text/escape-html.ts';
import { summaryLines, tally } from '../report.ts';
import type { ResultFile } from '../result-file.ts';
import { plotsOf } from './plot.ts';
import { scriptJson } from './script-json.ts';
import { trialSection } from './trial-section.ts';

/** What is copied into the page, so that it stands alone. */
export interface PageAssets {
  /** uPlot's script and style sheet. */
  plotScript: string;
  plotStyle: string;
  /** This page's own. */
  script: string;
  style: string;
}

export function renderPage(run: ResultFile, assets: PageAssets): string {
  const title = `${run.suite} on ${run.model}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${inline(assets.plotStyle, 'style')}</style>
<style>${inline(assets.style, 'style')}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="summary">${escapeHtml(summaryLines(tally(run.results)).join(', '))}</p>
${facts(run)}
${run.results.map(trialSection).join('\n')}
</main>
<script type="application/json" id="plots">${scriptJson(run.results.map(plotsOf))}</script>
<script>${inline(assets.plotScript, 'script')}</script>
<script>${inline(assets.script, 'script')}</script>
</body>
</html>
`;
}

function facts({ at, modelSha256, nThreads, nRounds, isQuick, rivalFlags, machine }: ResultFile): string {
  const flags = rivalFlags.length > 0 ? [`the rival with ${rivalFlags.join(' ')}`] : [];
  const settings = [`${nThreads} threads`, `${nRounds} rounds`, ...(isQuick ? ['quick loads'] : []), ...flags];
  const rows: [string, string][] = [
    ['measured', at],
    [
      'machine',
      `${machine.cpu}, ${machine.nCores} cores, ${Math.round(machine.memoryBytes / 2 ** 30)} GiB, Linux ${machine.kernel}`,
    ],
    ['GPU', machine.gpus.join(', ') || 'none to hand'],
    ['software', `commit ${machine.commit}, Node ${machine.node}, built for ${machine.preset}`],
    ['model', `SHA-256 ${modelSha256}`],
    ['settings', settings.join(', ')],
  ];
  const items = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<dl>${items.join('')}</dl>`;
}

/** Our own files and uPlot's: neither ends its element early today, and this keeps it so. */
function inline(text: string, element: 'script' | 'style'): string {
  if (text.toLowerCase().includes(`</${element}`)) throw new Error(`an asset of the page contains </${element}`);
  return text;
}
