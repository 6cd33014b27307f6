/**
 * The time until the console can be used, on a slow machine and line (4x CPU throttle, 10 Mbit/s, 40 ms, empty cache), and
 * the time that its largest lists, texts and streams take. Times depend on the machine, so this runs only on request, on
 * an idle one: `STET_TEST_SPEED=1 pnpm vitest run test/speed`.
 */
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { consoleBrowser } from './support/browser.ts'
import { addRows, experimentEnd, startExperiment } from './support/experiment.ts'
import { frontMatter, openRun } from './support/run-part.ts'
import { consoleServer, type OwnServer, thousandPrompts } from './support/server.ts'
import { tasksDuring } from './support/tasks.ts'

const isWanted = process.env['STET_TEST_SPEED'] === '1'
const browser = consoleBrowser()
let server: OwnServer

beforeAll(async () => {
  if (isWanted)
    server = await consoleServer(
      {
        hello: 'Hello {{ name }}',
        plain: `${frontMatter()}Say something about {{ topic }}`,
        long: `Hello {{ name }}\n${'A line of a long prompt.\n'.repeat(8_000)}`,
      },
      {},
      // The servers of other tests run without the optimizing compiler.
      [],
    )
})
afterAll(() => server?.close())

/** Figures that a page collects while it loads. */
interface Seen {
  readyMs: number
  tasks: [startTime: number, duration: number][]
  shift: number
}

interface Figures {
  readyMs: number
  blockedMs: number
  shift: number
}

/** Opens a page with an empty cache and waits for `selector`. */
async function load(path: string, selector: string, isSlow: boolean): Promise<Figures> {
  const { page, context } = await browser.open(server, '/assets/nothing.js', {
    allow: /status of 404/,
    isOwn: true,
  })
  const cdp = await context.newCDPSession(page)
  if (isSlow) {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await cdp.send('Network.enable')
    const bytesPerSecond = (10 * 1024 * 1024) / 8
    const line = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond, latency: 40 }
    await cdp.send('Network.emulateNetworkConditions', { offline: false, ...line })
  }
  await page.addInitScript((wanted) => {
    const seen = { readyMs: 0, tasks: [] as [startTime: number, duration: number][], shift: 0 }
    Object.assign(window, { seen })
    // Here, because waiting from outside looks only every 500 ms after a while.
    const look = () => {
      if (!document.querySelector(wanted)) return
      requestAnimationFrame(() => Object.assign(seen, { readyMs: performance.now() }))
      watcher.disconnect()
    }
    const watcher = new MutationObserver(look)
    watcher.observe(document, { childList: true, subtree: true })
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration])
    }).observe({ type: 'longtask', buffered: true })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.shift += (entry as PerformanceEntry & { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
  }, selector)
  await page.goto(path.startsWith('http') ? path : server.address(path), { waitUntil: 'commit' })
  await page.locator(selector).first().waitFor()
  await page.waitForLoadState('networkidle')
  const figures = await page.evaluate((): Figures => {
    const { readyMs, tasks, shift } = (window as Window & { seen?: Seen }).seen as Seen
    // Total blocking time counts from the first contentful paint.
    const [painted] = performance.getEntriesByName('first-contentful-paint')
    const later = tasks.filter(([startTime]) => startTime >= (painted?.startTime ?? 0))
    return { readyMs, blockedMs: later.reduce((sum, [, duration]) => sum + duration - 50, 0), shift }
  })
  // Pages of one server share a process, whose throttling adds up.
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.goto('about:blank')
  return figures
}

/** The best of three: other programs of the machine only add. */
async function best(path: string, selector: string, isSlow: boolean): Promise<Figures> {
  const runs: Figures[] = []
  for (let round = 0; round < 3; round += 1) runs.push(await load(path, selector, isSlow))
  const figures = runs.sort((a, b) => a.readyMs - b.readyMs)[0] as Figures
  console.log(`${path}${isSlow ? ', slow' : ''}: ${JSON.stringify(figures)}`)
  return figures
}

