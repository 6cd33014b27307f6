import type { Summary } from './measuring/rounds.ts'

interface Bar {
  measure: string
  /** Matches the comparison's title. If several match, the highest result counts. */
  bench: RegExp
  figure: string
  candidate?: string
  /** The candidate whose figure divides stet's figure. */
  against?: string
  /** The candidate whose figure is subtracted from stet's figure. */
  over?: string
  unit?: string
  ship: number
  goal: number
  isMinimum?: boolean
}

const raw = 'raw node:http'
const run64 = /^run, 64 at once$/
const streams = /^stream, \d+ paced$/
const growth = { bench: /^growth, /, candidate: 'many rows', against: '10 rows', ship: 1.25, goal: 1.1 }
const laterStart = 'stet, later start'
const onPostgres = /^start, PostgreSQL$/

const bars: readonly Bar[] = [
  { measure: 'run, 100 ms, 64 in flight: CPU', bench: run64, figure: 'cpuMicros', against: raw, ship: 4.5, goal: 3 },
  { measure: '… CPU', bench: run64, figure: 'cpuMicros', against: 'portkey', ship: 1, goal: 0.6 },
  { measure: '… added p50', bench: run64, figure: 'p50Ms', over: 'direct', unit: 'ms', ship: 8, goal: 4 },
  {
    measure: 'run, 0 ms, 16 in flight: CPU',
    bench: /^run, 16 at once$/,
    figure: 'cpuMicrosAt0',
    against: 'portkey',
    ship: 0.9,
    goal: 0.5,
  },
  { measure: 'streams together: first text p50', bench: streams, figure: 'p50Ms', against: raw, ship: 2.5, goal: 1.5 },
  { measure: '… with 0 ms', bench: streams, figure: 'p50MsAt0', against: raw, ship: 2.5, goal: 1.5 },
  { measure: '… whole p50', bench: streams, figure: 'wholeP50Ms', against: raw, ship: 1.08, goal: 1.03 },
  { measure: '… CPU per chunk', bench: streams, figure: 'cpuMicros', against: raw, ship: 1.5, goal: 1.3 },
  {
    measure: 'live prompt GET: requests/s',
    bench: /^fetch$/,
    figure: 'unitsPerSecond',
    against: 'bare express res.json',
    isMinimum: true,
    ship: 1,
    goal: 1.5,
  },
  {
    measure: 'memory per silent run stream',
    bench: /^idle, /,
    figure: 'kilobytes',
    candidate: 'stet, run streams',
    against: raw,
    ship: 1.9,
    goal: 1.5,
  },
  {
    measure: 'report of 1,000 rows × 4 arms: p50',
    bench: /^report of an experiment$/,
    figure: 'p50Ms',
    candidate: '1000 rows × 4 arms',
    unit: 'ms',
    ship: 30,
    goal: 15,
  },
  { measure: 'growth, worst endpoint: p50', figure: 'p50Ms', ...growth },
  { measure: 'growth, worst endpoint: CPU', figure: 'cpuMicros', ...growth },
  {
    measure: 'start to ready, PostgreSQL',
    bench: onPostgres,
    figure: 'startMs',
    candidate: laterStart,
    against: 'bare express + Prisma client',
    ship: 1.5,
    goal: 1.2,
  },
  {
    measure: 'idle memory, embedded',
    bench: /^start, embedded/,
    figure: 'idleMegabytes',
    candidate: laterStart,
    unit: 'MB',
    ship: 360,
    goal: 300,
  },
  {
    measure: 'idle memory, PostgreSQL',
    bench: onPostgres,
    figure: 'idleMegabytes',
    candidate: laterStart,
    unit: 'MB',
    ship: 250,
    goal: 200,
  },
]

/** `isMissed` is true if a figure that is not noisy misses its `ship` value. */
export function judge(summaries: readonly Summary[]): { rows: string[][]; isMissed: boolean } {
  const verdicts = bars.map((bar) => ({ bar, ...worstOf(bar, summaries) }))
  const rows = verdicts.map(({ bar, value, other, own, isNoisy }) => [
    bar.measure,
    bar.against ?? bar.over ?? '',
    shown(other),
    shown(own),
    value === undefined ? '-' : `${value.toFixed(2)}${suffixOf(bar)}`,
    `${bar.isMinimum ? '>=' : '<='} ${bar.ship}`,
    `${bar.isMinimum ? '>=' : '<='} ${bar.goal}`,
    value === undefined ? 'not measured' : `${verdictOf(bar, value)}${isNoisy ? ' (noisy)' : ''}`,
  ])
  const head = ['bar', 'against', 'its figure', 'stet', 'result', 'ship', 'goal', 'holds']
  const isMissed = verdicts.some(
    ({ bar, value, isNoisy }) => value !== undefined && !isNoisy && verdictOf(bar, value) === 'MISSED',
  )
  return { rows: [head, ...rows], isMissed }
}

interface Found {
  value?: number
  own?: number
  other?: number
  isNoisy: boolean
}

function worstOf(bar: Bar, summaries: readonly Summary[]): Found {
  const found = summaries.filter(({ bench }) => bar.bench.test(bench)).map((summary) => figureOf(bar, summary))
  const [worst] = found.sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  return worst ?? { isNoisy: false }
}

function figureOf(bar: Bar, { medians, isNoisy }: Summary): Found {
  const figure = (candidate: string): number | undefined => medians[candidate]?.[bar.figure]
  const own = figure(bar.candidate ?? 'stet')
  if (own === undefined) return { isNoisy }
  const name = bar.against ?? bar.over
  if (name === undefined) return { own, value: own, isNoisy }
  const other = figure(name)
  if (other === undefined) return { own, isNoisy }
  return { own, other, value: bar.over === undefined ? own / other : own - other, isNoisy }
}

function verdictOf(bar: Bar, value: number): 'goal' | 'ship' | 'MISSED' {
  const holds = (limit: number): boolean => (bar.isMinimum ? value >= limit : value <= limit)
  return holds(bar.goal) ? 'goal' : holds(bar.ship) ? 'ship' : 'MISSED'
}

function suffixOf(bar: Bar): string {
  return bar.unit === undefined ? 'x' : ` ${bar.unit}`
}

function shown(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(value < 100 ? 1 : 0)
}
