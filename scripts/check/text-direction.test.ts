import t from 'tap';
import { checkTextDirection, physicalRules, physicalWrites } from './text-direction.ts';

const refused = [
  'margin-left: 1px',
  'border-right: 0',
  'left: 0',
  'border-top-left-radius: 4px',
  'text-align: right',
  'float: left',
  'object-position: left center',
  'padding: 1px 2px 3px 4px',
  'inset: 0 auto 0 0',
  'border-radius: 4px 4px 0 4px',
  'border-radius: 4px 0',
  'translate: -105%',
  'translate: 1px 0',
  'scale: -1 1',
  'transform: translateX(2px)',
  'padding: var(--a) calc(1px + (2 * 3px)) 0 var(--b)',
];
const accepted = [
  'margin-inline-start: 1px',
  'text-align: start',
  'padding: 1px 2px 3px',
  'padding: 0 calc(1px + (2 * 3px)) 4px calc(1px + (2 * 3px))',
  'inset: auto 0 4px',
  'border-radius: 0 0 4px 4px',
  'border-end-end-radius: 4px',
  'translate: 0 -200%',
  'translate: 0',
  'translate: calc(var(--forward) * -105%)',
  'scale: var(--forward) 1',
  'scale: 0.8',
  'transition: left-over 1s',
  'background: #fff /* left: 1px; */',
];

t.test('a rule that holds for one way alone is found, on its line', async (t) => {
  for (const rule of refused) {
    t.strictSame(physicalRules(`.a {\n  color: red;\n  ${rule};\n}\n`), [{ line: 3, text: rule }], rule);
    t.equal(physicalRules(`.a{${rule}}`).length, 1, `${rule}, in one line`);
  }
});

t.test('one that holds for both is not', async (t) => {
  for (const rule of accepted) t.strictSame(physicalRules(`.a > :not(.left) {\n  ${rule};\n}\n`), [], rule);
});

t.test('scripts write no side', async (t) => {
  for (const line of ["a.style.left = '1px';", 'a.style.marginRight = x;', "a.style.setProperty('left', x)"])
    t.equal(physicalWrites(`const a = 1;\n${line}`)[0]?.line, 2, line);
  for (const line of ["a.style.insetInlineStart = '1px';", 'at.left + 8', 'a.style.top = x;'])
    t.strictSame(physicalWrites(line), [], line);
});

t.test('files are named with their paths', async (t) => {
  const root = t.testdir({
    ts: { web: { a: { 'b.css': '.a {\n  left: 0;\n}\n', 'c.tsx': 'e.style.right = 0;\n' }, 'd.css': '' } },
  });
  t.strictSame(checkTextDirection(root), {
    nFiles: 3,
    findings: ['ts/web/a/b.css:2: left: 0', 'ts/web/a/c.tsx:1: e.style.right = 0;'],
  });
});
