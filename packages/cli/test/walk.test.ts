import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loggedIn, projectWith, server } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

const reply = `---
provider: demo
model: demo
parameters:
  ticket: { type: text, required: true }
---
Answer the customer.
<user>{{ ticket }}</user>
`

async function write(person: Person, path: string, text: string): Promise<void> {
  const file = join(person.folder, 'prompts', `${path}.promptl`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const read = (person: Person, name: string) => readFile(join(person.folder, 'prompts', name), 'utf8')

/** The folder follows a separate project with two published prompts. */
async function personWithProject(name: string): Promise<Person> {
  const person = await loggedIn()
  await write(person, 'support/reply', reply)
  await write(person, 'support/tone', 'Be short.\n')
  expect(await person.stet(['init', '--create', name])).toMatchObject({ code: 0 })
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  return person
}

test('from login to a streamed answer, with everything in sync', async () => {
  const person = await loggedIn()
  await write(person, 'support/reply', reply)
  const { id } = await projectWith({})
  const init = await person.stet(['init', '--project', String(id)])
  expect(init.stderr).toContain('draft "Initial version"')
  const status = await person.stet(['status'])
  expect(status.stdout).toBe('  A support/reply  +8\n')
  expect(await person.stet(['status', '--check'])).toMatchObject({ code: 3 })
  const pushed = await person.stet(['push', '--json'])
  expect(JSON.parse(pushed.stdout)).toMatchObject({
    version: { status: 'draft', name: 'Initial version' },
    changes: [{ path: 'support/reply', status: 'added', hash: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  })
  expect((await person.stet(['publish'])).code).toBe(2)
  expect(await person.stet(['publish', '--yes'])).toMatchObject({ code: 0, stdout: '' })
  const ran = await person.stet(['run', 'support/reply', '-p', 'ticket=The export is empty.'])
  expect(ran.code).toBe(0)
  expect(ran.stdout).toContain('The export is empty.')
  expect(ran.stdout.endsWith('\n')).toBe(true)
  expect(ran.stderr).toContain('live')
  expect(await person.stet(['status', '--check'])).toMatchObject({ code: 0 })
  expect(await person.stet(['publish', '--yes'])).toMatchObject({ code: 6 })
})

test('a prompt can be named by its path or its file, as a shell completes it, from any folder', async () => {
  const person = await personWithProject('named')
  await write(person, 'support/tone', 'Be kind.\n')
  const differing = async (argv: string[]): Promise<unknown> =>
    JSON.parse((await person.stet(argv)).stdout).files.length
  const from = ['-C', join(person.folder, 'prompts', 'support')]
  expect(await differing(['diff', 'prompts/support', '--json'])).toBe(1)
  expect(await differing(['diff', '.', '--json'])).toBe(1)
  expect(await differing([...from, 'diff', 'tone', '--json'])).toBe(1)
  for (const argv of [['prompts/support/reply.promptl'], ['./prompts/support/reply'], [...from, 'reply']]) {
    const name = argv.pop() ?? ''
    expect(await person.stet([...argv, 'run', name, '-p', 'ticket=x', '-q'])).toMatchObject({ code: 0, stderr: '' })
  }
  expect(await person.stet(['diff', 'prompts/no'])).toMatchObject({ code: 5 })
  await person.stet([...from, 'pull', '--bundle', 'here.json'])
  expect(Object.keys(JSON.parse(await read(person, 'support/here.json')))).toEqual(['support/reply', 'support/tone'])
})

test('push --publish of some prompts sends nothing if others changed too, and leaves no draft if live refuses', async () => {
  const person = await personWithProject('some of it')
  await write(person, 'support/tone', 'Be kind.\n')
  await write(person, 'support/reply', 'Answer.\n')
  const some = await person.stet(['push', 'support/tone', '--publish', '--yes'])
  expect(some).toMatchObject({ code: 6, stderr: expect.stringMatching(/nothing was sent\n {2}support\/reply\n/) })
  const drafts = async () =>
    JSON.parse((await person.stet(['versions', 'list', '--status', 'draft', '--json'])).stdout).versions
  expect(await drafts()).toEqual([])
  await write(person, 'support/reply', '{{ if')
  const refused = await person.stet(['push', '--publish', '--yes', '--name', 'broken'])
  expect(refused.code).toBe(7)
  for (const said of ['↑ M support/tone', '2 changes · live is v1', '✖ Some prompts do not compile', 'reply:1:6 ']) {
    expect(refused.stderr).toContain(said)
  }
  await write(person, 'support/reply', '---\ntemperature: hot\n---\nAnswer.\n')
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('✖ A run would refuse some prompts; nothing was published\n  support/reply:2:1 '),
  })
  expect(await person.stet(['push', '--publish'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(await drafts()).toEqual([])
  await write(person, 'support/reply', 'Answer.\n')
  const published = await person.stet(['push', '--publish', '--yes'])
  expect(published.stderr).toMatch(/↑ M support\/tone .*\n2 changes · live is v1\n✔ Live is now v2/)
})

test('push shows what a run would refuse, and publish refuses it', async () => {
  const person = await personWithProject('hot')
  await write(person, 'support/reply', '---\ntemperature: hot\ntemprature: 1\n---\nAnswer.\n')
  const pushed = await person.stet(['push'])
  expect(pushed).toMatchObject({ code: 0 })
  const line = 'support/reply:2:1 error: `temperature` must be a number\n'
  expect(pushed.stderr).toContain(line)
  expect(pushed.stderr).toContain('support/reply:3:1 warning: Did you mean `temperature`?')
  expect(await person.stet(['publish', '--yes'])).toMatchObject({
    code: 7,
    stderr:
      '✖ A run would refuse some prompts; nothing was published\n  support/reply:2:1 `temperature` must be a number\n',
  })
})

test('publish --check names a prompt that nobody changed, but that includes a deleted one', async () => {
  const person = await personWithProject('included')
  await write(person, 'support/part', 'A part.\n')
  await write(person, 'support/whole', '<prompt path="part" />\n')
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  await rm(join(person.folder, 'prompts/support/part.promptl'))
  expect(await person.stet(['push', '--delete'])).toMatchObject({ code: 0 })
  expect(await person.stet(['publish', '--check'])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('✖ Some prompts do not compile; nothing was published\n  support/whole:1:'),
  })
})

test('a push that is too large is refused by name, with the next step', async () => {
  const person = await personWithProject('too much')
  await write(person, 'large', 'x'.repeat(262_145))
  const large = await person.stet(['push', 'large', 'support'])
  expect(large).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('nothing was sent\n  large must have at most 262144'),
  })
  for (let number = 0; number < 20; number += 1) await write(person, `folder/${number}`, 'x'.repeat(262_144))
  const whole = await person.stet(['push', 'folder'])
  expect(whole).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('hint: push in parts: run stet push <folder or prompt...>'),
  })
  const drafts = await person.stet(['versions', 'list', '--status', 'draft'])
  await Promise.all(Array.from({ length: 1001 }, (_, number) => write(person, `many/${number}`, 'x')))
  const many = await person.stet(['push', 'many'])
  expect(many).toMatchObject({ code: 7, stderr: expect.stringContaining('1001 changes exceed the limit of 1000') })
  expect(await person.stet(['versions', 'list', '--status', 'draft'])).toMatchObject({ stdout: drafts.stdout })
})

