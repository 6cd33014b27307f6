import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import type { BenchReport } from '../src/commands/bench/report.ts'
import { startProxy } from './support/proxy.ts'
import { personIn, projectWith, server } from './support/shared-server.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const demo = 'provider: demo\nmodel: demo\n'
const prompts = {
  echo: `---\n${demo}parameters:\n  text: { type: text, required: true }\n---\n<user>{{ text }}</user>\n`,
  slow: '---\nprovider: openai\nmodel: m\n---\nTell.\n',
  refused: '---\nprovider: openai\nmodel: refused\n---\n<user>Hi</user>\n',
  // Nothing sends this prompt: the missing parameter is refused before the provider is called.
  paid: '---\nprovider: Paid\nmodel: m\nparameters:\n  text: { type: text, required: true }\n---\n{{ text }}\n',
  unnamed: '---\nmodel: m\n---\nHi\n',
  agents: `---\n${demo}agents: [echo]\n---\nHi\n`,
  steps: `---\n${demo}---\n<step provider="Paid"><user>Hi</user></step>\n`,
}

let client: Stet
let id: number
beforeAll(async () => {
  ;({ client, id } = await projectWith(prompts))
  await client.providerKeys.create({ name: 'paid', provider: 'openai', token: 'sk-never-sent' })
})

async function bench(argv: readonly string[], env: Record<string, string> = {}, isTerminal = false) {
  const given = {
    cwd: await temporaryFolder(),
    env: { STET_BASE_URL: server.address, STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(id), ...env },
    tty: { stdin: false, stdout: isTerminal, stderr: isTerminal },
  }
  return runInProcess(['bench', ...argv], given)
}

async function benchReport(argv: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await bench([...argv, '--json'], env)
  const report: BenchReport = JSON.parse(stdout)
  return { code, stderr, report }
}

const echo = ['echo', '-p', 'text=one two three'] as const

test('measures the runs of a stream, and stores exactly these runs and those of the warm-up', async () => {
  const load = ['--runs', '25', '--concurrency', '4', '--warm-up', '3', '--id', 'counted']
  const { code, stderr, report } = await benchReport([...echo, ...load])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(report).toMatchObject({ path: 'echo', versionUuid: 'live', mode: 'stream', concurrency: 4 })
  expect(report).toMatchObject({ runs: 25, failed: 0, stopped: 0, errors: [], warmUp: { runs: 3, failed: 0 } })
  expect(report.servers).toEqual([{ baseUrl: client.baseUrl, runs: 25, failed: 0 }])
  expect(report.runsPerSecond * report.seconds).toBeCloseTo(25, 0)
  const { firstText, latency, stream } = report
  for (const figures of [firstText, latency]) {
    expect(figures?.p50).toBeGreaterThan(0)
    expect(figures?.p50).toBeLessThanOrEqual(figures?.p90 ?? 0)
    expect(figures?.p90).toBeLessThanOrEqual(figures?.p99 ?? 0)
    expect(figures?.p99).toBeLessThanOrEqual(figures?.max ?? 0)
  }
  expect(firstText?.p50).toBeLessThan(latency?.p50 ?? 0)
  expect(latency?.max).toBeLessThanOrEqual(report.seconds * 1000)
  const [one] = (await client.conversations.list({ path: 'echo', limit: 1 })).items
  let events = 0
  for await (const _ of client.runs.attachStream(one?.uuid ?? '')) events += 1
  expect((stream?.eventsPerSecond ?? 0) * report.seconds).toBeCloseTo(25 * events, -1)
  expect(report.generator.cpuMsPerRun).toBeGreaterThan(0)
  const stored = await client.conversations.list({ customIdentifier: 'counted', limit: 100 })
  expect(stored.items.map(({ status }) => status)).toEqual(Array(28).fill('completed'))
})

test('--no-stream measures JSON answers', async () => {
  const { code, report } = await benchReport([...echo, '--no-stream', '--runs', '5', '-c', '2', '--yes'])
  expect(code).toBe(0)
  expect(report).toMatchObject({ mode: 'json', firstText: null, stream: null, failed: 0, runs: 5 })
})

test('several servers take turns', async () => {
  const [first, second] = [await startProxy(server.address), await startProxy(server.address)]
  const addresses = ['--server', `${first.address},${second.address}`, '--server', server.address]
  const { code, report } = await benchReport([...echo, '--runs', '12', '--warm-up', '3', ...addresses])
  expect(code).toBe(0)
  expect(report.servers).toEqual(
    [first, second, server].map(({ address }) => ({ baseUrl: `${address}/api/v3`, runs: 4, failed: 0 })),
  )
  const runs = [first, second].map(({ seen }) => seen.filter((line) => line.endsWith('/run')).length)
  expect(runs).toEqual([5, 5])
  await Promise.all([first.stop(), second.stop()])
})

test('prints a report for humans: a table on a terminal, tab-separated values in a pipe', async () => {
  const piped = await bench([...echo, '--runs', '5'])
  expect(piped.code).toBe(0)
  expect(piped.stdout).toMatch(/^5 runs in [\d.]+ s · [\d.]+ runs\/s · 0 failed\nfirst text\t[\d.]+ ms\t/)
  expect(piped.stderr).toContain('◌ echo · live · ')
  const shown = await bench([...echo, '--runs', '5', '--no-color'], {}, true)
  expect(shown.stdout).toMatch(/\n {12}P50 +P90 +P99 +MAX\nfirst text {2}[\d.]+ ms /)
  expect(shown.stdout).toMatch(/\ngenerator [\d.]+ ms CPU per run · \d+ % of a core\n$/)
})

