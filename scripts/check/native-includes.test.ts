import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkNativeIncludes } from './native-includes.ts';

/** @param files path below native -> its includes */
function tree(test: Test, files: Record<string, string[]>): string {
  const root = test.testdir({});
  for (const [path, includes] of Object.entries(files)) {
    const file = join(root, 'native', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, includes.map((include) => `#include ${include}\n`).join(''));
  }
  return root;
}

t.test('a folder includes itself, what lies below it, and libraries', async (t) => {
  const root = tree(t, {
    'common/status.h': ['<string>'],
    'llama/kv/sequences.h': ['"../../common/status.h"', '"prefix_tree.h"', '"llama.h"', '"../model/model.h"'],
    'llama/kv/prefix_tree.h': [],
    'llama/model/model.h': ['"chat.h"'],
  });
  t.strictSame(checkNativeIncludes(root), { nIncludes: 3, problems: [] });
});

t.test('upwards and sideways are refused, with the line', async (t) => {
  const root = tree(t, {
    'common/status.h': ['"../llama/text/text.h"'],
    'llama/text/text.h': [],
    'llama/engine/engine.h': ['<map>', '"../embed/embedder.h"'],
    'llama/embed/embedder.h': ['"../bindings/addon.h"'],
    'llama/bindings/addon.h': [],
  });
  t.strictSame(checkNativeIncludes(root).problems, [
    'native/common/status.h:1: common may not include native/llama/text/text.h',
    'native/llama/embed/embedder.h:1: embed may not include native/llama/bindings/addon.h',
    'native/llama/engine/engine.h:2: engine may not include native/llama/embed/embedder.h',
  ]);
});

t.test('each addon has folders of its own', async (t) => {
  const root = tree(t, {
    'vector/files/file.h': ['"../../common/status.h"', '"../rows/rows.h"'],
    'vector/rows/rows.h': ['"../files/file.h"', '"../../llama/text/text.h"'],
    'common/status.h': [],
    'llama/text/text.h': [],
  });
  t.strictSame(checkNativeIncludes(root).problems, [
    'native/vector/files/file.h:2: files may not include native/vector/rows/rows.h',
    'native/vector/rows/rows.h:2: rows may not include native/llama/text/text.h',
  ]);
});

t.test('a file outside the folders is named; tests may include everything', async (t) => {
  const root = tree(t, {
    'llama/loose.cpp': [],
    'llama/extra/more.cpp': [],
    'llama/test/engine_test.cpp': ['"../engine/engine.h"'],
    'llama/engine/engine.h': ['"../vector/kernels.h"'],
  });
  t.strictSame(checkNativeIncludes(root).problems, [
    'native/llama/engine/engine.h:1: engine may not include native/llama/vector/kernels.h',
    'native/llama/extra/more.cpp lies in no folder of scripts/check/native-includes.ts',
    'native/llama/loose.cpp lies in no folder of scripts/check/native-includes.ts',
  ]);
});
