import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../support/proxy.ts'
import { personIn, projectWith, server } from '../support/shared-server.ts'
import type { Person, Running } from '../support/stet.ts'
import type { Ended } from '../support/test-io.ts'

const promptWith = (policy: string, head = 'provider: demo\nmodel: demo') =>
  `---\n${head}\nparameters:\n  question: { type: text, required: true }\n---\n<user>{{ question }} ${policy}</user>\n`

const slowPrompt = promptWith('', 'provider: openai\nmodel: m')

let client: Stet
let ana: Person
let draft: string
beforeAll(async () => {
  const live = {
    refund: promptWith('Within 5 days.'),
    same: promptWith('As always.'),
    slow: slowPrompt,
  }
  const { client: own, id } = await projectWith(live)
  client = own
  ana = await personIn(id)
  const version = await client.versions.create('tone pass')
  draft = version.uuid
  await client.versions.push(draft, [
    { path: 'refund', content: promptWith('Within 14 days.'), status: 'modified' },
    { path: 'slow', content: promptWith('Now.', 'provider: openai\nmodel: m'), status: 'modified' },
    { path: 'fresh', content: promptWith('Hello.'), status: 'added' },
  ])
  const checks = [{ type: 'contains' as const }]
  const row = (name: string, expected: string, tags: string[] = []) => ({
    name,
    parameters: { question: `${name}?` },
    expected,
    checks,
    tags,
  })
  const refunds = [
    ...['us-1', 'us-2', 'us-3'].map((name) => row(name, '5 days.')),
    ...['eu-1', 'eu-2', 'eu-3', 'eu-4', 'eu-5'].map((name) => row(name, '14 days.', ['eu'])),
    ...['a', 'b'].map((name) => row(name, 'Within')),
    row('must-stay', 'Within 5 days.', ['must', 'strict']),
    { name: 'hello', parameters: { question: 'Hello' }, tags: ['smalltalk'] },
  ]
  for (const [path, changes] of Object.entries({
    refund: refunds,
    same: [row('s', 'always')],
    slow: [row('s', 'x')],
  })) {
    const { documentUuid } = await client.prompts.get(path, { versionUuid: 'live' })
    await client.examples.batch({ documentUuid, changes })
  }
})

/** Rows of `refund` that a person would choose with a tag. */
const chosen = ['refund', '--draft', 'tone pass']

test('a must row that breaks fails the draft, and every reader of CI gets it', async () => {
  const summary = join(ana.folder, 'summary.md')
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary, GITHUB_HEAD_REF: 'tone', GITHUB_SHA: 'abc' }
  const { code, stdout, stderr } = await ana.stet(
    ['eval', ...chosen, '--tag', 'strict', '--junit', 'eval.xml'],
    '',
    env,
  )
  expect({ code, stderr }).toMatchObject({ code: 11 })
  expect(stdout).toMatch(
    /^refund · 1 row tagged strict · draft "tone pass" against live v1\n✖ 1 broke \(1 must\), 0 fixed, 0 same/,
  )
  expect(stdout).toMatch(/\n {2}broke {2}must-stay {2}must {2}Checks: .*5 days.* {2}[0-9a-f]{8}\n/)
  expect(stdout).toContain('the demo provider answered: the numbers mean nothing')
  expect(stderr).toMatch(/::warning title=stet eval refund::must-stay broke \(must\): Checks: /)
  expect(await readFile(summary, 'utf8')).toContain(
    '| `refund` | draft "tone pass" against live v1, 1 row | ❌ 1 broke',
  )
  const xml = await readFile(join(ana.folder, 'eval.xml'), 'utf8')
  expect(xml).toMatch(/tests="1" failures="1" skipped="0".*<failure message="Checks: /s)
  const [newest] = (await client.experiments.list({ limit: 1 })).items
  expect(newest?.origin).toEqual({ branch: 'tone', commit: 'abc' })
})

