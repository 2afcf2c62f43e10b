/** `npm run options`: writes what is made of the tables of options. */
import { writeOptionFiles } from './option-files.ts';

writeOptionFiles();
