/** A document that draws a Mermaid diagram. Mermaid's script is fetched by the page and handed to the frame, which can load nothing. */
import scriptAddress from '@mermaid-js/tiny/dist/mermaid.tiny.js?url';
import { Refusal } from '../../client/refusal.ts';
import { scriptText } from './script-text.ts';

let script: Promise<string> | undefined;

/** Throws Refusal where the script cannot be fetched. */
export async function mermaidDocument(source: string, isDark: boolean): Promise<string> {
  script ??= fetchScript();
  try {
    const mermaid = await script;
    return `<!doctype html><meta charset="utf-8"><title>Diagram</title><style>${style(isDark)}</style><div id="diagram"></div>
<script>${scriptText(mermaid)}</script><script>${drawing(source, isDark)}</script>`;
  } catch (error) {
    script = undefined;
    throw error;
  }
}

async function fetchScript(): Promise<string> {
  try {
    const response = await fetch(scriptAddress);
    if (!response.ok) throw await Refusal.from(response);
    return await response.text();
  } catch (error) {
    throw error instanceof Refusal ? error : Refusal.unreachable(error);
  }
}

function style(isDark: boolean): string {
  const [paper, ink] = isDark ? ['#22201d', '#ece8e1'] : ['#ffffff', '#1d1b18'];
  return `body{margin:0;padding:12px;background:${paper};color:${ink};font:14px system-ui,sans-serif}
#diagram{display:grid;justify-items:center}svg{max-width:100%;height:auto}pre{white-space:pre-wrap}`;
}

function drawing(source: string, isDark: boolean): string {
  const options = {
    startOnLoad: false,
    securityLevel: 'strict',
    theme: isDark ? 'dark' : 'default',
    suppressErrorRendering: true,
  };
  return `
const target = document.getElementById('diagram');
mermaid.initialize(${JSON.stringify(options)});
mermaid.render('drawing', ${scriptText(JSON.stringify(source))}).then(({ svg }) => { target.innerHTML = svg; }, (error) => {
  const text = document.createElement('pre');
  text.textContent = String(error?.message ?? error);
  target.replaceChildren(text);
}).finally(() => parent.postMessage({ height: document.documentElement.scrollHeight + 4 }, '*'));`;
}
