/** Answers two questions for stet and its peers: the cost of a call, and the capacity of one core. */
import type { Figures, Summary } from './measuring/rounds.ts'

type Medians = Readonly<Record<string, Figures>>

interface Question {
  title: string
  bench: RegExp
  /** @returns undefined if a required figure was not measured. */
  answer(figures: Figures | undefined, medians: Medians): number | undefined
  digits: number
}

const candidates = ['raw node:http', 'express + client as shipped', 'portkey', 'stet']
const runs = /^run, 64 at once$/
const streams = /^stream, \d+ paced$/

const costs: readonly Question[] = [
  { title: 'plain run, 64 in flight: added p50, ms', bench: runs, answer: addedP50, digits: 1 },
  { title: 'plain run, 64 in flight: CPU, µs', bench: runs, answer: (figures) => figures?.['cpuMicros'], digits: 0 },
  { title: 'streams together: first text p50, ms', bench: streams, answer: (figures) => figures?.['p50Ms'], digits: 0 },
  {
    title: 'streams together: CPU per chunk, µs',
    bench: streams,
    answer: (figures) => figures?.['cpuMicros'],
    digits: 1,
  },
]

const capacities: readonly Question[] = [
  { title: 'plain runs per second', bench: runs, answer: perCoreSecond(1), digits: 0 },
  { title: 'streams of 50 tokens/s at once', bench: /at 50 tokens\/s$/, answer: perCoreSecond(50), digits: 0 },
]

export function costRows(summaries: readonly Summary[]): string[][] {
  return answerRows('a call costs', costs, summaries)
}

/** Capacity by CPU time, including all threads and child processes. */
export function capacityRows(summaries: readonly Summary[]): string[][] {
  return answerRows('the CPU of one core suffices for', capacities, summaries)
}

function answerRows(head: string, questions: readonly Question[], summaries: readonly Summary[]): string[][] {
  const rows = questions.map(({ title, bench, answer, digits }) => {
    const medians = summaries.find((summary) => bench.test(summary.bench))?.medians ?? {}
    return [title, ...candidates.map((name) => answer(medians[name], medians)?.toFixed(digits) ?? '-')]
  })
  return [[head, ...candidates], ...rows]
}

function addedP50(figures: Figures | undefined, { direct }: Medians): number | undefined {
  const [mine, base] = [figures?.['p50Ms'], direct?.['p50Ms']]
  return mine === undefined || base === undefined ? undefined : mine - base
}

function perCoreSecond(unitsEach: number): Question['answer'] {
  return (figures) => {
    const micros = figures?.['cpuMicros']
    return micros === undefined ? undefined : 1e6 / micros / unitsEach
  }
}
