import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loggedIn } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

async function write(person: Person, name: string, text: string): Promise<void> {
  await mkdir(dirname(join(person.folder, name)), { recursive: true })
  await writeFile(join(person.folder, name), text)
}

test('check --local: prints every error with position and frame and exits 7, without a server or key', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  await write(person, 'prompts/fine.promptl', 'Hello {{ name }}.\n')
  await write(person, 'prompts/uses.promptl', '<prompt path="fine" name={{ name }} />\n')
  expect(await person.stet(['check', '--local'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '✔ 2 files compiled · 0 errors\n',
  })
  await write(person, 'prompts/a/broken.promptl', 'One line.\n<user>{{ nope( }}</user>\n')
  await write(person, 'prompts/lost.promptl', 'See <prompt path="nowhere" />.\n')
  await write(person, 'prompts/schema.promptl', '---\nschema: { properties: { a: { required: 5 } } }\n---\nHi\n')
  const found = await person.stet(['check', '--local'])
  expect(found.code).toBe(7)
  expect(found.stdout).toContain('prompts/a/broken.promptl:2:')
  expect(found.stdout).toContain('  2 | <user>{{ nope( }}</user>\n')
  expect(found.stdout).toContain(
    "prompts/lost.promptl:1:5 error The referenced document 'nowhere' does not exist (reference-not-found)",
  )
  expect(found.stdout).toContain(
    'prompts/schema.promptl:2:1 error The schema cannot be applied: a keyword has a value of the wrong type ' +
      '(at /properties/a) (invalid-schema)',
  )
  expect(found.stderr).toBe('✖ 5 files compiled · 3 errors\n')
})

test('check --local: what a run would refuse is an error, and a nearly known key is a warning', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  await write(person, 'prompts/a.promptl', '---\ntemprature: 1\n---\nHi\n')
  const warned = await person.stet(['check', '--local'])
  expect(warned).toMatchObject({ code: 0, stderr: '✔ 1 file compiled · 0 errors · 1 warning\n' })
  expect(warned.stdout).toMatch(/^prompts\/a\.promptl:2:1 warning Did you mean `temperature`\?.+ \(unknown-key\)\n/)
  await write(person, 'prompts/b.promptl', '---\nmaxSteps: 151\n---\nHi\n')
  const refused = await person.stet(['check', '--local'])
  expect(refused).toMatchObject({ code: 7, stderr: '✖ 2 files compiled · 1 error · 1 warning\n' })
  expect(refused.stdout).toContain(
    'prompts/b.promptl:2:1 error `maxSteps` must be a whole number from 1 to 150 (invalid-setting)\n' +
      '  1 | ---\n  2 | maxSteps: 151\n    | ^\n',
  )
})

test('check --local: annotations for GitHub Actions on standard error, JSON on standard output', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  await write(person, 'app,x/prompts/b.promptl', 'A\n{{ nope( }}\n')
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: person.folder }
  const { code, stdout, stderr } = await person.stet(['check', '--local', '--json', '-C', 'app,x'], '', env)
  expect(code).toBe(7)
  const { problems } = JSON.parse(stdout)
  expect(problems).toMatchObject([{ path: 'b', line: 2, severity: 'error', frame: expect.stringContaining('^') }])
  expect(stderr).toMatch(/^::error file=app%2Cx\/prompts\/b\.promptl,line=2,col=\d+,title=[\w-]+::.+\n$/)
})

test('check: exits 3 for differences, 7 for errors, and checks types if configured', async () => {
  const person = await loggedIn()
  await write(person, 'prompts/reply.promptl', 'Answer {{ ticket }}.\n')
  expect(await person.stet(['init', '--create', 'checked'])).toMatchObject({ code: 0 })
  const differing = await person.stet(['check'])
  expect(differing).toMatchObject({ code: 3, stdout: 'differs reply (local-new)\n' })
  expect(differing.stderr).toContain('✖ 1 file compiled · 0 errors · 1 difference\n')
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  expect(await person.stet(['check'])).toMatchObject({ code: 0, stdout: '' })
  const file = join(person.folder, 'stet.config.json')
  const config = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...config, types: { out: 'src/prompts.d.ts' } }))
  expect(await person.stet(['check'])).toMatchObject({ code: 3, stdout: 'out of date src/prompts.d.ts\n' })
  expect(await person.stet(['types', 'generate'])).toMatchObject({ code: 0 })
  const fine = await person.stet(['check', '--json'])
  expect(fine.code).toBe(0)
  expect(JSON.parse(fine.stdout)).toEqual({
    checked: 1,
    problems: [],
    differences: [],
    refused: [],
    types: { file: 'src/prompts.d.ts', isCurrent: true },
  })
  await write(person, 'prompts/reply.promptl', 'Answer {{ ticket }\n')
  const broken = await person.stet(['check'])
  expect(broken.code).toBe(7)
  expect(broken.stdout).toMatch(/^prompts\/reply\.promptl:\d+:\d+ error [\s\S]*differs reply \(local-edit\)\n$/)
  await writeFile(file, JSON.stringify({ ...config, types: { outt: 'x' } }))
  const mistyped = await person.stet(['check'])
  expect(mistyped).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "out"?') })
})

test('in GitHub Actions every command that prints prompt errors also annotates their lines', async () => {
  const person = await loggedIn()
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: person.folder }
  expect(await person.stet(['init', '--create', 'annotated'])).toMatchObject({ code: 0 })
  await write(person, 'prompts/open.promptl', 'Hi\n<user>{{ if x }}a</user>\n')
  const annotation =
    '::error file=prompts/open.promptl,line=2,col=7,title=unclosed-block::' +
    'Block was left open: {{ endif }} is missing before the tag around it ends\n'
  for (const [argv, code] of [
    [['push'], 0],
    [['publish', '--yes'], 7],
    [['types', 'generate', '--local'], 7],
  ] as const) {
    const ended = await person.stet(argv, '', env)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr.split(annotation)).toHaveLength(2)
    expect((await person.stet(argv)).stderr).not.toContain('::error')
  }
})

test('check finds a broken prompt that exists only on the server', async () => {
  const person = await loggedIn()
  await write(person, 'prompts/half.promptl', 'Broken {{ if x }}\n')
  expect(await person.stet(['init', '--create', 'half'])).toMatchObject({ code: 0 })
  expect(await person.stet(['push'])).toMatchObject({ code: 0 })
  const other = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))
  expect(await other.stet(['init', '--project', String(projectId), '--no-pull'])).toMatchObject({ code: 0 })
  const found = await other.stet(['check', '--allow-empty', '--json'])
  expect(found.code).toBe(7)
  expect(JSON.parse(found.stdout)).toMatchObject({
    problems: [{ path: 'half', file: null, severity: 'error' }],
    differences: [{ path: 'half', state: 'remote-new' }],
  })
})
