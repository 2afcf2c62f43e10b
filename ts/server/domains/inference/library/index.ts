/** The binding of the model library: the files on disk, where they come from, and whether they are sound. */

export type { AllowedHost } from '../../../platform/network/allowed-host.ts';
export { parseAllowedHost } from './allowed-hosts.ts';
export { type CatalogueKind, type CatalogueModel, catalogue, findInCatalogue, firstModels } from './catalogue.ts';
export { freeBytes, spaceForModels } from './files/disk-space.ts';
export { LibraryError, type LibraryErrorCode } from './files/library-error.ts';
export { findHubAddress } from './hub-address.ts';
export { type ImportedModel, type ImportOptions, importModel } from './import.ts';
export { type LibraryEntry, type LibraryOptions, ModelLibrary, storedModel } from './library.ts';
export { modelNameOfFile } from './model-name.ts';
export { findOwnFile, type NodeFile, type NodeFiles, type OwnFile, type WantedFile } from './node-files.ts';
export { checkPull, type PulledModel, type PullOptions, pullModel } from './pull.ts';
export { type Verification, type VerifyOptions, verifyModel } from './verify.ts';
