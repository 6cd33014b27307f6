/** The filter of the list of runs, as its address has it. The names are those of the API's query. Pure. */

export interface RunFilter {
  /** States, separated by commas. */
  status?: string
  path?: string
  documentUuid?: string
  versionUuid?: string
  model?: string
  via?: string
  /** The id of an author, or `me`. */
  author?: string
  customIdentifier?: string
  tag?: string
  feedback?: 'up' | 'down'
  /** In USD. */
  minCost?: number
  minDurationMs?: number
  /** Instants in ISO 8601. */
  from?: string
  to?: string
}

const texts = [
  ...(['status', 'path', 'documentUuid', 'versionUuid', 'model', 'via', 'author'] as const),
  ...(['customIdentifier', 'tag'] as const),
]
const instants = ['from', 'to'] as const
const amounts = ['minCost', 'minDurationMs'] as const

/** Reads the search parameters of an address. Leaves out what no filter has. */
export function runFilter(search: Record<string, unknown>): RunFilter {
  const { feedback } = search
  const filter: RunFilter = feedback === 'up' || feedback === 'down' ? { feedback } : {}
  for (const name of texts) {
    const value = search[name]
    // The router reads digits as a number.
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') filter[name] = String(value)
  }
  for (const name of instants) {
    const at = new Date(String(search[name] ?? ''))
    if (!Number.isNaN(at.getTime())) filter[name] = at.toISOString()
  }
  for (const name of amounts) {
    const value = Number(search[name])
    if (value > 0 && Number.isFinite(value)) filter[name] = value
  }
  return filter
}
