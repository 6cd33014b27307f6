/** Two people with a checkout each, for tests of random histories. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { account, server } from './shared-server.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { type Ended, runInProcess } from './test-io.ts'

/** Each place of a history, with the flags that push to it. */
export const places: [place: string, flags: string[]][] = [
  ['live', ['--publish', '--yes']],
  ['one draft', []],
]

/** Every line is unique. Edits of the first and the last line merge. */
const firstText = (path: string): string => `${path} one\n${path} kept\n${path} kept too\n${path} two\n`

export const linesOf = (texts: Iterable<string>): string[] => [...texts].flatMap((text) => text.split('\n'))

export class Colleague {
  /** Every line that a file has had. Only those may be overwritten. */
  readonly seen = new Set<string>()
  readonly #prompts: string
  readonly run: (...argv: string[]) => Promise<Ended>

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
    await colleague.files()
    return colleague
  }

  fileOf = (path: string): string => join(this.#prompts, `${path}.promptl`)

  /** Returns the texts by path. */
  async files(): Promise<Map<string, string>> {
    const paths = (await readdir(this.#prompts)).map((name) => name.replace('.promptl', '')).sort()
    const texts = await Promise.all(paths.map((path) => readFile(this.fileOf(path), 'utf8')))
    for (const line of linesOf(texts)) this.seen.add(line)
    return new Map(paths.map((path, index) => [path, texts[index] ?? '']))
  }

  async edit(path: string, at: number, line: string): Promise<void> {
    const lines = (await readFile(this.fileOf(path), 'utf8').catch(() => firstText(path))).split('\n')
    lines[at] = line
    await writeFile(this.fileOf(path), lines.join('\n'))
    await this.files()
  }

  /** Keeps both sides of each conflict. */
  async settle(): Promise<void> {
    for (const [path, text] of await this.files()) {
      await writeFile(this.fileOf(path), text.replaceAll(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, ''))
    }
  }
}

let count = 0

/** Creates a project with the published prompts `a` and `b`, and two people who work on `place`. */
export async function startHistory(place: string) {
  count += 1
  const { project, version } = await account.projects.create(`history ${process.pid}-${count}`)
  const client = account.project(project.id)
  const first = ['a', 'b'].map((path) => ({ path, content: firstText(path), status: 'added' as const }))
  await client.versions.push(version.uuid, first)
  await client.versions.publish(version.uuid)
  const versionUuid = place === 'live' ? 'live' : (await client.versions.create(place)).uuid
  const enter = () => Colleague.join(project.id, versionUuid)
  /** Returns the server's texts by path. */
  const served = async (): Promise<Map<string, string>> => {
    const prompts = await client.prompts.list({ versionUuid })
    expect(new Set(prompts.map(({ documentUuid }) => documentUuid)).size).toBe(prompts.length)
    return new Map(prompts.map(({ path, content }) => [path, content]))
  }
  return { people: await Promise.all([enter(), enter()]), served }
}

export const isLong = process.env['STET_TEST_LONG'] === '1'

/** One history takes seconds on a busy machine. */
export const timeFor = (histories: number): number => 60_000 + histories * 30_000
