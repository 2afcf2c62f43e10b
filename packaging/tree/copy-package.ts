/** Copies what a package needs at run time: no sources, no types, no binaries of other platforms. */
import { globSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { NpmPackage } from '../bundle/npm-package.ts';
import type { Target } from '../bundle/package-finder.ts';
import { copyFile } from './copy-file.ts';

const unneeded = [
  /\.(d\.[cm]?ts|map|ts|md|markdown|gyp|gypi|h|hpp|c|cc|cpp|yml|yaml)$/,
  /(^|\/)(test|tests|bench|benchmark|example|examples|docs|deps|bin|src\/.*\.cpp)\//,
  /(^|\/)\.[^/]+/,
];
/** Of these packages nothing but what the program loads: pdf.js brings four builds of itself, a viewer, and what draws pages. */
const loaded: Record<string, RegExp> = {
  // Its publisher has builds for all systems in one package.
  '@uwsjs/linux-arm64-22': /^(uws\.js|uws_linux_arm64_127\.node)$/,
  '@uwsjs/darwin-arm64-22': /^(uws\.js|uws_darwin_arm64_127\.node)$/,
  'pdfjs-dist': /^(legacy\/build\/pdf(\.worker)?\.mjs|cmaps\/.*|standard_fonts\/.*)$/,
};
const isLibrary = (path: string) => /\.(node|so)(\.[\d.]+)?$/.test(path);
const isLicense = (path: string) => /(^|\/)(licen[cs]e|copying|notice)[^/]*$/i.test(path);

export function copyPackage({ name, folder }: NpmPackage, target: Target, destination: string): void {
  const files = globSync('**/*', { cwd: folder, exclude: (path) => path === 'node_modules' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => statSync(join(folder, path)).isFile() && !path.startsWith('node_modules/'));
  for (const file of files.filter((path) => isNeeded(name, path, target)))
    copyFile(join(folder, file), join(destination, name, file), isLibrary(file) ? 0o755 : 0o644);
}

function isNeeded(name: string, path: string, { platform, arch }: Target): boolean {
  if (path === 'package.json' || isLicense(path)) return true;
  if (loaded[name] !== undefined) return loaded[name].test(path);
  const prebuilt = /^prebuilds\/(.+)\.node$/.exec(path);
  if (prebuilt) return prebuilt[1] === `${platform}-${arch}`;
  return !unneeded.some((pattern) => pattern.test(path));
}
