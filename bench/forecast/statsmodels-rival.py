"""Foresees the last fifth of series by statsmodels' Holt-Winters smoothing (Debian: python3-statsmodels), the rival row of `npm run bench -- forecast`.

Reads {"values": [...], "nTraining": n, "horizon": h} as a line, and writes the sum of absolute errors from the same rolling origins as a line. The level, the damped
trend and the day are fitted to the first four fifths; from each origin they follow what was until then.
"""

import json
import sys
import warnings

import numpy
from statsmodels.tsa.holtwinters import ExponentialSmoothing

DAY = 24


def smoothing(values):
    return ExponentialSmoothing(
        values, trend="add", damped_trend=True, seasonal="add", seasonal_periods=DAY, initialization_method="heuristic"
    )


warnings.simplefilter("ignore")
for line in sys.stdin:
    series = json.loads(line)
    values, n_training, horizon = numpy.array(series["values"], dtype=float), series["nTraining"], series["horizon"]
    fitted = smoothing(values[:n_training]).fit().params
    error = 0.0
    for origin in range(n_training, len(values) - horizon + 1, horizon):
        followed = smoothing(values[:origin]).fit(
            smoothing_level=fitted["smoothing_level"],
            smoothing_trend=fitted["smoothing_trend"],
            smoothing_seasonal=fitted["smoothing_seasonal"],
            damping_trend=fitted["damping_trend"],
            optimized=False,
        )
        error += float(numpy.abs(values[origin : origin + horizon] - followed.forecast(horizon)).sum())
    print(error, flush=True)
