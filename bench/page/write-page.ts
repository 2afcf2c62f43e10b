import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readResults } from '../result-file.ts';
import { type PageAssets, renderPage } from './page.ts';

/** Writes the page of a result file beside it, and returns its path. */
export function writePage(resultPath: string): string {
  const path = `${resultPath.replace(/\.json$/, '')}.html`;
  writeFileSync(path, renderPage(readResults(resultPath), readAssets()));
  return path;
}

function readAssets(): PageAssets {
  const dist = join(createRequire(import.meta.url).resolve('uplot/package.json'), '../dist');
  const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
  return {
    plotScript: read(dist, 'uPlot.iife.min.js'),
    plotStyle: read(dist, 'uPlot.min.css'),
    script: read(import.meta.dirname, 'plots.js'),
    style: read(import.meta.dirname, 'page.css'),
  };
}
