/** Runs and streams use a provider latency of 100 ms. Additional columns show the figures at 0 ms. */
import type { Comparison, Figures } from './rounds.ts'

export const providerLatencyMs = 100

export async function atBothLatencies(round: (latencyMs: number) => Promise<Figures>): Promise<Figures> {
  const figures = await round(providerLatencyMs)
  const at0 = await round(0)
  return { ...figures, ...Object.fromEntries(Object.entries(at0).map(([name, value]) => [`${name}At0`, value])) }
}

export function withColumnsAt0(measures: Comparison['measures'], ...names: readonly string[]): Comparison['measures'] {
  const repeated = measures.filter(({ name }) => names.includes(name))
  const [first, ...others] = measures
  return [
    first,
    ...others,
    ...repeated.map((measure) => ({
      ...measure,
      name: `${measure.name}At0`,
      title: `0ms ${measure.title.split(' ')[0]}`,
    })),
  ]
}