test('a draft that fixes rows passes, and --json has the whole result', async () => {
  const { code, stdout } = await ana.stet(['eval', ...chosen, '--tag', 'eu', '--json'])
  const { verdict, results } = JSON.parse(stdout)
  expect({ code, verdict }).toEqual({ code: 0, verdict: 'pass' })
  expect(results[0].report.pairs[0]).toMatchObject({ broke: 0, fixed: 5, same: 0 })
  expect(results[0].experiment.arms.map(({ label }: { label: string }) => label)).toEqual([
    'live v1',
    'draft "tone pass"',
  ])
})

test('rows that expect nothing give no clear result', async () => {
  const { code, stdout } = await ana.stet(['eval', ...chosen, '--tag', 'smalltalk'])
  expect({ code, stdout }).toMatchObject({ code: 12, stdout: expect.stringContaining('inconclusive: ') })
})

test('with --gate, the gates of the project decide', async () => {
  await client.projects.setGates({
    mode: 'warn',
    gates: [{ path: 'refund', evaluations: ['Checks'], tag: 'eu', minRows: 1, passRateAtLeast: 1 }],
  })
  const { code, stdout } = await ana.stet(['eval', ...chosen, '--tag', 'eu', '--gate'])
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n {2}✔ gate: /) })
  await client.projects.setGates({
    mode: 'warn',
    gates: [{ path: 'refund', evaluations: ['Checks'], tag: 'eu', minRows: 6 }],
  })
  const fewer = await ana.stet(['eval', ...chosen, '--tag', 'eu', '--gate', '--json'])
  expect(fewer.code).toBe(12)
  expect(JSON.parse(fewer.stdout)).toMatchObject({ verdict: 'inconclusive', code: 'too-few-rows' })
  const other = await ana.stet(['eval', 'same', '--draft', draft, '--gate'])
  expect(other).toMatchObject({
    // A publication would ask the gate of the other prompt as well.
    code: 12,
    stdout: expect.stringMatching(/\n! refund: /),
    stderr: expect.stringContaining('No gate applies to same'),
  })
  const { stdout: live } = await ana.stet(['eval', 'same', '--draft', 'live', '--arm', 'temperature=0', '--detach'])
  const watched = await ana.stet(['eval', 'watch', live.trim(), '--gate'])
  expect({ live, ...watched }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('No gate applies: the version is published'),
  })
})

test('without a baseline the rows that fail are listed', async () => {
  const { code, stdout } = await ana.stet(['eval', ...chosen, '--tag', 'strict', '--baseline', 'none'])
  expect(code).toBe(11)
  expect(stdout).toMatch(/✖ 1 failed\b[\s\S]* {2}failed {2}must-stay/)
})

test('other settings are a further arm', async () => {
  const { code, stdout } = await ana.stet(['eval', 'same', '--draft', 'live', '--arm', 'model=other,temperature=0'])
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('live v1, model=other, temperature=0 against live v1'),
  })
})

test('scorers of a file run in this process, and a scorer that throws gives no score', async () => {
  const scorers = `{
    greets: ({ output, parameters, input, messages, run }) =>
      output.includes(parameters.question) && input === parameters && messages.length === 0 && run.conversationUuid.length === 36,
    long: ({ output }) => (output.includes('14') ? 1 : 0.2),
    broken: () => { throw new Error('No key') },
  }`
  const file = `export default { path: 'refund', threshold: 0.5, scorers: ${scorers} }`
  await writeFile(join(ana.folder, 'refund.eval.mjs'), file)
  const { code, stdout } = await ana.stet([
    'eval',
    '--file',
    'refund.eval.mjs',
    '--draft',
    draft,
    '--tag',
    'eu',
    '--json',
  ])
  expect(code).toBe(12)
  const { report } = JSON.parse(stdout).results[0]
  const found = report.evaluations.filter(({ type }: { type: string }) => type === 'code')
  const shown = found.map(({ name, fixed }: { name: string; fixed: number[] }) => `${name} ${fixed[1]}`)
  expect(shown.sort()).toEqual(['refund.eval.mjs:broken 0', 'refund.eval.mjs:greets 0', 'refund.eval.mjs:long 5'])
  expect(report.arms[1].unscored).toEqual([{ code: 'scorer-threw', count: 5 }])
})