test('run --json: prints one line per event and the result last; --no-stream prints only the result', async () => {
  const person = await personWithProject('json')
  const streamed = await person.stet(['run', 'support/reply', '-p', 'ticket=Hello', '--json', '--id', 'mine'])
  const lines = streamed.stdout.trim().split('\n')
  const events: { event: string; data: Record<string, unknown> }[] = lines.map((line) => JSON.parse(line))
  expect(events[0]).toMatchObject({ event: 'latitude-event', data: { type: 'chain-started' } })
  expect(events.at(-2)?.data['type']).toBe('chain-completed')
  expect(events.at(-1)).toMatchObject({
    event: 'result',
    data: { response: { text: expect.stringContaining('Hello') } },
  })
  const deltas = events.filter(({ data }) => data['type'] === 'text-delta').map(({ data }) => data['textDelta'])
  expect(events.at(-1)?.data['response']).toMatchObject({ text: deltas.join('') })
  const whole = await person.stet(['run', 'support/reply', '-p', 'ticket=Hello', '--json', '--no-stream'])
  expect(JSON.parse(whole.stdout)).toMatchObject({ response: { text: deltas.join('') } })
  const plain = await person.stet(['run', 'support/reply', '--params', '-', '--no-stream'], '{"ticket":"Hello"}')
  expect(plain.stdout).toBe(`${deltas.join('')}\n`)
})

