/** Figures that depend on time, on a machine that others use as well: taken up to three times, until they fit. The last ones. */
export async function undisturbed<T>(measure: () => Promise<T>, fits: (figures: T) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const figures = await measure();
    if (fits(figures) || attempt === 3) return figures;
  }
}
