/** How far something is; `value` is 0 to 1, undefined while nobody knows. */
export function Progress({ label, value }: { label: string; value?: number | undefined }) {
  const percent = value === undefined ? undefined : Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <span
      class={percent === undefined ? 'progress unknown' : 'progress'}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <span style={percent === undefined ? {} : { width: `${percent}%` }} />
    </span>
  );
}