test('an unknown prompt, a wrong key, a missing parameter and a server that is not there end without a report', async () => {
  const { key, id } = await client.apiKeys.create({ name: 'revoked', scopes: ['run', 'read'] })
  await client.apiKeys.revoke(id)
  const nowhere = await startProxy(server.address)
  await nowhere.stop()
  const rows: [argv: readonly string[], env: Record<string, string>, code: number, said: string][] = [
    [['ecco'], {}, 5, 'did you mean echo?'],
    [echo, { STET_API_KEY: key }, 4, 'stet login'],
    [['echo'], {}, 2, '-p text='],
    [[...echo, '--server', `${server.address},${nowhere.address}`], {}, 9, 'ECONNREFUSED'],
  ]
  for (const [argv, env, code, said] of rows) {
    expect(await bench([...argv, '--no-retry'], env)).toEqual({
      code,
      stdout: '',
      stderr: expect.stringContaining(said),
    })
  }
})

test('one of two servers dies: its runs fail, those of the other one go on', async () => {
  const way = await startProxy(server.address)
  way.before = async (line) => {
    if (way.seen.filter((one) => one === line && one.endsWith('/run')).length === 6) await way.stop()
  }
  const load = ['--runs', '30', '--warm-up', '2', '-c', '3', '--server', server.address, '--server', way.address]
  const { code, report } = await benchReport([...echo, ...load])
  expect(code).toBe(8)
  expect(report.servers[0]).toMatchObject({ runs: 15, failed: 0 })
  expect(report.servers[1]?.failed).toBe(report.failed)
  const refused = report.errors.find(({ cause }) => cause === 'ECONNREFUSED')
  expect(refused?.count).toBeGreaterThan(0)
  expect(refused?.example).toContain(way.address)
  expect(report.errors.reduce((sum, { count }) => sum + count, 0)).toBe(report.failed)
})

test('runs that fail are counted by cause, and the first failure of the warm-up ends the command', async () => {
  const { code, report } = await benchReport(['refused', '--runs', '3', '--warm-up', '0'])
  expect(code).toBe(8)
  const example = expect.stringContaining('openai: 401 Incorrect API key provided')
  expect(report).toMatchObject({ runs: 0, failed: 3, latency: null, firstText: null })
  expect(report.errors).toEqual([{ cause: expect.stringContaining('ai_run_error'), count: 3, example }])
  expect(await bench(['refused', '--runs', '3'])).toMatchObject({ code: 8, stdout: '', stderr: example })
})

test('a load above the rate limit says how to get a key with a higher one', async () => {
  const { key } = await client.apiKeys.create({ name: 'limited', plan: 'custom', limit: 2 })
  const ended = await bench([...echo, '--runs', '12', '--warm-up', '0'], { STET_API_KEY: key })
  expect(ended.code).toBe(8)
  expect(ended.stdout).toMatch(/\n\d+\t429 RateLimitError rate-limited\t/)
  expect(ended.stderr).toContain('stet keys create bench --role app --plan custom --limit')
})

test('asks before runs that may cost money, and says how many; demo and private addresses need no answer', async () => {
  const { key } = await client.apiKeys.create({ name: 'runs only', scopes: ['run'] })
  const { key: reader } = await client.apiKeys.create({ name: 'reads', scopes: ['run', 'read'] })
  const runs = ['--runs', '2', '--warm-up', '1']
  const before = (await client.conversations.list({ limit: 100 })).items.length
  const rows: [argv: readonly string[], env: Record<string, string>, said: string][] = [
    [['paid'], {}, 'the provider "paid" (openai) may cost money: up to 3 runs'],
    [['unnamed'], {}, '"paid" (openai)'],
    [['agents'], {}, 'cannot look up'],
    [['steps'], {}, 'cannot look up'],
    [['paid'], { STET_API_KEY: reader }, 'cannot look up'],
    [['echo'], { STET_API_KEY: key }, 'cannot look up'],
  ]
  for (const [argv, env, said] of rows) {
    const { code, stdout, stderr } = await bench([...argv, ...runs], env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
    expect(stderr).toContain('pass --yes')
  }
  expect((await client.conversations.list({ limit: 100 })).items).toHaveLength(before)
  const agreed = await bench(['paid', ...runs, '--yes'])
  expect(agreed).toMatchObject({ code: 2, stderr: expect.stringContaining('may cost money') })
  expect(agreed.stderr).toContain('-p text=')
  expect(await bench([...echo, ...runs, '--yes'], { STET_API_KEY: key })).toMatchObject({ code: 0 })
  expect(await bench([...echo, ...runs], { STET_API_KEY: reader })).toMatchObject({ code: 0, stderr: /^◌ [^!]*$/ })
})

test('Ctrl-C stops the active runs on the server and prints the report', async () => {
  const load = ['--warm-up', '0', '-c', '2', '--duration', '5m', '--id', 'interrupted', '--json']
  const running = (await personIn(id)).start(['bench', 'slow', ...load])
  const statuses = async () =>
    (await client.conversations.list({ customIdentifier: 'interrupted' })).items.map(({ status }) => status)
  await expect.poll(statuses, { timeout: 120_000 }).toEqual(['running', 'running'])
  running.interrupt('SIGINT')
  const { code, stdout } = await running.ended
  expect(code).toBe(130)
  const report: BenchReport = JSON.parse(stdout)
  expect(report).toMatchObject({ runs: 0, failed: 0, stopped: 2, interruptedBy: 'SIGINT' })
  expect(await statuses()).toEqual(['stopped', 'stopped'])
})