test('without paths, the changed prompts with examples are run, and a new prompt has no baseline', async () => {
  const { documentUuid } = await client.prompts.get('fresh', { versionUuid: draft })
  await client.versions.push(draft, [
    { path: 'slow', content: promptWith('', 'provider: openai\nmodel: m'), status: 'modified' },
  ])
  const { stdout, stderr } = await ana.stet(['eval', '--detach'])
  expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(stderr).toContain('fresh has no examples: skipped')
  await client.examples.create({ documentUuid, name: 'one', parameters: { question: 'x' } })
  const { stdout: two, stderr: said } = await ana.stet(['eval', '--detach', '--trials', '2'])
  expect(two.split('\n')).toHaveLength(3)
  expect(said).toContain('◌ fresh · draft "tone pass" · 2 runs')
  const tagged = await ana.stet(['eval', '--detach', '--tag', 'strict'])
  expect(tagged.stdout).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(tagged.stderr).toContain('fresh has no examples with the tag strict: skipped')

  const more = ['n1', 'n2', 'n3', 'n4', 'n5'].map((path) => ({
    path,
    content: promptWith(''),
    status: 'added' as const,
  }))
  await client.versions.push(draft, more)
  expect((await ana.stet(['eval', '--detach', '--tag', 'eu'])).stderr).toMatch(
    /^6 prompts have no examples with the tag eu: skipped$/m,
  )
  await client.versions.push(
    draft,
    more.map(({ path }) => ({ path, status: 'deleted' as const })),
  )
})

test('a tag that no example has is no success, also for JUnit', async () => {
  const mistyped = await ana.stet(['eval', '--draft', draft, '--tag', 'must-typo', '--junit', 'none.xml'])
  expect(mistyped).toMatchObject({
    code: 12,
    stderr: expect.stringContaining('No example of the changed prompts has the tag must-typo'),
  })
  expect(mistyped.stderr).not.toContain('changes no prompt')
  expect(await readFile(join(ana.folder, 'none.xml'), 'utf8')).toContain(
    '<error message="No example of the changed prompts has the tag must-typo" type="inconclusive"/>',
  )
  expect(await ana.stet(['eval', 'refund', 'same', '--draft', draft, '--tag', 'strict'])).toMatchObject({
    code: 12,
    stderr: expect.stringContaining('same has no examples with the tag strict'),
  })
})

test('experiments are listed, newest first, of the project or of one prompt', async () => {
  const listed = async (...argv: string[]) => {
    const { experiments } = JSON.parse((await ana.stet(['eval', 'list', '--json', ...argv])).stdout)
    return experiments.map(({ uuid }: { uuid: string }) => uuid)
  }
  const all: string[] = []
  for await (const { uuid } of client.experiments.list({ limit: 100 })) all.push(uuid)
  expect(await listed('--limit', '3')).toEqual(all.slice(0, 3))
  const { documentUuid } = await client.prompts.get('same', { versionUuid: 'live' })
  const ofSame = (await client.experiments.list({ documentUuid, limit: 100 })).items.map(({ uuid }) => uuid)
  expect(await listed('--path', 'same')).toEqual(ofSame)
  const { stdout } = await ana.stet(['eval', 'list', '--path', 'same'])
  expect(stdout.split('\t').slice(0, 3)).toEqual([ofSame[0], 'completed', 'same'])
})

test('with nothing live yet, the prompts of the draft are run alone', async () => {
  const { client: own, id } = await projectWith({})
  const [first] = (await own.versions.list()).map(({ uuid }) => uuid)
  await own.versions.push(first ?? '', [{ path: 'a', content: promptWith(''), status: 'added' }])
  const { documentUuid } = await own.prompts.get('a', { versionUuid: first ?? '' })
  await own.examples.create({ documentUuid, name: 'one', parameters: { question: 'x' } })
  const { stdout, stderr } = await (await personIn(id)).stet(['eval', '--detach'])
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) })
  expect(stderr).toMatch(/Nothing is live yet[\s\S]*◌ a · draft ".*" · 1 run /)
})

