import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { account, server } from './support/shared-server.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const firstText = (path: string): string => `${path} one\n${path} kept\n${path} kept too\n${path} two\n`

class Colleague {
  readonly seen = new Set<string>()
  readonly #prompts: string
  readonly run: (...argv: string[]) => Promise<{ code: number; stderr: string }>

  constructor(folder: string, projectId: number) {
    this.#prompts = join(folder, 'prompts')
    const env = {
      STET_API_KEY: server.adminKey,
      STET_BASE_URL: server.address,
      STET_PROJECT_ID: String(projectId),
      XDG_CONFIG_HOME: join(folder, '.config'),
      XDG_CACHE_HOME: join(folder, '.cache'),
    }
    this.run = (...argv) => runInProcess(argv, { cwd: folder, env })
  }

  static async join(projectId: number, versionUuid: string): Promise<Colleague> {
    const folder = await temporaryFolder()
    await mkdir(join(folder, '.git'))
    const colleague = new Colleague(folder, projectId)
    expect(await colleague.run('init', '-V', versionUuid)).toMatchObject({ code: 0 })
    await colleague.lines()
    return colleague
  }

  #fileOf = (path: string): string => join(this.#prompts, `${path}.promptl`)

  async paths(): Promise<string[]> {
    return (await readdir(this.#prompts)).map((name) => name.replace('.promptl', '')).sort()
  }

  async lines(): Promise<string[]> {
    const texts = await Promise.all((await this.paths()).map((path) => readFile(this.#fileOf(path), 'utf8')))
    const lines = texts.flatMap((text) => text.split('\n'))
    for (const line of lines) this.seen.add(line)
    return lines
  }

  async edit(path: string, at: number, line: string): Promise<void> {
    const lines = (await readFile(this.#fileOf(path), 'utf8')).split('\n')
    lines[at] = line
    await writeFile(this.#fileOf(path), lines.join('\n'))
    await this.lines()
  }

  rename = (from: string, to: string): Promise<void> => rename(this.#fileOf(from), this.#fileOf(to))

  /** Keeps both sides of each conflict. */
  async settle(): Promise<void> {
    for (const path of await this.paths()) {
      const text = await readFile(this.#fileOf(path), 'utf8')
      await writeFile(this.#fileOf(path), text.replaceAll(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, ''))
    }
  }
}

const step = fc.record({
  who: fc.constantFrom(0, 1),
  what: fc.constantFrom('edit', 'edit', 'move', 'rename', 'swap', 'pull', 'push', 'push', 'settle'),
  which: fc.nat(5),
  to: fc.constantFrom('a', 'b', 'c', 'd'),
  at: fc.constantFrom(0, 3),
})

// Few random histories have an edit of a prompt that the other person moves. In these, the edit meets the move in a push
// or in a pull.
const meeting = (['move', 'rename'] as const).flatMap((way) => {
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
  const of = (who: 0 | 1, what: Step['what']): Step => ({ who, what, which: 0, to: 'c', at: 0 })
  const moved = [of(0, way), of(0, 'push'), of(1, 'edit')]
  const swapped = [of(0, 'swap'), of(0, 'push'), of(1, 'edit')]
  const end = [of(1, 'pull'), of(1, 'push'), of(0, 'pull')]
  return [
    [...moved, of(1, 'push'), ...end],
    [...swapped, of(1, 'push'), ...end],
    [of(0, 'edit'), ...moved, ...end],
  ]
})

let count = 0

const histories = process.env['STET_TEST_LONG'] === '1' ? 200 : 5

test.each([
  ['live', ['--publish', '--yes']],
  ['one draft', []],
])(
  'two people who move and edit in any order, in %s: no line is lost that its author or the other one has not seen',
  async (place, flags) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
        count += 1
        const { project, version } = await account.projects.create(`moving ${process.pid}-${count}`)
        const client = account.project(project.id)
        const first = ['a', 'b'].map((path) => ({ path, content: firstText(path), status: 'added' as const }))
        await client.versions.push(version.uuid, first)
        await client.versions.publish(version.uuid)
        const versionUuid = place === 'live' ? 'live' : (await client.versions.create(place)).uuid
        const people = [await Colleague.join(project.id, versionUuid), await Colleague.join(project.id, versionUuid)]
        const served = async () => {
          const prompts = await client.prompts.list({ versionUuid })
          expect(new Set(prompts.map(({ documentUuid }) => documentUuid)).size).toBe(prompts.length)
          return prompts.flatMap(({ content }) => content.split('\n'))
        }
        const published = new Set<string>()
        for (const [index, { who, what, which, to, at }] of steps.entries()) {
          const [person] = people.slice(who)
          if (!person) continue
          const paths = await person.paths()
          const [path = ''] = paths.slice(which % Math.max(paths.length, 1))
          const own = (lines: string[]) => lines.filter((line) => line.includes(` by ${who} `) && !published.has(line))
          const before = await person.lines()
          if (what === 'edit') await person.edit(path, at, `line by ${who} in step ${index}`)
          else if (what === 'move') await person.run('mv', path, to)
          else if (what === 'rename') {
            if (!paths.includes(to)) await person.rename(path, to)
          } else if (what === 'swap') {
            const [other = path] = paths.filter((one) => one !== path)
            await person.rename(path, 'aside')
            if (other !== path) await person.rename(other, path)
            await person.rename('aside', other)
          } else if (what === 'settle') await person.settle()
          else if (what === 'pull') {
            const { code, stderr } = await person.run('pull')
            expect([0, 1, 6], stderr).toContain(code)
            expect(await person.lines()).toEqual(expect.arrayContaining(own(before)))
          } else {
            const there = await served()
            const { code, stderr } = await person.run('push', ...flags)
            expect([0, 1, 6], stderr).toContain(code)
            const after = await served()
            const lost = there.filter((line) => !after.includes(line))
            expect([...person.seen]).toEqual(expect.arrayContaining(lost))
            if (code === 0) expect(after).toEqual(expect.arrayContaining(own(before)))
            for (const line of after) published.add(line)
          }
        }
      }),
      {
        examples: meeting.map((steps): [typeof steps] => [steps]),
        numRuns: meeting.length + histories,
        seed: 20_261_128,
      },
    )
  },
  // One history takes seconds on a busy machine.
  60_000 + histories * 30_000,
)
