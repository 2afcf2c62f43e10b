/** The pages' own drawings, on a grid of 24. They say nothing to screen readers: a control has a name of its own. */

const PATHS = {
  plus: 'M12 5v14M5 12h14',
  search: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12M20 20l-4.6-4.6',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  copy: 'M9 9h10v11H9zM5 15V4h10v2',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  refresh: 'M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4',
  stop: 'M7 7h10v10H7z',
  send: 'M12 19V5M6 11l6-6 6 6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5.5 11.2a.8.8 0 1 1 0 1.6a.8.8 0 1 1 0-1.6M12 11.2a.8.8 0 1 1 0 1.6a.8.8 0 1 1 0-1.6M18.5 11.2a.8.8 0 1 1 0 1.6a.8.8 0 1 1 0-1.6',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5',
  users:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M2.5 19c.8-3.6 3.5-5 6.5-5s5.7 1.4 6.5 5M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2 .6 3.2 2 3.7 4.5',
  key: 'M8 11a4 4 0 1 1 0 8 4 4 0 0 1 0-8M11 12l8-8M15.5 7.5l2.5 2.5',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  gauge: 'M4 17a8.5 8.5 0 1 1 16 0M12 14l4-5',
  cube: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  building: 'M5 20V5h9v15M14 10h5v10M3 20h18M8 9h3M8 13h3',
  clock: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M12 8v4l3 2',
  swap: 'M7 4v12M4 13l3 3 3-3M17 20V8M14 11l3-3 3 3',
  palette:
    'M12 4a8 8 0 1 0 0 16c1.5 0 2-1 1.5-2-.6-1.3.3-2.5 1.7-2.5H17a3 3 0 0 0 3-3C20 7.5 16.5 4 12 4M8 11h.01M11 8h.01M15 8.5h.01',
  left: 'M14.5 6l-6 6 6 6',
  right: 'M9.5 6l6 6-6 6',
  down: 'M6 9.5l6 6 6-6',
  link: 'M10 14l9-9M13 5h6v6M17 14v5H5V7h5',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-2 4 3M15 9h.01',
  info: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M12 11v5M12 8h.01',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  signout: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  chat: 'M4 5h16v11H10l-5 4v-4H4z',
  moon: 'M19 14.5A7.5 7.5 0 0 1 9.5 5 7.5 7.5 0 1 0 19 14.5',
  pin: 'M9 4h6l-1 6 3 3H7l3-3zM12 13v7',
  ghost: 'M6 20V11a6 6 0 0 1 12 0v9l-3-2-3 2-3-2zM10 11h.01M14 11h.01',
  tool: 'M14 6a4 4 0 0 1 5 5l-2.5-.5L15 9zM15 10L6 19l-2-2 9-9',
  book: 'M12 6.5c-2-1.7-5-2-8-1v13c3-1 6-.7 8 1 2-1.7 5-2 8-1v-13c-3-1-6-.7-8 1M12 6.5v13',
  play: 'M8 5l11 7-11 7z',
  folder: 'M3 6h6l2 2h10v11H3z',
  archive: 'M4 4h16v4H4zM5 8v12h14V8M10 12h4',
  attach: 'M18.5 11.5l-7 7a4.2 4.2 0 0 1-6-6l8-8a2.8 2.8 0 0 1 4 4l-7.8 7.8a1.4 1.4 0 0 1-2-2l7-7',
  quote: 'M5 7h5v5c0 3-1.5 4.5-4 5M14 7h5v5c0 3-1.5 4.5-4 5',
  columns: 'M3.5 5h6.5v14H3.5zM14 5h6.5v14H14z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  microphone: 'M12 4a3 3 0 0 0-3 3v4a3 3 0 0 0 6 0V7a3 3 0 0 0-3-3M6 11a6 6 0 0 0 12 0M12 17v3',
  speaker: 'M4 10v4h4l5 4V6L8 10zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
  pause: 'M9 6v12M15 6v12',
  skip: 'M6 5l9 7-9 7zM18 5v14',
  globe: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M4 12h16M12 4c5 5 5 11 0 16M12 4c-5 5-5 11 0 16',
} as const;

export type IconName = keyof typeof PATHS;
export const ICONS = Object.keys(PATHS) as readonly IconName[];

/** Those that point along the text, and are turned where it goes to the left. */
const ALONG: ReadonlySet<IconName> = new Set(['left', 'right', 'signout', 'list', 'quote']);

function classOf(name: IconName): string {
  return ALONG.has(name) ? 'icon-mark along' : 'icon-mark';
}

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={classOf(name)} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The same for code that makes elements itself. */
export function iconElement(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', classOf(name));
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
