/** The tasks of a page's main thread, in processor time: what other programs of the machine do meanwhile does not count. */
import type { Page } from 'playwright-core'

interface TraceEvent {
  name: string
  tid: number
  pid: number
  /** In microseconds of processor time. */
  tdur?: number
  args: { name?: string }
}

/** How long each task took that began during `work`, in milliseconds. There is at least one. */
export async function tasksDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const chromium = page.context().browser()
  if (!chromium) throw new Error('The page has no browser')
  await chromium.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline'],
  })
  let isTraced = true
  try {
    await work()
    isTraced = false
    return mainThreadTasks(await chromium.stopTracing())
  } finally {
    if (isTraced) await chromium.stopTracing()
  }
}

function mainThreadTasks(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { traceEvents: TraceEvent[] }
  const keyOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const isMain = new Set(threads.map(keyOf))
  const tasks = traceEvents.flatMap((event) =>
    event.name === 'RunTask' && isMain.has(keyOf(event)) && event.tdur !== undefined ? [event.tdur / 1000] : [],
  )
  if (tasks.length === 0) throw new Error("The browser's trace has no task of the main thread")
  return tasks
}
