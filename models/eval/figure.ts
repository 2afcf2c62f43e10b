import { wilsonInterval } from './wilson.ts';

/** One line of the table: a measured figure with its 95% interval and its goal. */
export interface Figure {
  name: string;
  value: number;
  low: number;
  high: number;
  /** How many items were judged. */
  count: number;
  goal?: number;
}

/** The share of right answers. */
export function shareFigure(name: string, right: number, count: number, goal?: number): Figure {
  return {
    name,
    value: count ? right / count : 0,
    ...wilsonInterval(right, count),
    count,
    ...(goal === undefined ? {} : { goal }),
  };
}

/** The figures as a Markdown table, so that a card can hold what was printed. */
export function figureTable(title: string, figures: readonly Figure[]): string {
  const digits = (value: number) => value.toFixed(3);
  const verdict = ({ value, goal }: Figure) => (goal === undefined ? '' : value >= goal ? 'reached' : 'not reached');
  const rows = figures.map((figure) => [
    figure.name,
    digits(figure.value),
    `${digits(figure.low)} to ${digits(figure.high)}`,
    String(figure.count),
    figure.goal === undefined ? '' : `>= ${Number(digits(figure.goal))}`,
    verdict(figure),
  ]);
  const lines = [[title, 'figure', '95% interval', 'items', 'goal', ''], ['---', '---', '---', '---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
