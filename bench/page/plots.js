/** Runs in the page: draws the rounds of each figure with uPlot. Data: Plot[][] of plot.ts, a list for each section. */
(() => {
  const sections = document.querySelectorAll('section');
  const plots = JSON.parse(document.getElementById('plots').textContent);
  const drawn = [];

  for (const [index, list] of plots.entries()) {
    for (const plot of list) if (plot.series.length > 0) add(sections[index].querySelector('.plots'), plot);
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const { holder, plot } of drawn) draw(holder, plot);
  });

  function add(place, plot) {
    const holder = place.appendChild(document.createElement('figure'));
    const caption = holder.appendChild(document.createElement('figcaption'));
    caption.textContent = `${plot.title}, ${plot.unit}, by round`;
    drawn.push({ holder, plot });
    draw(holder, plot);
    let width = holder.clientWidth;
    new ResizeObserver(() => {
      if (holder.clientWidth === width) return;
      width = holder.clientWidth;
      draw(holder, plot);
    }).observe(holder);
  }

  function draw(holder, plot) {
    holder.querySelector('.uplot')?.remove();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const nRounds = Math.max(...plot.series.map(({ values }) => values.length));
    const rounds = Array.from({ length: nRounds }, (_, round) => round + 1);
    const axis = { stroke: colour('ink'), grid: { stroke: colour('line') }, ticks: { stroke: colour('line') } };
    const options = {
      width: holder.clientWidth,
      height: 200,
      scales: {
        x: { time: false, range: [0.5, nRounds + 0.5] },
        y: { range: (_u, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        { ...axis, splits: () => rounds, values: (_u, splits) => splits.map(String) },
        { ...axis, size: 64 },
      ],
      series: [
        { label: 'round' },
        ...plot.series.map(({ label, side }) => ({
          label,
          stroke: colour(side),
          width: 2,
          points: { show: true, size: 8, fill: colour(side) },
        })),
      ],
    };
    new uPlot(options, [rounds, ...plot.series.map(({ values }) => values)], holder);
  }
})();