test('Ctrl-C stops what it started, and only leaves what it watches', async () => {
  const started = ana.start(['eval', 'slow', '--draft', draft, '--arm', 'temperature=0'])
  await started.prints('stderr', 'Ctrl-C stops it')
  started.interrupt('SIGINT')
  const { code, stderr } = await started.ended
  expect(code).toBe(130)
  const [, ref = ''] = /continue with stet eval resume ([0-9a-f]{8})\n/.exec(stderr) ?? []
  const shown = await ana.stet(['eval', 'show', ref])
  expect({ code: shown.code, stdout: shown.stdout }).toMatchObject({
    code: 12,
    stdout: expect.stringContaining('! stopped;'),
  })

  const { stdout: detached } = await ana.stet(['eval', 'slow', '--draft', draft, '--detach'])
  const uuid = detached.trim()
  const watching = ana.start(['eval', 'watch', uuid])
  await watching.prints('stderr', 'Ctrl-C leaves it running')
  watching.interrupt('SIGINT')
  expect(await watching.ended).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('Left; the experiment continues'),
  })
  expect((await client.experiments.get(uuid)).state).toBe('running')
  const again = await ana.stet(['eval', 'slow', '--draft', draft])
  expect({ code: again.code, stderr: again.stderr }).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(new RegExp(`is running[\\s\\S]*stet eval watch ${uuid}\n`)),
  })
  expect(await ana.stet(['eval', 'stop', uuid])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('is stopped'),
  })
})

test('an experiment that starts during Ctrl-C, or before a refusal, is stopped or named', async () => {
  const { client: own, id } = await projectWith({ one: slowPrompt, two: slowPrompt })
  for (const path of ['one', 'two']) {
    const { documentUuid } = await own.prompts.get(path, { versionUuid: 'live' })
    await own.examples.create({ documentUuid, name: 's', parameters: { question: 'x' } })
  }
  const way = await startProxy(server.address)
  onTestFinished(way.stop)
  const eve = await personIn(id, way)
  const states = async () =>
    (await own.experiments.list({ limit: 3 })).items.map(({ path, state }) => `${path} ${state}`)
  /** Calls `then` when the server is asked to start the n-th experiment. */
  const evaluate = (nth: number, then: (running: Running) => void): Promise<Ended> => {
    let count = 0
    way.broken = undefined
    way.before = async (line) => {
      if (!/^POST .*\/experiments$/.test(line)) return
      count += 1
      if (count === nth) then(running)
    }
    const running = eve.start(['eval', 'one', 'two', '--draft', 'live', '--arm', 'temperature=0', '--no-retry'])
    return running.ended
  }

  const interrupted = await evaluate(1, (running) => running.interrupt('SIGINT'))
  expect(interrupted).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/Waiting for the server[\s\S]*Stopped\n.*stet eval resume [0-9a-f]{8}\n/),
  })
  expect(await states()).toEqual(['one stopped'])

  const refused = await evaluate(2, (running) => {
    running.interrupt('SIGINT')
    way.broken = /\/experiments$/
  })
  expect(refused).toMatchObject({ code: 130, stderr: expect.stringContaining('Stopped') })
  expect(await states()).toEqual(['one stopped', 'one stopped'])

  const unreachable = await evaluate(2, () => {
    way.broken = /\/experiments(\/[^/]+\/stop)?$/
  })
  const [newest] = (await own.experiments.list({ limit: 1 })).items
  expect(newest?.state).toBe('running')
  expect(unreachable).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(
      new RegExp(`could not be stopped[\\s\\S]*stet eval stop ${newest?.uuid.slice(0, 8)}\n`),
    ),
  })
})

test.each([
  [['eval', 'show', '00000000'], 5, 'No experiment begins with 00000000'],
  [['eval', 'show', 'x'], 2, 'Invalid experiment: x'],
  [['eval', 'same', '--draft', 'live'], 2, 'There is nothing to compare'],
  [['eval', 'same', '--draft', 'live', '--arm', 'temperature=0', '--gate'], 2, '--gate needs a draft'],
  [['eval', '--draft', 'live'], 2, 'Missing input: the prompts'],
  [['eval', 'refund', '--draft', 'nobody'], 5, 'No draft has the name or uuid nobody'],
  [['eval', 'refund', '--budget', '9999'], 7, 'The budget of an experiment may be at most'],
])('%j exits with %i', async (argv, code, message) => {
  expect(await ana.stet(argv)).toMatchObject({ code, stderr: expect.stringContaining(message) })
})