test('every failure has its exit code and one line of JSON', async () => {
  const person = await personWithProject('failures')
  const failure = async (argv: string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await person.stet([...argv, '--json'], '', env)
    expect(stdout).toBe('')
    const { error } = JSON.parse(stderr)
    expect(error.exitCode).toBe(code)
    return error
  }
  const unknown = await failure(['run', 'support/replyy'])
  expect(unknown).toMatchObject({ code: 'not_found', exitCode: 5, errorCode: 'NotFoundError', status: 404 })
  expect(unknown.next).toContain('support/reply')
  expect(unknown.requestId).toBeTruthy()
  const foreign = { STET_API_KEY: 'stet_0000000000000000000000000000001o2Jge' }
  expect(await failure(['whoami'], foreign)).toMatchObject({ code: 'not_allowed', exitCode: 4 })
  expect(await failure(['versions', 'show', 'ffffffff'])).toMatchObject({ code: 'not_found', exitCode: 5 })
  expect(await failure(['status', '-P', '999999'])).toMatchObject({ code: 'usage', exitCode: 2 })
  const away = ['whoami', '--base-url', 'http://127.0.0.1:1', '--no-retry']
  expect(await failure(away)).toMatchObject({ code: 'not_allowed', exitCode: 4 })
  const key = { STET_API_KEY: server.adminKey }
  expect(await failure(away, key)).toMatchObject({ code: 'unreachable', exitCode: 9 })
  await write(person, 'support/reply', '---\nprovider: nobody\nmodel: x\n---\nHello\n')
  await person.stet(['push'])
  expect(await failure(['run', 'support/reply', '--no-stream'])).toMatchObject({ code: 'run_failed', exitCode: 8 })
  const broken = await person.stet(['run', 'support/reply', '--json'])
  expect(broken.code).toBe(8)
  expect(broken.stdout.trim().split('\n').at(-1)).toContain('"type":"chain-error"')
  expect(JSON.parse(broken.stderr).error).toMatchObject({ code: 'run_failed', errorCode: 'missing_provider_error' })
  await write(person, 'support/reply', 'Hello {{ if }}\n')
  expect((await person.stet(['push'])).stderr).toContain('support/reply:1:')
  const invalid = await failure(['run', 'support/reply'])
  expect(invalid).toMatchObject({ code: 'invalid', exitCode: 7, errorCode: 'chain_compile_error' })
  expect(invalid.lines[0]).toMatch(/^support\/reply:1:\d+$/)
  expect(await failure(['publish', '--yes'])).toMatchObject({ code: 'invalid', exitCode: 7 })
})

test('push --publish without a change succeeds and publishes nothing', async () => {
  const person = await personWithProject('nothing new')
  const again = await person.stet(['push', '--publish', '--yes', '--json'])
  expect(again.code).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ version: { status: 'merged' }, changes: [] })
  expect(JSON.parse((await person.stet(['versions', 'list', '--json'])).stdout).versions).toHaveLength(1)
})

test('diff shows what a push would send; pull --theirs undoes it', async () => {
  const person = await personWithProject('diff')
  await write(person, 'support/tone', 'Be short.\nBe kind.\n')
  const diff = await person.stet(['diff', 'support/tone', '--exit-code'])
  expect(diff.code).toBe(3)
  expect(diff.stdout.split('\n').slice(2)).toEqual(['@@ -1,1 +1,2 @@', ' Be short.', '+Be kind.', ''])
  expect((await person.stet(['diff', '--stat'])).stdout).toBe('support/tone  +1\n')
  await write(person, 'support/tone', 'Be very kind.\n')
  expect((await person.stet(['diff', '--word'])).stdout).toContain('\nBe [-short-]{+very kind+}.\n')
  await write(person, 'support/tone', 'Be short.\nBe kind.\n')
  await person.stet(['pull'])
  expect(await read(person, 'support/tone.promptl')).toBe('Be short.\nBe kind.\n')
  const byFile = await person.stet(['diff', 'support/tone.promptl', '--stat', '-C', 'prompts'])
  expect(byFile.stdout).toBe('support/tone  +1\n')
  await person.stet(['pull', 'support/tone', '--theirs'])
  expect(await read(person, 'support/tone.promptl')).toBe('Be short.\n')
})

test('a checkout with CRLF and a byte order mark is in sync, and a push sends neither', async () => {
  const person = await personWithProject('crlf')
  await write(person, 'support/tone', '\uFEFFBe short.\r\n')
  expect(await person.stet(['status', '--check'])).toMatchObject({ code: 0 })
  await write(person, 'support/tone', '\uFEFFBe short.\r\nBe kind.\r\n')
  await person.stet(['push'])
  const file = join(person.folder, 'bundle.json')
  await person.stet(['pull', '--bundle', file])
  expect(JSON.parse(await readFile(file, 'utf8'))['support/tone']).toBe('Be short.\nBe kind.\n')
})

test('versions: list, create, use, show', async () => {
  const person = await personWithProject('versions')
  const created = await person.stet(['versions', 'create', 'tone pass'])
  const uuid = created.stdout.trim()
  const listed = await person.stet(['versions', 'list', '--json'])
  expect(JSON.parse(listed.stdout).versions.map((one: { title: string }) => one.title)).toContain('tone pass')
  expect(await person.stet(['versions', 'use', uuid.slice(0, 8)])).toMatchObject({ code: 0 })
  await write(person, 'support/tone', 'Be kind.\n')
  expect(await person.stet(['versions', 'use', 'live'])).toMatchObject({ code: 6 })
  const pushed = await person.stet(['push', '--json'])
  expect(JSON.parse(pushed.stdout)).toMatchObject({ version: { uuid }, isNewDraft: false })
  expect((await person.stet(['versions', 'show', uuid])).stdout).toContain('modified  support/tone')
})

test('a reader that closes the pipe early ends the program silently', async () => {
  const person = await personWithProject('pipe')
  const child = person.spawn(['run', 'support/reply', '-p', 'ticket=x', '--json'])
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.end()
  child.stdout.once('data', () => child.stdout.destroy())
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
