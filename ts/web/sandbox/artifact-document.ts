/** The document that shows an artifact. Whatever it holds runs in the sandbox alone. */
import { scriptText } from './script-text.ts';

/** Undefined: the kind has nothing to show but its text. */
export function artifactDocument(kind: string, language: string, text: string): string | undefined {
  if (kind === 'html') return text;
  if (kind === 'svg') return `${HEAD}<style>${SVG_STYLE}</style>${text}`;
  if (kind === 'code' && ['javascript', 'js'].includes(language)) return scriptDocument(text);
  return undefined;
}

const HEAD = '<!doctype html><meta charset="utf-8"><title>Artifact</title>';
const SVG_STYLE =
  'body{margin:0;min-height:100vh;display:grid;place-items:center;background:#fff}svg{max-width:100%;height:auto}';
const OUTPUT_STYLE =
  'body{margin:0;padding:12px;background:#fff;color:#1d1b18}pre{margin:0;white-space:pre-wrap;font:13px ui-monospace,monospace}';

/** What a program writes to the console is shown. */
function scriptDocument(code: string): string {
  const run = `
const output = document.getElementById('output');
const show = (value) => typeof value === 'string' ? value : (() => { try { return JSON.stringify(value) ?? String(value); } catch { return String(value); } })();
const write = (...values) => { output.append(values.map(show).join(' ') + '\\n'); };
Object.assign(console, { log: write, info: write, warn: write, error: write, debug: write });
addEventListener('error', ({ message }) => write(message));
addEventListener('unhandledrejection', ({ reason }) => write(String(reason)));
const script = document.createElement('script');
script.textContent = ${scriptText(JSON.stringify(code))};
document.body.append(script);`;
  return `${HEAD}<style>${OUTPUT_STYLE}</style><body><pre id="output"></pre><script>${run}</script>`;
}
