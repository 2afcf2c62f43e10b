/** What the inspection of a model file found; the child process prints one as JSON. */
export type Verdict =
  | {
      usable: true;
      hasChatTemplate: boolean;
      supportsTools: boolean;
      supportsThinking: boolean;
    }
  | {
      usable: false;
      reason: string;
      /** The child ended without a verdict of its own: perhaps the machine's fault, so the next start asks again. */
      isDeath?: true;
    };

/** The child is another process and its output is checked like any other input. */
export function parseVerdict(text: string): Verdict | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<string, unknown>> | null;
    if (value?.['usable'] === false) return { usable: false, reason: String(value['reason']) };
    if (value?.['usable'] !== true) return undefined;
    return {
      usable: true,
      hasChatTemplate: value['hasChatTemplate'] === true,
      supportsTools: value['supportsTools'] === true,
      supportsThinking: value['supportsThinking'] === true,
    };
  } catch {
    return undefined;
  }
}