const history = () => `/p/${server.project.id}/history`
const editor = () => server.promptAddress('hello')

test.runIf(isWanted)('the frame and the editor are ready in time on a slow machine', async () => {
  const frame = await best(history(), 'h1', true)
  const prompt = await best(editor(), '.cm-line', true)
  expect(frame.readyMs).toBeLessThanOrEqual(1_900)
  expect(prompt.readyMs).toBeLessThanOrEqual(2_600)
  for (const { blockedMs, shift } of [frame, prompt]) {
    expect(blockedMs).toBeLessThanOrEqual(250)
    expect(shift).toBeLessThanOrEqual(0.02)
  }
})

test.runIf(isWanted)('without throttling the frame is ready within 600 ms', async () => {
  expect((await best(history(), 'h1', false)).readyMs).toBeLessThanOrEqual(600)
})

test.runIf(isWanted)('a key in a prompt of 200 KB is painted within 100 ms', async () => {
  const { page } = await browser.open(server, server.promptAddress('long'), { isOwn: true })
  await page.locator('.cm-line').first().click()
  const times = await measureKeys(page, 40, 'a')
  const sorted = times.sort((a, b) => a - b)
  console.log(`keys: median ${sorted[20]} ms, worst ${sorted.at(-1)} ms`)
  // INP is the 98th percentile of the interactions of a page.
  expect(sorted.at(-2)).toBeLessThanOrEqual(100)
})

test.runIf(isWanted)('1,000 prompts in 6 levels show in less than 300 ms', async () => {
  const large = await consoleServer(thousandPrompts())
  onTestFinished(() => large.close())
  const times: number[] = []
  // The best of five visits: another process may use the machine during one of them.
  for (let visit = 0; visit < 5; visit += 1) {
    const { page, context } = await browser.open(large, `/p/${large.project.id}/history`, { isOwn: true })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const metrics = await context.newCDPSession(page)
    await metrics.send('Performance.enable', { timeDomain: 'threadTicks' })
    const before = await busyMs(metrics)
    await page.getByRole('link', { name: 'Prompts' }).click()
    await expect.poll(() => page.locator('a[role="treeitem"]').count()).toBe(1000)
    times.push((await busyMs(metrics)) - before)
  }
  console.log(`1,000 prompts: ${times.map(Math.round).join(', ')} ms`)
  expect(Math.min(...times)).toBeLessThan(300)
})

test.runIf(isWanted)('60 words a second are streamed without a task over 50 ms', async () => {
  const part = await openRun(browser, server, 'plain', { isOwn: true })
  const words = Array.from({ length: 240 }, (_, at) => `word${at}`).join(' ')
  server.fake.enqueue({ text: words, delayMs: 16 })
  await part.run()
  await expect.poll(() => part.answer()).toContain('word9')
  const tasks = await tasksDuring(part.page, () => part.waitFor('Completed'))
  console.log(`streaming: ${tasks.length} tasks, longest ${Math.max(...tasks).toFixed(1)} ms`)
  expect(tasks.length).toBeGreaterThan(100)
  expect(Math.max(...tasks)).toBeLessThan(50)
})

