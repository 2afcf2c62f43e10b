import type { CreateLibrary } from '../vector-library.ts';
import { flatScan } from './flat-scan.ts';
import { hnswlib } from './hnswlib.ts';
import { sqliteVec } from './sqlite-vec.ts';
import { svc, svcB1, svcI8 } from './svc.ts';
import { usearch } from './usearch.ts';

/** By the names that figures have. */
export const libraries: Readonly<Record<string, CreateLibrary>> = {
  svc,
  svcI8,
  svcB1,
  usearch,
  hnswlib,
  sqliteVec,
  flatScan,
};
/** What a knowledge base has by setting; figures of theirs stand beside svc's own. */
export const codedLibraries: readonly string[] = ['svcI8', 'svcB1'];
export const rivalLibraries = Object.keys(libraries).filter((name) => !name.startsWith('svc'));
