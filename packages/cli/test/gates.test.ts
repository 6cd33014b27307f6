import type { GateVerdict } from '@stet/sdk'
import { expect, test } from 'vitest'
import { describeFailure } from '../src/exit-code.ts'
import { createStyle } from '../src/terminal/terminal-style.ts'
import { gateLines, refusedGates } from '../src/ui/gate-lines.ts'
import { personIn, projectWith } from './support/shared-server.ts'
import { ioIn } from './support/test-io.ts'

const row = { exampleUuid: '', name: 'angry-customer', tags: ['must'], must: true }
const verdict: GateVerdict = {
  ...{ path: 'support/reply', documentUuid: '', gate: 0, verdict: 'pass', code: null, failed: [], tries: 1 },
  ...{ message: '0 broke, 5 fixed, 45 same.', experimentUuid: '9f0d6c1e-8a41-4c53-9a0e-2b6f1d7c9e10' },
  ...{ broke: 0, fixed: 5, same: 45, notPaired: 0, passRate: 1, rows: [] },
  labels: { count: 0, people: [], leftOut: 0 },
}
const failing: GateVerdict = {
  ...verdict,
  ...{ verdict: 'fail', message: '1 broke (1 must), 0 fixed, 49 same: 1 with the tag must broke.', rows: [row] },
  labels: { count: 7, people: [], leftOut: 0 },
}
const missing: GateVerdict = {
  ...verdict,
  ...{ path: 'a', verdict: 'inconclusive', code: 'no-experiment', message: 'No experiment.', experimentUuid: null },
}

test('a verdict is one line, with its broken rows below', () => {
  const style = createStyle(ioIn({ cwd: '/' }), false)
  expect(gateLines([verdict, failing, missing], style)).toEqual([
    '✔ support/reply: 0 broke, 5 fixed, 45 same. · experiment 9f0d6c1e',
    '✖ support/reply: 1 broke (1 must), 0 fixed, 49 same: 1 with the tag must broke. · 7 labels by people · experiment 9f0d6c1e',
    '  broke  angry-customer  must',
    '! a: No experiment.',
  ])
})

test.each([
  [[missing, failing], 11, 'fix the broken rows'],
  [[missing], 12, 'run stet eval a'],
])('the exit code of %#', async (gates, exitCode, next) => {
  expect(await describeFailure(refusedGates(gates))).toMatchObject({ exitCode, next: expect.stringContaining(next) })
})

test('publish asks the gates, shows them, and overrides them with a reason', async () => {
  const { client, id } = await projectWith({ a: 'Hello\n' })
  const person = await personIn(id)
  await client.projects.setGates({ mode: 'block', gates: [{ path: 'a', evaluations: ['Checks'] }] })
  const change = async (content: string) => {
    const draft = await client.versions.create('change')
    await client.versions.push(draft.uuid, [{ path: 'a', status: 'modified', content }])
    return draft.uuid
  }
  const draft = await change('Hi\n')
  for (const more of [['--check'], ['--yes'], ['--yes', '--merge']]) {
    const refused = await person.stet(['publish', draft, ...more])
    expect(refused, more.join(' ')).toMatchObject({ code: 12, stderr: expect.stringContaining('No experiment') })
  }
  expect(await person.stet(['publish', draft, '--yes', '--override', 'gate'])).toMatchObject({ code: 2 })
  const overridden = ['publish', draft, '--yes', '--override', 'gate', '--reason', 'The provider is down']
  expect(await person.stet(overridden)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('! a: No experiment'),
  })
  const { items } = await client.environments.releases('live')
  expect(items[0]).toMatchObject({ reason: 'The provider is down', overrides: [{ code: 'no-experiment' }] })

  await client.projects.setGates({ mode: 'warn', gates: [{ path: 'a', evaluations: ['Checks'] }] })
  const report = await person.stet(['publish', await change('Hey\n'), '--yes', '--json'])
  expect(JSON.parse(report.stdout)).toMatchObject({ isPublished: true, gates: [{ verdict: 'inconclusive' }] })
})
