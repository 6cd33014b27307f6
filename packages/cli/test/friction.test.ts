import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairOf, succeed, write } from './support/pair.ts'
import { loggedIn } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const front = '---\nprovider: demo\nmodel: demo\nparameters:\n  name: { type: text, required: true }\n---\n'

test('push -m renames an open draft; a draft without git is named after the key', async () => {
  const [ana, ben] = await pairOf('names')
  await write(ana, 'a', 'a of ana\n')
  const opened = JSON.parse(await succeed(ana, 'push', '--json'))
  expect(opened.version.name).toBe('draft of admin')
  await write(ana, 'b', 'b of ana\n')
  const named = await ana.stet(['push', '-m', 'friendlier tone'])
  expect(named.stderr).toContain('The draft "draft of admin" is now "friendlier tone"')
  await succeed(ana, 'pull')
  await succeed(ana, 'publish', '--yes')
  const { versions } = JSON.parse(await succeed(ana, 'versions', 'list', '--json'))
  expect(versions[0]).toMatchObject({ title: 'friendlier tone', isLive: true })

  await write(ana, 'c', 'c of ana\n')
  await succeed(ana, 'push', '--publish', '--yes')
  const pulled = await ben.stet(['pull'])
  expect(pulled.stderr).toMatch(/↓ M a\n.*↓ M b\n.*↓ A c\n/s)
  expect(await succeed(ben, 'versions', 'list')).toContain('\tadmin\t')
})

test("prompts list shows a version's prompts, doctor -p runs a prompt with parameters", async () => {
  const ana = await broken()
  const lines = (await succeed(ana, 'prompts', 'list')).trim().split('\n')
  expect(lines.map((line) => line.split('\t').slice(0, 4))).toEqual([
    ['bad', '-', '-', '1 error'],
    ['hello', 'demo/demo', 'name', 'compiles'],
  ])
  expect(await succeed(ana, 'prompts', 'list', 'hello', '--local')).toBe('hello\n')
  await rm(join(ana.folder, 'prompts', 'bad.promptl'))
  const live = await ana.stet(['doctor', '--prompt', 'hello', '-p', 'name=Ana'])
  expect(live).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✔ stream/m) })
  const missing = await ana.stet(['doctor', '--prompt', 'hello'])
  expect(missing.stdout).toMatch(/^✖ stream/m)
  expect(await ana.stet(['doctor', '-p', 'name=Ana'])).toMatchObject({ code: 2 })
})

/** The folder follows a draft with a prompt that does not compile. */
async function broken(): Promise<Person> {
  const person = await loggedIn()
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'hello.promptl'), `${front}Hi {{ name }}\n`)
  await writeFile(join(person.folder, 'prompts', 'bad.promptl'), '{{ if x }}\n')
  await succeed(person, 'init', '--create', 'broken')
  await succeed(person, 'push')
  return person
}

test('help has groups, and a wrong command line fails like everything else', async () => {
  const cwd = await temporaryFolder()
  const { stdout } = await runInProcess(['--help'], { cwd })
  for (const group of ['Files and versions:', 'Runs:', 'Code and CI:', 'Account and server:', 'This program:']) {
    expect(stdout).toContain(`\n${group}\n`)
  }
  expect(stdout).not.toContain('\nCommands:\n')
  const wrong = await runInProcess(['publsh'], { cwd })
  expect(wrong).toEqual({ code: 2, stdout: '', stderr: "✖ Unknown command 'publsh'\n  hint: did you mean publish?\n" })
})

test('init in an empty folder writes a prompt and a .gitignore; its last line works, and push suggests a run', async () => {
  const ana = await loggedIn()
  await writeFile(join(ana.folder, '.gitignore'), 'dist\n.stet/')
  const { stderr } = await ana.stet(['init', '--create', 'first'])
  expect(stderr).toContain('Wrote stet.config.json, stet.lock.json, prompts/hello.promptl, .gitignore')
  expect(await readFile(join(ana.folder, '.gitignore'), 'utf8')).toBe('dist\n.stet/\n*.key\n')
  const last = stderr.trim().split('\n').at(-1) ?? ''
  expect(last).toBe('stet push && stet run hello -p name=Ana')
  const outputs: string[] = []
  for (const command of last.split(' && ')) {
    const { code, stdout, stderr: said } = await ana.stet(command.split(' ').slice(1))
    expect(code, said).toBe(0)
    outputs.push(said + stdout)
  }
  expect(outputs[0]).toContain('  Try it:   stet run hello -p name=…\n')
  expect(outputs[1]).toContain('My name is Ana.')
})

test('with npx, the commands that init and push suggest start with npx', async () => {
  const ana = await loggedIn()
  const npx = { npm_command: 'exec' }
  const init = await ana.stet(['init', '--create', 'npx'], '', npx)
  expect(init.stderr.trim().split('\n').at(-1)).toBe('npx stet push && npx stet run hello -p name=Ana')
  const { stderr } = await ana.stet(['push'], '', npx)
  expect(stderr).toContain('  Try it:   npx stet run hello -p name=…\n  Publish:  npx stet publish\n')
})

test('init writes no example beside files of the user, or beside prompts of the project', async () => {
  const ana = await loggedIn()
  await writeFile(join(ana.folder, 'README.md'), 'mine\n')
  expect((await ana.stet(['init', '--create', 'mine'])).stderr).toMatch(/Wrote stet.config.json, stet.lock.json\n/)
  const [, ben] = await pairOf('theirs')
  expect((await readdir(ben.folder)).sort()).not.toContain('.gitignore')
  const bare = await loggedIn()
  expect((await bare.stet(['init', '--create', 'bare', '--no-pull'])).stderr).not.toContain('hello')
})

test('push suggests a run with the parameters that it needs, also of odd names', async () => {
  const ana = await loggedIn()
  await write(
    ana,
    'odd',
    '---\nprovider: demo\nmodel: demo\nparameters:\n  größe: { type: text, required: true }\n  tone: { type: text }\n---\n{{ größe }} {{ tone }} {{ free }}\n',
  )
  await succeed(ana, 'init', '--create', 'suggested')
  const { stderr } = await ana.stet(['push'])
  expect(stderr).toContain('  Try it:   stet run odd -p größe=…\n')
  expect(await ana.stet(['run', 'odd', '-p', 'größe=XL'])).toMatchObject({ code: 0 })
  await write(
    ana,
    '-dash',
    '---\nprovider: demo\nmodel: demo\nparameters:\n  tone: { type: text, required: true }\n---\n{{ tone }}\n',
  )
  expect((await ana.stet(['push'])).stderr).toContain('  Try it:   stet run -p tone=… -- -dash\n')
  expect(await ana.stet(['run', '-p', 'tone=calm', '--', '-dash'])).toMatchObject({ code: 0 })
})
