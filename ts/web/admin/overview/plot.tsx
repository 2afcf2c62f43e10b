/** Lines over time. The library draws on a canvas, so the numbers stand beside it as text. */
import { useEffect, useRef } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import UPlot from 'uplot';
import { onThemeChange } from '../../design/theme.ts';
import { language } from '../../i18n/language.ts';

interface Series {
  name: string;
  values: readonly (number | null)[];
}

interface PlotProps {
  title: string;
  /** Seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  format(value: number): string;
  /** The scale reaches at least so far, so that noise around nothing looks like nothing. */
  least: number;
  /** The text beside a line is the sum of its values; else the last one. */
  sums?: boolean;
  /** Days and not minutes. */
  isLong?: boolean;
  /** Null is a gap in the line, and not bridged. */
  hasGaps?: boolean;
}

const COLOURS = [
  '--accent',
  '--syntax-number',
  '--syntax-name',
  '--syntax-keyword',
  '--syntax-string',
  '--danger',
  '--ink-3',
] as const;
const HEIGHT = 152;
const CLOCK = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

export function Plot(props: PlotProps) {
  const { title, times, series, format, sums = false } = props;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const data = [[...times], ...series.map(({ values }) => [...values])] as UPlot.AlignedData;
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const made = new UPlot(optionsOf(element, props), data, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const stopFollowing = onThemeChange(() => made.redraw(false, true));
    return () => {
      stopFollowing();
      resized.disconnect();
      made.destroy();
    };
    // The library's lines are fixed when it starts.
  }, [series.length]);
  useEffect(() => plot.current?.setData(data), [times]);
  return (
    <section class="card plot" aria-label={title}>
      <h2>{title}</h2>
      <p class="legend">
        {series.map(({ name, values }, index) => {
          const shown = sums ? sumOf(values) : values.at(-1);
          return (
            <span key={`${index} ${name}`}>
              <i class={`key-${(index % COLOURS.length) + 1}`} />
              {name} {shown == null ? '–' : format(shown)}
            </span>
          );
        })}
      </p>
      <div class="canvas" ref={holder} aria-hidden="true" />
    </section>
  );
}

function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function optionsOf(element: HTMLElement, { series, format, least, isLong = false, hasGaps = false }: PlotProps): UPlot.Options {
  const style = getComputedStyle(element);
  // Asked for with each drawing, since themes change.
  const colour = (name: string) => (): string => resolved(element, name);
  const font = `11px ${style.fontFamily}`;
  const grid = { stroke: colour('--line'), width: 1 };
  const axis = { stroke: colour('--ink-3'), font, grid, ticks: grid };
  const day = new Intl.DateTimeFormat(language(), { day: 'numeric', month: 'short' });
  const timeText = isLong ? day : CLOCK;
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_plot, low, high) => [Math.min(0, low * 1.1), Math.max(high * 1.1, least)] } },
    axes: [
      { ...axis, space: 80, size: 30, values: (_plot, ticks) => ticks.map((tick) => timeText.format(tick * 1000)) },
      { ...axis, size: 78, space: 34, values: (_plot, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...series.map((_, index) => ({
        stroke: colour(COLOURS[index % COLOURS.length] ?? '--ink'),
        width: 1.6,
        points: { show: false },
        spanGaps: !hasGaps,
      })),
    ],
  };
}

/** A canvas knows no custom properties, and no light-dark(). */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
