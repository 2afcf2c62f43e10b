import t from 'tap';
import { shippedVariants } from '../../scripts/setup/cpu-variants.mjs';
import { findFlavour } from '../flavour.ts';
import { isForFlavour, lackingVariants } from './flavour-variants.ts';

const fileOf = (variant: string): string => `libggml-cpu-${variant}.so`;

t.test('the minimal package holds what a Raspberry Pi 5 can run, and the others hold all', async (t) => {
  const files = [...shippedVariants('arm64').map(fileOf), 'libllama.so.0'];
  t.strictSame(
    files.filter((file) => isForFlavour(findFlavour('minimal', 'aarch64'), file)),
    [...['armv8.2_1', 'armv8.2_2'].map(fileOf), 'libllama.so.0'],
  );
  t.strictSame(
    files.filter((file) => isForFlavour(findFlavour('cpu', 'aarch64'), file)),
    files,
  );
});

t.test('a variant that a release lacks is named, but for those that its compiler may not know', async (t) => {
  const files = shippedVariants('x64').map(fileOf);
  const x86 = findFlavour('cpu', 'x86_64');
  t.strictSame(lackingVariants(x86, files), []);
  t.strictSame(lackingVariants(x86, files.slice(1)), ['haswell']);
  const arm = ['armv8.2_1', 'armv8.2_2', 'armv8.2_3', 'armv8.6_1'].map(fileOf);
  t.strictSame(lackingVariants(findFlavour('cpu', 'aarch64'), arm), ['armv8.6_2']);
  t.strictSame(lackingVariants(findFlavour('minimal', 'aarch64'), arm), []);
});
