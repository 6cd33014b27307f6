import type { Stats as StatsBody, StatsSeries as SeriesBody } from '@stet/contract/vocabulary'
import type { Series, Stats } from '../features/stats/read-stats.ts'

export function statsBody({ from, to, asOf, total, series, other, marks, ...rest }: Stats): StatsBody {
  return {
    ...{ from: from.toISOString(), to: to.toISOString(), asOf: asOf.toISOString(), ...rest },
    total: seriesBody(total),
    series: series.map(({ key, label, ...own }) => ({ key, label, ...seriesBody(own) })),
    other: other && seriesBody(other),
    marks: marks.map(({ at, ...mark }) => ({ at: at.toISOString(), ...mark })),
  }
}

function seriesBody({ figures, points }: Series): SeriesBody {
  return { figures, points: points.map(({ at, ...own }) => ({ at: at.toISOString(), ...own })) }
}
