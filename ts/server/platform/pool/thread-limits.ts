/**
 * Of a thread's isolate, for `resourceLimits`. V8's default lets the young generation grow to 48 MiB in each thread and keeps most of it; with
 * a dozen threads that is more than all that they hold. Tasks of ours pass large values on: they gain nothing by a larger one.
 */
export const threadLimits = { maxYoungGenerationSizeMb: 12 };
