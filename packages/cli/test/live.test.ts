import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startProxy, type Way } from './support/proxy.ts'
import { personIn, projectWith, server } from './support/shared-server.ts'

const prompts = {
  slow: '---\nprovider: openai\nmodel: m\n---\nTell.\n',
  echo: '---\nprovider: demo\nmodel: demo\nparameters:\n  text: { type: text, required: true }\n---\n<user>{{ text }}</user>\n',
  steps:
    '---\nprovider: demo\nmodel: demo\ntools:\n  get_weather:\n    description: Weather\n    parameters: { type: object, properties: {} }\n---\n<step><user>Call get_weather.</user></step>\n<step tools={{ [] }}><user>What about tomorrow?</user></step>\n',
  refused: '---\nprovider: openai\nmodel: refused\n---\n<user>Hi</user>\n',
  weather:
    '---\nprovider: demo\nmodel: demo\ntools:\n  get_weather:\n    description: Weather\n    parameters: { type: object, properties: { city: { type: string } }, required: [city] }\n---\n<user>Call get_weather.</user>\n',
}

let proxy: Way
let client: Stet
let id: number
beforeAll(async () => {
  proxy = await startProxy(server.address)
  ;({ client, id } = await projectWith(prompts))
})
// A failed test may leave cuts behind.
beforeEach(() => void proxy.cuts.splice(0))
afterAll(() => proxy.stop())

/** Has no files. Uses the proxy if one is given. */
const someone = (way: { address: string } = server) => personIn(id, way)

async function conversationIn(text: string): Promise<{ uuid: string; status: string }> {
  const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0] ?? ''
  return client.conversations.get(uuid)
}

test.each([
  ['SIGINT', 'interrupted', 130],
  ['SIGTERM', 'terminated', 143],
] as const)('%s: with --json an ended run prints one line of JSON with %s and %d', async (signal, cause, exitCode) => {
  const running = (await someone()).start(['run', 'slow', '--json'])
  await running.prints('stdout', 'text-delta')
  running.interrupt(signal)
  expect(await running.ended).toMatchObject({ code: exitCode })
  const { error } = JSON.parse(running.stderr)
  expect(error).toMatchObject({ code: cause, exitCode })
  expect(await conversationIn(error.lines[0])).toMatchObject({ status: 'stopped' })
})

test('the second Ctrl-C exits immediately, even if the server does not respond to the stop', async () => {
  const way = await startProxy(server.address)
  way.held = /\/stop$/
  const child = (await someone(way)).spawn(['run', 'slow'])
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  await expect.poll(() => way.seen.some((line) => line.endsWith('/stop')), { timeout: 120_000 }).toBe(true)
  child.kill('SIGINT')
  expect(await closed).toEqual([null, 'SIGINT'])
  await way.stop()
})

test("providers test reports a failed call in the provider's own words", async () => {
  const person = await someone()
  const { code, stdout, stderr } = await person.stet(['providers', 'test', 'openai', '--model', 'refused'])
  expect([code, stdout]).toEqual([8, ''])
  expect(stderr).toMatch(/"openai" failed with refused after \d+\.\d s: .*Incorrect API key provided/)
  const inJson = await person.stet(['providers', 'test', 'openai', '--model', 'refused', '--json'])
  expect(inJson.code).toBe(8)
  expect(JSON.parse(inJson.stdout)).toMatchObject({ ok: false, error: { errorCode: 'ai_run_error' } })
})

test('a failed run names its provider and its prompt, also when it is followed or continued by uuid', async () => {
  const person = await someone()
  const ran = await person.stet(['run', 'refused'])
  const words = 'openai: 401 Incorrect API key provided (prompt refused)'
  expect(ran).toMatchObject({ code: 8, stderr: expect.stringContaining(words) })
  const { uuid } = (await client.conversations.list({ path: 'refused', limit: 1 })).items[0] ?? { uuid: '' }
  for (const argv of [
    ['attach', uuid],
    ['attach', uuid, '--no-stream'],
    ['chat', uuid, '-m', 'Again'],
  ]) {
    expect(await person.stet(argv), argv.join(' ')).toMatchObject({ code: 8, stderr: expect.stringContaining(words) })
  }
})

