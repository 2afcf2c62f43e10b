/** Sizes that the module accepts. Characters are UTF-16 code units, as JSON Schema and JavaScript count them. */

export const MAX_TITLE_LENGTH = 500;
export const MAX_FOLDER_LENGTH = 200;
export const MAX_MODEL_LENGTH = 500;
export const MAX_CONTENT_LENGTH = 1024 * 1024;
/** Of `metadata` and of `citations`, each as JSON text. */
export const MAX_JSON_LENGTH = 256 * 1024;
export const MAX_MESSAGES = 20_000;
export const MAX_CONVERSATIONS = 50_000;

export const MAX_PAGE_MESSAGES = 1_000;
export const MAX_PAGE_CONVERSATIONS = 1_000;

export const MAX_SEARCH_LENGTH = 200;
export const MAX_SEARCH_HITS = 50;

/** One conversation of an imported file, as JSON text; and its members and elements, each of which takes far more memory than text does. */
export const MAX_IMPORTED_BYTES = 16 * 1024 * 1024;
/** What all imports together hold of conversations that are not read yet. */
export const MAX_IMPORTS_BYTES = 16 * MAX_IMPORTED_BYTES;
export const MAX_IMPORTED_VALUES = 1_000_000;
export const MAX_IMPORT_BODY_BYTES = 1024 * 1024 * 1024;

export const MAX_ARTIFACTS = 10_000;
export const MAX_ARTIFACT_VERSIONS = 200;
export const MAX_ARTIFACT_LENGTH = 1024 * 1024;
export const MAX_PAGE_ARTIFACTS = 200;

/** Of one caller, and again of the tenant. They are listed together with their texts. */
export const MAX_PROMPTS = 200;
export const MAX_PROMPT_LENGTH = 20_000;
