import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkTerms } from './term-findings.ts';

function findingsIn(t: Test, path: string, text: string): string[] {
  const root = t.testdir();
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return checkTerms(root).findings;
}

const replaced: [what: string, path: string, text: string, finding: RegExp][] = [
  ['an identifier', 'ts/a.ts', '\nconst nativeDoor = 1;', /^ts\/a\.ts:2: nativeDoor has "door", write: binding/],
  ['a private member', 'ts/a.ts', 'class A { #hasty = 1 }', /^ts\/a\.ts:1: #hasty .* priority$/],
  ['a plural', 'ts/a.ts', 'export type Doors = 1;', /Doors has "door"/],
  ['two words', 'ts/a.ts', 'const kvTierBytes = 1;', /kvTierBytes has "kv tier", write: KV offload/],
  ['a metric', 'ts/a.ts', "f('svc_kv_tier_hits_total');", /svc_kv_tier_hits_total has "kv tier"/],
  ['a settings key', 'ts/a.ts', "f('http.patience_ms');", /http\.patience_ms .* header timeout/],
  ['a file name', 'scripts/lent-memory.mjs', '', /^scripts\/lent-memory\.mjs:1: lent-memory\.mjs .* reserve/],
  ['native code', 'native/a.h', '// a room\n#pragma once\nclass KvTier {};', /^native\/a\.h:3: KvTier has "kv tier"/],
  ['a heading', 'README.md', '# svc\n\n## The usual settings', /^README\.md:3: .*"usual", write: default/],
  ['a heading of a guide', 'docs/guide.md', '# The usual settings', /^docs\/guide\.md:1: .*"usual", write: default/],
];

for (const [what, path, text, finding] of replaced) {
  t.test(`${what} with a replaced term is found, with what to write`, async (t) => {
    const findings = findingsIn(t, path, text);
    t.equal(findings.length, 1);
    t.match(findings[0], finding);
  });
}

const kept: [what: string, path: string, text: string][] = [
  ['a word that only contains a term', 'ts/a.ts', 'const roommate = 1; const companyless = 2;'],
  ['half of a term of two words', 'ts/a.ts', 'const tier = 1; const kv = 2; const nTurns = 3;'],
  ['an ordinary phrase', 'ts/a.ts', 'const giveUp = 1; const leaseMs = 2;'],
  ['prose in a string', 'ts/a.ts', "log('there is no room');"],
  ['another use of the word', 'bench/verdict.ts', 'export const verdict = 1;'],
  ['prose of native code', 'native/a.cpp', '// a door\nconst char * text = "a door";  /* room */'],
];

for (const [what, path, text] of kept) {
  t.test(`${what} is left alone`, async (t) => {
    t.strictSame(findingsIn(t, path, text), []);
  });
}

t.test('a tool that sees nothing is not green', async (t) => {
  t.equal(checkTerms(t.testdir()).nNames, 0);
});