test('Ctrl-C in attach only detaches: the run continues until stop ends it', async () => {
  const way = await startProxy(server.address)
  const person = await someone(way)
  const uuid = (await person.stet(['run', 'slow', '--background'])).stdout.trim()
  expect(uuid).toMatch(/^[0-9a-f-]{36}$/)
  const running = person.start(['attach', uuid.slice(0, 8)])
  await running.prints('stdout', 'Begun')
  running.interrupt('SIGINT')
  expect(await running.ended).toMatchObject({ code: 130, stderr: expect.stringContaining(`stet attach ${uuid}`) })
  expect(way.seen.filter((line) => line.endsWith('/stop'))).toEqual([])
  expect(await client.conversations.get(uuid)).toMatchObject({ status: 'running' })

  expect((await person.stet(['stop', uuid.slice(0, 8)])).stderr).toContain(`Stopped ${uuid.slice(0, 8)}`)
  expect(await client.conversations.get(uuid)).toMatchObject({ status: 'stopped' })
  const again = await person.stet(['stop', uuid, '--json'])
  expect(JSON.parse(again.stdout)).toEqual({ uuid, stopped: false, status: 'stopped' })
  const followed = await person.stet(['attach', uuid, '--json'])
  expect(followed).toMatchObject({ code: 8 })
  expect(JSON.parse(followed.stderr).error).toMatchObject({ code: 'run_failed', errorCode: 'abort_error' })
  await way.stop()
})

test('Ctrl-C while waiting for a whole answer exits 130', async () => {
  const way = await startProxy(server.address)
  const running = (await someone(way)).start(['run', 'slow', '--no-stream'])
  await expect.poll(() => way.seen.some((line) => line.endsWith('/run')), { timeout: 120_000 }).toBe(true)
  running.interrupt('SIGINT')
  expect(await running.ended).toEqual({ code: 130, stdout: '', stderr: expect.stringContaining('grace period') })
  await way.stop()
})

test('a run survives broken connections, reports them, and prints the answer once', async () => {
  const whole = await (await someone()).stet(['run', 'echo', '-p', 'text=one two three four five six'])
  const person = await someone(proxy)
  for (const cuts of [[1], [5, 0, 1]]) {
    proxy.cuts.push(...cuts)
    const ended = await person.stet(['run', 'echo', '-p', 'text=one two three four five six'])
    expect(ended).toMatchObject({ code: 0, stdout: whole.stdout })
    expect(ended.stderr).toContain('… reconnecting (1/3)')
    expect(proxy.cuts).toEqual([])
  }
})

test('with --json each event is printed once across a broken connection, and the reconnect is a warning line', async () => {
  const person = await someone(proxy)
  proxy.cuts.push(7)
  const { code, stdout, stderr } = await person.stet(['run', 'echo', '-p', 'text=hello', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stderr)).toEqual({ warning: { message: 'reconnecting (1/3)' } })
  const lines: { id?: string; event: string }[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.at(-1)).toMatchObject({ event: 'result' })
  const ids = lines.slice(0, -1).map(({ id }) => Number(id))
  expect(ids).toEqual(ids.map((_, index) => index + 1))
})

test('a connection that stays broken exits 9 and names the command to continue; --no-retry does not retry', async () => {
  const person = await someone(proxy)
  proxy.cuts.push(6, 0, 0, 0)
  const ended = await person.stet(['run', 'echo', '-p', 'text=hello'])
  expect(ended.code).toBe(9)
  expect(ended.stderr).toContain('… reconnecting (3/3)')
  const [, uuid = ''] = /stet attach ([0-9a-f-]{36})/.exec(ended.stderr) ?? []
  expect((await person.stet(['attach', uuid])).stdout).toContain('hello')
  proxy.cuts.push(6)
  const once = await person.stet(['run', 'echo', '-p', 'text=hello', '--no-retry'])
  expect(once.code).toBe(9)
  expect(once.stderr).not.toContain('reconnecting')
})

