/** Functions that the model wants to call, with their arguments. */
import { Icon } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';
import type { ToolCall } from '../thread/message.ts';

export function ToolCalls({ calls }: { calls: readonly ToolCall[] }) {
  return (
    <>
      {calls.map(({ name, args }, index) => (
        <details class="folded" key={`${index}-${name}`}>
          <summary>
            <Icon name="tool" /> {t('tool_call', { name })}
          </summary>
          <pre class="folded-text">{indented(args)}</pre>
        </details>
      ))}
    </>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