test.runIf(isWanted)(
  '200 rows × 4 arms with answers of 4 KB show within 800 ms, and an arrow is painted within 100 ms',
  { timeout: 900_000 },
  async () => {
    const large = await consoleServer({ reply: `${frontMatter()}{{ ticket }}` }, {}, [])
    onTestFinished(() => large.close())
    const { documentUuid } = await large.read<{ documentUuid: string }>(`${large.project.live}/documents/reply`)
    await addRows(large, { documentUuid }, 200)
    large.fake.setDefault({ text: `# An answer\n\n${'Some *words* of an answer. '.repeat(150)}` })
    const models = ['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-4.1', 'gpt-4o']
    const arms = models.map((model) => ({ versionUuid: 'live', overrides: { model } }))
    const uuid = await startExperiment(large, { arms, maxRuns: 800, concurrency: 16 })
    await experimentEnd(large, uuid, 600_000)
    const { page, context } = await browser.open(large, `/p/${large.project.id}/history`, { isOwn: true })
    const metrics = await context.newCDPSession(page)
    await metrics.send('Performance.enable', { timeDomain: 'threadTicks' })
    const visits: { readyMs: number; cpuMs: number }[] = []
    for (let visit = 0; visit < 3; visit += 1) {
      await page.goto(large.address(`/p/${large.project.id}/history`))
      await page.getByRole('heading', { level: 1 }).waitFor()
      const before = await busyMs(metrics)
      const readyMs = await showGrid(page, `/p/${large.project.id}/experiments/${uuid}`)
      visits.push({ readyMs, cpuMs: (await busyMs(metrics)) - before })
    }
    const cell = page.locator('[data-cell]').first()
    const before = await busyMs(metrics)
    await showPlainTable(page, (await cell.textContent()) ?? '')
    const plain = (await busyMs(metrics)) - before
    await cell.focus()
    const keys = (await measureKeys(page, 60, 'ArrowDown')).sort((a, b) => a - b)
    const [ready, cpu] = (['readyMs', 'cpuMs'] as const).map((name) => Math.min(...visits.map((one) => one[name])))
    console.log(
      `grid: ready in ${visits.map(({ readyMs }) => Math.round(readyMs)).join(', ')} ms; processor time ` +
        `${Math.round(cpu ?? 0)} ms, ${((cpu ?? 0) / plain).toFixed(2)} x that of a plain table of the same cells ` +
        `(${Math.round(plain)} ms); arrows: median ${keys[30]} ms, worst ${keys.at(-1)} ms`,
    )
    expect(ready).toBeLessThanOrEqual(800)
    expect(keys.at(-2)).toBeLessThanOrEqual(100)
  },
)

/** From the click on a link of the console to the first frame with an answer. */
function showGrid(page: Page, address: string): Promise<number> {
  return page.evaluate(
    (to) =>
      new Promise<number>((done) => {
        const start = performance.now()
        const look = () =>
          document.querySelector('[data-cell] [data-heading]')
            ? done(performance.now() - start)
            : requestAnimationFrame(look)
        window.history.pushState({}, '', to)
        look()
      }),
    address,
  )
}

/** As many cells with as much text, written at once. */
function showPlainTable(page: Page, text: string): Promise<number> {
  return page.evaluate(
    (answer) =>
      new Promise<number>((done) => {
        const start = performance.now()
        const table = document.body.appendChild(document.createElement('table'))
        for (let row = 0; row < 200; row += 1) {
          const line = table.insertRow()
          for (let arm = 0; arm < 4; arm += 1) line.insertCell().textContent = answer
        }
        requestAnimationFrame(() =>
          setTimeout(() => {
            done(performance.now() - start)
            table.remove()
          }),
        )
      }),
    text,
  )
}

/** Processor time of the page's main thread so far, in milliseconds. */
async function busyMs(metrics: CDPSession): Promise<number> {
  const { metrics: values } = await metrics.send('Performance.getMetrics')
  return (values.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
}

/** The time from each key to its next paint, in milliseconds, as the browser's own event timing has it. */
async function measureKeys(page: Page, count: number, key: string): Promise<number[]> {
  await page.evaluate(() => {
    const keys: number[] = []
    Object.assign(window, { keys })
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (name === 'keydown') keys.push(duration)
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
  })
  for (let at = 0; at < count; at += 1) await page.keyboard.press(key, { delay: 30 })
  const measured = await page.evaluate(() => (window as Window & { keys?: number[] }).keys ?? [])
  // Keys that took less than the browser's smallest threshold are not reported.
  return [...measured, ...Array.from({ length: Math.max(0, count - measured.length) }, () => 16)]
}