test('attach replays an ended run, after an event or whole, as text, events, messages and JSON', async () => {
  const person = await someone()
  const ran = await person.stet(['run', 'echo', '-p', 'text=hello', '--save', 'result.json'])
  const { uuid, response } = JSON.parse(await readFile(join(person.folder, 'result.json'), 'utf8'))
  expect(ran.stdout).toBe(`${response.text}\n`)
  expect(ran.stderr).toContain(`stet chat ${uuid.slice(0, 8)}`)
  expect((await person.stet(['attach', uuid.slice(0, 8)])).stdout).toBe(ran.stdout)
  expect((await person.stet(['attach', uuid, '--no-stream'])).stdout).toBe(ran.stdout)
  const events = (await person.stet(['attach', uuid, '--show', 'events'])).stdout.trim().split('\n')
  expect(events[0]).toBe('1\tlatitude-event\tchain-started')
  const last = events.length
  expect(events.at(-1)).toBe(`${last}\tlatitude-event\tchain-completed`)
  const rest = await person.stet(['attach', uuid, '--show', 'events', '--from', String(last - 2)])
  expect(rest.stdout.trim().split('\n')).toEqual(events.slice(-2))
  const nothing = await person.stet(['attach', uuid, '--show', 'events', '--from', String(last), '--no-retry'])
  expect(nothing).toMatchObject({ code: 0, stdout: '', stderr: expect.not.stringContaining('reconnecting') })
  const messages = await person.stet(['attach', uuid, '--show', 'messages'])
  expect(messages.stdout).toBe(`[user]\nhello\n\n[assistant]\n${response.text}\n`)
})

test('chat: sends --message or piped text, starts with --prompt, and exits 2 without a message', async () => {
  const person = await someone()
  const begun = await person.stet(['chat', '--prompt', 'echo', '-p', 'text=hello', '--json'])
  const { uuid } = JSON.parse(begun.stdout.trim().split('\n').at(-1) ?? '').data
  expect((await person.stet(['chat', uuid.slice(0, 8), '-m', 'and more'])).stdout).toContain('and more')
  expect((await person.stet(['chat', uuid], 'from a pipe\n')).stdout).toContain('from a pipe')
  const silent = await person.stet(['chat', uuid])
  expect(silent).toMatchObject({ code: 2, stdout: '' })
  expect(silent.stderr).toContain('-m <text>')
  const { conversation } = await client.conversations.get(uuid)
  expect(conversation.filter(({ role }) => role === 'user')).toHaveLength(3)
})

test('run --message adds a message, --show messages prints the conversation', async () => {
  const person = await someone()
  const ended = await person.stet(['run', 'echo', '-p', 'text=a', '-m', 'b', '--show', 'messages'])
  expect(ended.stdout.startsWith('[user]\na\n\n[user]\nb\n\n[assistant]\n')).toBe(true)
})

test("--tools answers the model's calls, and reports a handler's error to the model", async () => {
  const person = await someone()
  let count = 0
  const run = async (body: string) => {
    count += 1
    await writeFile(join(person.folder, `tools-${count}.mjs`), body)
    return person.stet(['run', 'weather', '--tools', `./tools-${count}.mjs`])
  }
  const answered = await run('export const get_weather = ({ city }) => ({ sky: `blue over ${typeof city}` })\n')
  expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('blue over string') })
  const failed = await run('export default { get_weather() { throw new Error("no satellite") } }\n')
  expect(failed.stdout).toContain('failed: no satellite')
  expect((await run('export const other = () => 1\n')).stderr).toContain('tool call get_weather')
  expect(await run('export const value = 1\n')).toMatchObject({ code: 2 })
  expect(await person.stet(['run', 'weather', '--tools', 'none.mjs'])).toMatchObject({ code: 2 })
})

