import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Stet } from '@stet/sdk'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { server } from './support/shared-server.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const paths = ['a', 'b']

/** Edits of the first and the last line merge. */
const firstText = (path: string): string => `${path} one\nkept\nkept too\n${path} two\n`

/** Remembers which lines every file has had. Only those may be overwritten. */
class Colleague {
  readonly #seen = new Map<string, Set<string>>()
  readonly #prompts: string
  readonly #run: (...argv: string[]) => Promise<{ code: number; stderr: string }>

  constructor(folder: string, projectId: number) {
    this.#prompts = join(folder, 'prompts')
    const env = {
      STET_API_KEY: server.adminKey,
      STET_BASE_URL: server.address,
      STET_PROJECT_ID: String(projectId),
      XDG_CONFIG_HOME: join(folder, '.config'),
    }
    this.#run = (...argv) => runInProcess(argv, { cwd: folder, env })
  }

  static async join(projectId: number, versionUuid: string): Promise<Colleague> {
    const folder = await temporaryFolder()
    await mkdir(join(folder, '.git'))
    const colleague = new Colleague(folder, projectId)
    const { code, stderr } = await colleague.#run('init', '-V', versionUuid)
    if (code !== 0) throw new Error(stderr)
    await colleague.files()
    return colleague
  }

  async files(): Promise<Record<string, string>> {
    const names = await readdir(this.#prompts)
    const texts = await Promise.all(names.map((name) => readFile(join(this.#prompts, name), 'utf8')))
    for (const [index, name] of names.entries()) this.#see(name, texts[index] ?? '')
    return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
  }

  /** Old lines stay: every edit writes a new one, so none comes back unless somebody reverts a change. */
  seenIn = (path: string): ReadonlySet<string> => this.#seen.get(`${path}.promptl`) ?? new Set()

  #see(name: string, text: string): void {
    this.#seen.set(name, new Set([...(this.#seen.get(name) ?? []), ...text.split('\n')]))
  }

  async edit(path: string, at: number, line: string): Promise<void> {
    const file = join(this.#prompts, `${path}.promptl`)
    const lines = (await readFile(file, 'utf8').catch(() => firstText(path))).split('\n')
    lines[at] = line
    await writeFile(file, lines.join('\n'))
    this.#see(`${path}.promptl`, lines.join('\n'))
  }

  /** Keeps both sides of each conflict. */
  async settle(): Promise<void> {
    for (const [name, text] of Object.entries(await this.files())) {
      await writeFile(join(this.#prompts, name), text.replaceAll(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, ''))
    }
  }

  remove = (path: string): Promise<void> => rm(join(this.#prompts, `${path}.promptl`), { force: true })
  pull = () => this.#run('pull')
  push = (...flags: string[]) => this.#run('push', '--delete', ...flags)
}

const deeds = ['edit', 'remove', 'pull', 'push', 'send', 'send', 'settle'] as const

const step = fc.record({
  who: fc.constantFrom(0, 1),
  what: fc.constantFrom(...deeds),
  path: fc.constantFrom(...paths),
  at: fc.constantFrom(0, 3),
})

// Five random histories seldom merge. In these, a pull or a push does, of edits of different lines and of the same line.
const merging = [3, 0].flatMap((at) => {
  const own = (what: (typeof deeds)[number]) => ({ who: 0, what, path: 'a', at: 0 })
  const edits = [own('edit'), { ...own('send'), who: 1, at }]
  return [
    [...edits, own('pull'), own('settle'), own('push')],
    [...edits, own('push'), own('pull')],
  ]
})

let count = 0

const histories = process.env['STET_TEST_LONG'] === '1' ? 500 : 5

test.each([
  ['live', ['--publish', '--yes']],
  ['one draft', []],
])(
  'two people in any order, in %s: nobody overwrites or deletes what they have not seen, and no edit is lost to a pull',
  async (place, flags) => {
    const account = new Stet({ apiKey: server.adminKey, baseUrl: server.address })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 7 }), async (steps) => {
        count += 1
        const published = new Set<string>()
        const { project, version } = await account.projects.create(`walk ${count}`)
        const client = account.project(project.id)
        const first = paths.map((path) => ({ path, content: firstText(path), status: 'added' as const }))
        await client.versions.push(version.uuid, first)
        await client.versions.publish(version.uuid)
        const versionUuid = place === 'live' ? 'live' : (await client.versions.create(place)).uuid
        const join = () => Colleague.join(project.id, versionUuid)
        const people = await Promise.all([join(), join()])
        const live = async (): Promise<Map<string, string>> =>
          new Map((await client.prompts.list({ versionUuid })).map(({ path, content }) => [path, content]))

        for (const [index, { who, what, path, at }] of steps.entries()) {
          const person = people[who] ?? people[0]
          const filesBefore = await person.files()
          if (what === 'edit' || what === 'send') await person.edit(path, at, `${path} by ${who} in step ${index}`)
          if (what === 'edit') continue
          if (what === 'remove') await person.remove(path)
          else if (what === 'settle') await person.settle()
          else if (what === 'pull') {
            const { code } = await person.pull()
            const after = await person.files()
            const isMarked = Object.values(after).some((text) => text.includes('<<<<<<<'))
            if (isMarked) expect(code).toBe(6)
            expect([0, 6]).toContain(code)
            for (const [name, text] of Object.entries(filesBefore)) {
              // A unique line must still exist unless the server has had it.
              for (const line of text.split('\n').filter((one) => one.includes(` by ${who} `))) {
                if (!published.has(line)) expect(after[name]?.split('\n')).toContain(line)
              }
            }
          } else {
            const [sent, liveBefore] = [await person.files(), await live()]
            const { code } = await person.push(...flags)
            const liveAfter = await live()
            const linesAfter = (name: string) => liveAfter.get(name)?.split('\n') ?? []
            if (code !== 0) expect([liveAfter, await person.files()]).toEqual([liveBefore, sent])
            for (const [name, text] of liveBefore) {
              const lost = text.split('\n').filter((line) => !linesAfter(name).includes(line))
              expect([...person.seenIn(name)]).toEqual(expect.arrayContaining(lost))
            }
            for (const [file, text] of Object.entries(code === 0 ? sent : {})) {
              const own = text.split('\n').filter((line) => line.includes(` by ${who} `) && !published.has(line))
              expect(linesAfter(file.replace('.promptl', ''))).toEqual(expect.arrayContaining(own))
            }
            for (const text of liveAfter.values()) for (const line of text.split('\n')) published.add(line)
          }
        }
      }),
      { examples: merging.map((steps) => [steps]), numRuns: merging.length + histories, seed: 20_261_121 },
    )
  },
  // One history takes seconds on a busy machine.
  60_000 + histories * 30_000,
)
