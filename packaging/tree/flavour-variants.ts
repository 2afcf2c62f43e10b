/** Which of ggml's CPU variants a package holds. */
import { missingFeatures, newerCompilerVariants, shippedVariants } from '../../scripts/setup/cpu-variants.mjs';
import type { Flavour } from '../flavour.ts';

/** What the processor of a Raspberry Pi 5 (Cortex-A76) has of what variants need. */
const raspberryPi5 = new Set(['asimddp', 'asimdhp']);
const VARIANT = /^libggml-cpu-(.+)\.so$/;

/** False for a variant that no machine of the package's can run; true for every other file. */
export function isForFlavour({ name, target }: Pick<Flavour, 'name' | 'target'>, file: string): boolean {
  const [, variant] = VARIANT.exec(file) ?? [];
  return name !== 'minimal' || variant === undefined || missingFeatures(target.arch, variant, raspberryPi5).length === 0;
}

/** Those that are not among the files of a package whose build is meant to have all. */
export function lackingVariants(flavour: Pick<Flavour, 'name' | 'target'>, files: readonly string[]): string[] {
  return shippedVariants(flavour.target.arch).filter((variant) => {
    const file = `libggml-cpu-${variant}.so`;
    return isForFlavour(flavour, file) && !newerCompilerVariants.includes(variant) && !files.includes(file);
  });
}