test('--tools: a prompt with steps continues after the call, which is handled once across a broken connection', async () => {
  const person = await someone(proxy)
  const source = `import { appendFileSync } from 'node:fs'
    export const get_weather = () => { appendFileSync(new URL('calls', import.meta.url), 'x'); return { sky: 'blue' } }`
  await writeFile(join(person.folder, 'tools.mjs'), source)
  proxy.cuts.push(5)
  const { code, stdout, stderr } = await person.stet(['run', 'steps', '--tools', 'tools.mjs', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('reconnecting (1/3)') })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ data }) => data.type === 'step-completed')).toHaveLength(2)
  expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(lines.slice(0, -1).map((_, index) => String(index + 1)))
  const { data } = lines.at(-1)
  expect(data).toMatchObject({ toolRequests: [], response: { text: expect.stringContaining('What about tomorrow?') } })
  expect(JSON.stringify(data.conversation)).toContain('"sky":"blue"')
  expect(await readFile(join(person.folder, 'calls'), 'utf8')).toBe('x')
})

test('the first digits of a uuid suffice on another machine, and unknown ones exit 5', async () => {
  const person = await someone()
  const uuid = (await person.stet(['run', 'echo', '-p', 'text=x', '--background', '--json'])).stdout
  const { uuid: known } = JSON.parse(uuid)
  expect((await (await someone()).stet(['attach', known.slice(0, 8)])).stdout).toContain('x')
  expect(await person.stet(['attach', 'ffffffff'])).toMatchObject({ code: 5, stdout: '' })
  expect(await person.stet(['attach', 'short'])).toMatchObject({ code: 2, stdout: '' })
})

test('Ctrl-C ends the program while a tool works: one stop, a signal for the tool, and no wait for what it leaves open', async () => {
  const way = await startProxy(server.address)
  const person = await someone(way)
  const source = `setInterval(() => {}, 1e6)
    export const get_weather = (_, { signal }) => {
      signal.addEventListener('abort', () => console.error('signaled'))
      console.error('at work')
      return new Promise(() => {})
    }`
  await writeFile(join(person.folder, 'tools.mjs'), source)
  const child = person.spawn(['run', 'weather', '--tools', 'tools.mjs'])
  const closed = once(child, 'close')
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  await expect.poll(() => stderr, { timeout: 120_000 }).toContain('at work')
  child.kill('SIGINT')
  expect(await closed).toEqual([130, null])
  expect(stderr).toContain('signaled')
  expect(way.seen.filter((line) => line.endsWith('/stop'))).toHaveLength(1)
  expect(way.seen.filter((line) => line.endsWith('/tools/results'))).toEqual([])
  expect(await conversationIn(stderr)).toMatchObject({ status: 'stopped' })
  await way.stop()
})

test('runs: list finds failed runs, and show names inputs, the failing call and the messages', async () => {
  const person = await someone()
  await person.stet(['run', 'echo', '-p', 'text=Ana'])
  await person.stet(['run', 'refused', '--id', 'failed'])
  const list = async (...argv: string[]) => (await person.stet(['runs', 'list', ...argv])).stdout
  const failed = JSON.parse(await list('--id', 'failed', '--status', 'error,stopped', '--since', '1h', '--json'))
  expect(failed).toMatchObject({ runs: [{ path: 'refused', status: 'error' }], nextCursor: null, scannedTo: null })
  const [{ uuid, conversationUuid }] = failed.runs
  expect(await list('--status', 'error', '--limit', '1')).toMatch(new RegExp(`^${uuid}\\terror\\trefused\\t`))
  const { stdout } = await person.stet(['runs', 'show', uuid.slice(0, 13), '--spans'])
  expect(stdout).toMatch(/^error {2}refused @ /)
  expect(stdout).toMatch(/Error\n.*401.*\n {2}in step refused > model refused\n/)
  const other = await someone()
  expect((await other.stet(['runs', 'show', conversationUuid.slice(0, 8)])).stdout).toContain(
    `  run           ${uuid}\n`,
  )
  const [echo] = JSON.parse(await list('--path', 'echo', '--limit', '1', '--json')).runs
  const shown = await person.stet(['runs', 'show', echo.uuid, '--messages'])
  expect(shown.stdout).toContain('Inputs\n  text: Ana\n')
  expect(shown.stdout).toContain('[user]\nAna\n')
  expect(await person.stet(['runs', 'show', 'ffffffff'])).toMatchObject({ code: 5 })
  for (const wrong of [
    ['--status', 'failed'],
    ['--min-cost', 'x'],
    ['--min-duration', '5'],
    ['--via', 'mail'],
    ['--from', '7d'],
    ['--from', '2026-01-31T12:00:00Z', '--since', '1h'],
  ])
    expect(await person.stet(['runs', 'list', ...wrong])).toMatchObject({ code: 2, stdout: '' })
})

