/** The filters of the list of runs in words. Pure. */
import type { Version } from '@stet/sdk'
import { shortUuid } from '../../runs/run-figures.ts'
import { type RunFilter, runFilter } from '../../runs/run-filter.ts'
import { runStateText } from '../../runs/run-state.tsx'
import { costText, durationText, momentText } from '../../ui/time.tsx'

/** From these figures on, a run is slow or expensive enough to be looked at. */
const slowMs = 10_000
const expensiveUsd = 0.05

/** Filters of one click. */
export const quickFilters: readonly { label: string; filter: RunFilter }[] = [
  { label: 'Failed', filter: { status: 'error' } },
  { label: 'Stopped', filter: { status: 'stopped' } },
  { label: `Slow (${slowMs / 1000} s)`, filter: { minDurationMs: slowMs } },
  { label: `Expensive (${costText(expensiveUsd)})`, filter: { minCost: expensiveUsd } },
  { label: 'Thumbs down', filter: { feedback: 'down' } },
  { label: 'Mine', filter: { author: 'me' } },
]

/** The tags that are typed into a field, separated by commas. */
export function typedTags(text: string): string[] {
  return text.split(',').flatMap((tag) => tag.trim() || [])
}

/** Whether the filter has everything that a quick filter asks for. */
export function includes(filter: RunFilter, part: RunFilter): boolean {
  return Object.entries(part).every(([name, value]) => filter[name as keyof RunFilter] === value)
}

/** The filter without the fields of another one. */
export function without(filter: RunFilter, part: RunFilter): RunFilter {
  return runFilter(Object.fromEntries(Object.entries(filter).filter(([name]) => !(name in part))))
}

/** "v12", or the title of a draft. A version that is not in the list was deleted. */
export function versionName(versions: readonly Version[] | undefined, uuid: string): string {
  const version = versions?.find((one) => one.uuid === uuid)
  if (!version) return versions ? shortUuid(uuid) : '…'
  return version.version === null ? version.title : `v${version.version}`
}

/** A chip for each field of the filter, in words. */
export function chipsOf(
  filter: RunFilter,
  versions: readonly Version[] | undefined,
  me: number,
): { name: keyof RunFilter; text: string }[] {
  const texts: { [Name in keyof RunFilter]-?: (value: NonNullable<RunFilter[Name]>) => string } = {
    status: (states) =>
      states
        .split(',')
        .map((state) => runStateText(state as never))
        .join(' or '),
    path: (path) => path,
    documentUuid: (uuid) => `prompt ${shortUuid(uuid)}`,
    versionUuid: (uuid) => versionName(versions, uuid),
    model: (model) => model,
    via: (via) => (via === 'all' ? 'every way' : `via ${via}`),
    author: (author) => (author === 'me' || author === String(me) ? 'mine' : `author ${author}`),
    customIdentifier: (identifier) => `identifier ${identifier}`,
    tag: (tag) => `tag ${tag}`,
    feedback: (feedback) => `thumbs ${feedback}`,
    minCost: (usd) => `from ${costText(usd)}`,
    minDurationMs: (ms) => `from ${durationText(ms)}`,
    from: (at) => `since ${momentText(at)}`,
    to: (at) => `until ${momentText(at)}`,
  }
  const names = Object.keys(texts) as (keyof RunFilter)[]
  return names.flatMap((name) => {
    const value = filter[name]
    // Each text takes the value of its own field, which the compiler cannot see here.
    return value === undefined ? [] : [{ name, text: texts[name](value as never) }]
  })
}
