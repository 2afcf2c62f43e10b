/** Whether the patterns in a request's schemas are regular expressions, in time that their bounds bound: the event loop waits. */

/** The limits of one pattern and of all in a request, in UTF-16 code units. */
export const maxPatternLength = 4 * 1024;
export const maxRequestPatternLength = 64 * 1024;

/** An escape of two signs, so that the second is not taken for the begin of another, or a property of characters. */
const escaped = /\\(?:[pP]\{[^{}]*\}|.)/gsu;

export class PatternCheck {
  #length = 0;
  /** V8 takes long to gather the characters of a property, and it does so for each time that a pattern names it. */
  readonly #soundProperties = new Set<string>();

  /** Says what is wrong with a pattern, as the end of a sentence that names its place. Returns undefined where the pattern can be handed on. */
  findFault(pattern: string): string | undefined {
    if (pattern.length > maxPatternLength)
      return `has ${pattern.length} characters and may have ${maxPatternLength}; make it shorter, or describe the text in words.`;
    this.#length += pattern.length;
    if (this.#length > maxRequestPatternLength)
      return `is one too many: all patterns of a request may have ${maxRequestPatternLength} characters together; leave out some.`;
    const fault = this.#findSyntaxFault(pattern);
    return fault && `is no regular expression: ${fault}`;
  }

  /** JSON Schema's patterns are ECMA-262's, best with the flag u; many in use hold escapes that only work without it. */
  #findSyntaxFault(pattern: string): string | undefined {
    return syntaxFault(pattern, '') && (this.#findPropertyFault(pattern) ?? syntaxFault(withoutProperties(pattern), 'u'));
  }

  #findPropertyFault(pattern: string): string | undefined {
    for (const [property] of pattern.matchAll(escaped)) {
      if (property.length === 2 || this.#soundProperties.has(property)) continue;
      const fault = syntaxFault(property, 'u');
      if (fault) return fault;
      this.#soundProperties.add(property);
    }
    return undefined;
  }
}

/** Puts another set of characters in the place of each property. */
function withoutProperties(pattern: string): string {
  return pattern.replaceAll(escaped, (found) => (found.length === 2 ? found : '\\d'));
}

function syntaxFault(pattern: string, flags: string): string | undefined {
  try {
    new RegExp(pattern, flags);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