test('runs tail prints each start and end once, tries again without the server, and Ctrl-C exits 0', async () => {
  const person = await someone(proxy)
  const tail = person.start(['runs', 'tail', '--path', 'echo', '--json', '--no-retry'])
  const requests = () => proxy.seen.filter((line) => line.includes('/runs?')).length
  // The first three note what is there already.
  await expect.poll(requests, { timeout: 120_000 }).toBeGreaterThan(3)
  const first = await client.prompts.run('echo', { parameters: { text: 'one' } })
  await tail.prints('stdout', first.uuid)
  proxy.broken = /\/runs\?/
  await tail.prints('stderr', 'trying again')
  proxy.broken = undefined
  const second = await client.prompts.run('echo', { parameters: { text: 'two' } })
  await tail.prints('stdout', second.uuid)
  tail.interrupt('SIGINT')
  const { code, stdout } = await tail.ended
  expect(code).toBe(0)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ event, data }) => [event, data.conversationUuid])).toEqual(
    [first, second].flatMap(({ uuid }) => [
      ['started', uuid],
      ['ended', uuid],
    ]),
  )
})

test('runs export resumes where it was cut off, and runs tag labels a conversation', async () => {
  const person = await someone()
  const mine = { customIdentifier: 'exported', parameters: { text: 'x' } }
  const made = await Promise.all(Array.from({ length: 21 }, () => client.prompts.run('echo', mine)))
  const newest = await person.stet(['runs', 'list', '--id', 'exported', '--limit', '20', '--json'])
  const whole = await person.stet(['runs', 'export', '--id', 'exported', '--since', '1h'])
  const { nextCursor } = JSON.parse(newest.stdout)
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const rest = await person.stet(['runs', 'export', '--id', 'exported', '--from', from, '--cursor', nextCursor])
  const later = await person.stet(['runs', 'export', '--id', 'exported', '--from', '2999-01-01T00:00:00Z'])
  expect(later).toMatchObject({ code: 0, stdout: '' })
  const lines = whole.stdout.trim().split('\n')
  expect(lines.slice(20).join()).toBe(rest.stdout.trim())
  const runs = lines.map((line) => JSON.parse(line))
  expect(new Set(runs.map(({ conversationUuid }) => conversationUuid))).toEqual(new Set(made.map(({ uuid }) => uuid)))
  expect(runs[0]).toMatchObject({ parameters: { text: 'x' }, messages: [{ role: 'user' }, { role: 'assistant' }] })

  const [{ uuid, conversationUuid }] = runs
  for (const [whole, key] of [
    [uuid, 'uuid'],
    [conversationUuid, 'conversationUuid'],
  ]) {
    const prefix = whole.replaceAll('-', '').slice(0, 13)
    expect(JSON.parse((await person.stet(['runs', 'show', prefix, '--json'])).stdout)[key]).toBe(whole)
  }
  const tagged = await person.stet(['runs', 'tag', uuid, 'wrong-tone', 'late', '--note', 'Why?'])
  expect(tagged.stderr).toContain('tags late, wrong-tone · note "Why?"')
  expect((await person.stet(['runs', 'list', '--tag', 'late'])).stdout).toContain(uuid)
  expect((await person.stet(['runs', 'show', uuid])).stdout).toContain(
    'tags          late, wrong-tone\n  note          Why?',
  )
  expect((await person.stet(['runs', 'tag', uuid, '--clear', '--json'])).stdout).toContain(
    '"tags":[],"note":{"text":"Why?"',
  )
  expect(await person.stet(['runs', 'tag', uuid])).toMatchObject({ code: 2 })
})
