/** What is missing or wrong on the node, and what to do about it. */
import type { Answer } from '../api/call.ts';
import { Notice } from '../design/notice.tsx';

export function ReasonList({ reasons }: { reasons: Answer<'GET /health'>['reasons'] }) {
  return (
    <>
      {reasons.map(({ code, detail, remedy }) => (
        <Notice key={code} tone={code === 'no_data_role' ? 'info' : 'warn'}>
          {detail}
          {remedy !== undefined && <div class="small">{remedy}</div>}
        </Notice>
      ))}
    </>
  );
}
