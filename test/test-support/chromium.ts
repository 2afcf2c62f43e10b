import { existsSync } from 'node:fs';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Debian's chromium, as playwright starts it; undefined where there is none. */
export const chromiumOptions = programs
  .filter((path) => existsSync(path))
  .map((executablePath) => ({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  }))[0];

/** Names the address of a browser that test files share, one after the other. */
export const SHARED_BROWSER = 'SVC_TEST_BROWSER';
