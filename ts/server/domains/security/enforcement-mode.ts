/** What becomes of a tool call that the caller's role does not reach. */
export const ENFORCEMENT_MODES = ['stub_allow', 'audit', 'enforce'] as const;

/** `stub_allow`: every call passes. `audit`: it passes, and is listed. `enforce`: it is refused, and listed. */
export type EnforcementMode = (typeof ENFORCEMENT_MODES)[number];

export const DEFAULT_MODE: EnforcementMode = 'stub_allow';
